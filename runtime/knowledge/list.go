package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// maxList is the number of characters of entries in a list; it counts the others.
	maxList = 100_000
	// worthKnowing is the number of tokens from which a list shows the length of a subject.
	worthKnowing = 10_000
)

// list returns the subjects that a topic offers.
func (t *topic) list(ctx context.Context, injected bool, r *remarks) (string, error) {
	var learned, available []*subjects.Subject
	for _, s := range t.tree.Subjects {
		switch {
		case s.Learned:
			// A hidden subject that the configuration learns by its name is no secret.
			learned = append(learned, s)
		case !s.Hidden && !s.Disabled:
			available = append(available, s)
		}
	}
	if err := t.tree.Look(ctx, slices.Concat(learned, available)); err != nil {
		return "", err
	}
	left := maxList
	parts := []string{"# Topic: " + title(t.Topic)}
	add := func(some ...string) { parts = append(parts, some...) }
	if description := paragraphs(t.Description); description != "" {
		add(description)
	}
	recommended := len(learned) > 0 && !injected
	if recommended {
		add("## Recommended (learn these first):", entries(learned, &left))
	}
	switch {
	case len(available) > 0:
		add("## Available subjects:", entries(available, &left))
	case !recommended:
		add("## Available subjects:", "(there are no subjects to list)")
	}
	if len(available) > 0 || recommended {
		add("Use the `learn` tool with the `subjects` argument to learn specific subjects.")
	}
	if len(learned) > 0 && injected {
		add("## Already learned (in system prompt):", entries(learned, &left))
	}
	r.incomplete(t.tree.Warnings)
	return r.appendTo(strings.Join(parts, "\n\n")), nil
}

// incomplete adds remarks on the files that the scan of a directory left out.
func (r *remarks) incomplete(warnings []subjects.Warning) {
	others := 0
	for _, w := range warnings {
		if w.Path == "." {
			r.lines = append(r.lines, "(note: the topic's directory "+oneLine(w.Reason)+")")
			continue
		}
		others++
	}
	if others > 0 {
		r.lines = append(r.lines, fmt.Sprintf("(note: links that lead elsewhere, special files and unreadable directories are not offered, here %s; `convtools knowledge check` names them)", text.Number(others)))
	}
}

// entries lists subjects in at most *left characters, and counts the others.
func entries(all []*subjects.Subject, left *int) string {
	var lines []string
	for n, s := range all {
		line := entry(s)
		if *left -= utf8.RuneCountInString(line) + 1; *left < 0 {
			lines = append(lines, counted(all[n:]))
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// counted counts subjects, and names patterns for their folders.
func counted(all []*subjects.Subject) string {
	var patterns []string
	for _, s := range all {
		pattern := coerce.JSON("*")
		if folder, _, nested := strings.Cut(s.PathSlug, "/"); nested {
			pattern = coerce.JSON(config.QuotePattern(folder) + "/**")
		}
		if !slices.Contains(patterns[max(0, len(patterns)-2):], pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return fmt.Sprintf("- … %s more: use subjects=%s", text.Number(len(all)), listed(patterns))
}

func entry(s *subjects.Subject) string {
	line := "- " + text.Line(s.Name)
	if s.Description != "" {
		line += ": " + s.Description
	}
	switch {
	case s.Problem != "":
		line += " (cannot be read)"
	case s.TooLarge:
		line += fmt.Sprintf(" (%.1f MB: over the limit of %s, cannot be loaded)", float64(s.Size)/1e6, largest)
	case s.Binary:
		line += " (binary, cannot be loaded)"
	case s.Tokens >= worthKnowing:
		line += " (about " + text.Number((s.Tokens+500)/1000*1000) + " tokens)"
	}
	return line
}
