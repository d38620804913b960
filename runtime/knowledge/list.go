package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// maxList is how many characters of entries a list has before it counts.
	maxList = 100_000
	// maxFolders is how many folders are named where subjects are counted.
	maxFolders = 100
	// worthKnowing is from how many tokens on a list says how long a subject is.
	worthKnowing = 10_000
)

// list answers with what a topic has to offer.
func (t *topic) list(ctx context.Context, injected bool, r *remarks) (string, error) {
	var learned, available []*subjects.Subject
	for i := range t.tree.Subjects {
		// A hidden subject that was learned by its name is no secret: who wrote the
		// configuration wants it known.
		if s := &t.tree.Subjects[i]; s.Learned {
			learned = append(learned, s)
		}
	}
	for _, s := range t.set.Visible {
		if !s.Learned {
			available = append(available, s)
		}
	}
	if err := t.tree.Look(ctx, slices.Concat(learned, available)); err != nil {
		return "", err
	}
	left := maxList
	parts := []string{"# Topic: " + title(t.Topic), paragraphs(t.Description)}
	if len(learned) > 0 && !injected {
		parts = append(parts, "## Recommended (learn these first):", entries(learned, &left))
	}
	switch {
	case len(available) > 0:
		parts = append(parts, "## Available subjects:", entries(available, &left))
	case len(learned) == 0 || injected:
		parts = append(parts, "## Available subjects:", "(there are no subjects to list)")
	}
	if len(available) > 0 || len(learned) > 0 && !injected {
		parts = append(parts, "Use the `learn` tool with the `subjects` argument to learn specific subjects.")
	}
	if len(learned) > 0 && injected {
		parts = append(parts, "## Already learned (in system prompt):", entries(learned, &left))
	}
	r.incomplete(t.tree.Warnings)
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return r.behind(strings.Join(parts, "\n\n")), nil
}

// incomplete remarks on what the scan of a directory left out.
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

// entries lists subjects in as many characters as are left. The others are counted, by
// the folder that they are in and can be had with.
func entries(all []*subjects.Subject, left *int) string {
	var lines []string
	for n, s := range all {
		line := entry(s)
		if *left -= utf8.RuneCountInString(line) + 1; *left < 0 {
			return strings.Join(append(lines, counted(all[n:])...), "\n")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
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

// counted counts subjects by the folder they are in at the top level.
func counted(all []*subjects.Subject) []string {
	counts := map[string]int{}
	var folders []string // in the order of the list
	others := 0
	for _, s := range all {
		folder, _, nested := strings.Cut(s.PathSlug, "/")
		if !nested {
			folder = ""
		}
		if counts[folder] == 0 && len(folders) == maxFolders {
			others++
			continue
		}
		if counts[folder]++; counts[folder] == 1 {
			folders = append(folders, folder)
		}
	}
	var lines []string
	for _, folder := range folders {
		where, pattern := "at the top level", "*"
		if folder != "" {
			where, pattern = "under "+text.Line(folder)+"/", match.QuoteMeta(folder)+"/**"
		}
		lines = append(lines, fmt.Sprintf("- … %s more %s: use subjects=%s", text.Number(counts[folder]), where, coerce.JSON(pattern)))
	}
	if others > 0 {
		lines = append(lines, fmt.Sprintf("- … %s more in other folders: use subjects=\"**\"", text.Number(others)))
	}
	return lines
}
