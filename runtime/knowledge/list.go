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
	maxList   = 100_000 // characters of the entries in a list, which counts the subjects without an entry
	minTokens = 10_000  // of a subject whose number of tokens a list shows
)

// list returns the answer that lists the subjects of a topic, with the remarks r after the list. Learned subjects are
// first, as a recommendation; if they are injected into the prompt, they are last. The error is that of the context.
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
	room := maxList
	parts := []string{"# Topic: " + title(t.Topic)}
	add := func(paragraphs ...string) { parts = append(parts, paragraphs...) }
	if description := paragraphs(t.Description); description != "" {
		add(description)
	}
	isRecommended := len(learned) > 0 && !injected
	if isRecommended {
		add("## Recommended (learn these first):", entries(learned, &room))
	}
	switch {
	case len(available) > 0:
		add("## Available subjects:", entries(available, &room))
	case !isRecommended:
		add("## Available subjects:", "(there are no subjects to list)")
	}
	if len(available) > 0 || isRecommended {
		add("Use the `learn` tool with the `subjects` argument to learn specific subjects.")
	}
	if len(learned) > 0 && injected {
		add("## Already learned (in system prompt):", entries(learned, &room))
	}
	r.addWarnings(t.tree.Warnings)
	return r.appendTo(strings.Join(parts, "\n\n")), nil
}

// addWarnings adds a line for a warning about the topic's directory itself, and one with the number of other warnings.
func (r *remarks) addWarnings(warnings []subjects.Warning) {
	others := len(warnings)
	for _, w := range warnings {
		if w.Path == subjects.TopicDir {
			r.lines = append(r.lines, "(note: the topic's directory "+oneLine(w.Reason)+")")
			others--
		}
	}
	if others > 0 {
		r.lines = append(r.lines, fmt.Sprintf("(note: links that lead elsewhere, special files and unreadable directories are not offered, here %s; `convtools knowledge check` names them)", text.Number(others)))
	}
}

// entries returns a line for each subject, as far as *room characters allow, and a line for the number of the others.
// It takes the characters of the lines from *room.
func entries(list []*subjects.Subject, room *int) string {
	var lines []string
	for n, s := range list {
		line := entry(s)
		*room -= utf8.RuneCountInString(line + "\n")
		if *room < 0 {
			return strings.Join(append(lines, remainder(list[n:])), "\n")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// remainder returns the line for the subjects that have no line: their number, and a pattern for each of their folders.
func remainder(list []*subjects.Subject) string {
	var patterns []string
	for _, s := range list {
		pattern := coerce.JSON("*")
		if folder, _, inFolder := strings.Cut(s.PathSlug, "/"); inFolder {
			pattern = coerce.JSON(config.QuotePattern(folder) + "/**")
		}
		// list is sorted, so that equal patterns are mostly close together. A pattern that is there twice does no harm.
		if !slices.Contains(patterns[max(0, len(patterns)-2):], pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return fmt.Sprintf("- … %s more: use subjects=%s", text.Number(len(list)), joinNames(patterns))
}

// entry returns the line for a subject: its name, its description, and why it cannot be loaded or how long it is.
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
	case s.Tokens >= minTokens:
		rounded := (s.Tokens + 500) / 1000 * 1000 // to thousands
		line += " (about " + text.Number(rounded) + " tokens)"
	}
	return line
}
