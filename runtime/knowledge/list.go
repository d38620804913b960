package knowledge

import (
	"context"
	"fmt"
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
	if err := t.tree.Describe(ctx); err != nil {
		return "", err
	}
	var learned, available []int
	for i := range t.tree.Subjects {
		switch {
		// A hidden subject that was learned by its name is no secret: who wrote the
		// configuration wants it known.
		case t.set.Learned(i):
			learned = append(learned, i)
		case !t.tree.Subjects[i].Hidden && !t.set.Disabled(i):
			available = append(available, i)
		}
	}
	facts, err := t.facts(ctx, append(learned[:len(learned):len(learned)], available...))
	if err != nil {
		return "", err
	}
	l := lister{topic: t, facts: facts, left: maxList}
	var b strings.Builder
	b.WriteString("# Topic: " + name(t.Topic) + "\n\n")
	if description := paragraphs(t.Description); description != "" {
		b.WriteString(description + "\n\n")
	}
	if len(learned) > 0 && !injected {
		b.WriteString("## Recommended (learn these first):\n\n" + l.entries(learned) + "\n\n")
	}
	switch {
	case len(available) > 0:
		b.WriteString("## Available subjects:\n\n" + l.entries(available) + "\n\n")
	case len(learned) == 0 || injected:
		b.WriteString("## Available subjects:\n\n(there are no subjects to list)")
	}
	if len(available) > 0 || len(learned) > 0 && !injected {
		b.WriteString("Use the `learn` tool with the `subjects` argument to learn specific subjects.")
	}
	if len(learned) > 0 && injected {
		b.WriteString("\n\n## Already learned (in system prompt):\n\n" + l.entries(learned))
	}
	r.incomplete(t.tree.Warnings)
	if !r.empty() {
		b.WriteString("\n\n" + r.String())
	}
	return b.String(), nil
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
		r.lines = append(r.lines, fmt.Sprintf("(note: links, special files and unreadable directories are not offered, here %s; `convtools knowledge check` names them)", text.Number(others)))
	}
}

// facts looks at subjects.
func (t *topic) facts(ctx context.Context, indexes []int) (map[int]subjects.Facts, error) {
	found, err := t.tree.Facts(ctx, t.subjects(indexes))
	if err != nil {
		return nil, err
	}
	facts := make(map[int]subjects.Facts, len(indexes))
	for n, i := range indexes {
		facts[i] = found[n]
	}
	return facts, nil
}

// lister writes the entries of lists that share one limit.
type lister struct {
	topic *topic
	facts map[int]subjects.Facts
	left  int // characters
}

// entries lists subjects as far as there is room. The others are counted, by the
// folder that they are in and can be had with.
func (l *lister) entries(indexes []int) string {
	var lines []string
	for n, i := range indexes {
		line := l.entry(i)
		if l.left -= utf8.RuneCountInString(line) + 1; l.left < 0 {
			return strings.Join(append(lines, l.counted(indexes[n:])...), "\n")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (l *lister) entry(i int) string {
	s, f := &l.topic.tree.Subjects[i], l.facts[i]
	line := "- " + text.Line(s.Name)
	if s.Description != "" {
		line += ": " + s.Description
	}
	switch {
	case f.Err != nil:
		line += " (cannot be read)"
	case f.TooLarge:
		line += " (" + megabytes(f.Size) + ": over the limit of " + largest() + ", cannot be loaded)"
	case f.Binary:
		line += " (binary, cannot be loaded)"
	case f.Tokens >= worthKnowing:
		line += " (about " + text.Number((f.Tokens+500)/1000*1000) + " tokens)"
	}
	return line
}

// counted counts subjects by the folder they are in at the top level.
func (l *lister) counted(indexes []int) []string {
	counts := map[string]int{}
	var folders []string // in the order of the list
	for _, i := range indexes {
		folder, _, nested := strings.Cut(l.topic.tree.Subjects[i].PathSlug, "/")
		if !nested {
			folder = ""
		}
		if counts[folder] == 0 {
			folders = append(folders, folder)
		}
		counts[folder]++
	}
	var lines []string
	for n, folder := range folders {
		if n == maxFolders {
			others := 0
			for _, rest := range folders[n:] {
				others += counts[rest]
			}
			return append(lines, fmt.Sprintf("- … %s more in %s other folders: use subjects=\"**\"", text.Number(others), text.Number(len(folders)-n)))
		}
		where, pattern := "at the top level", "*"
		if folder != "" {
			where, pattern = "under "+text.Line(folder)+"/", match.QuoteMeta(folder)+"/**"
		}
		lines = append(lines, fmt.Sprintf("- … %s more %s: use subjects=%s", text.Number(counts[folder]), where, coerce.JSON(pattern)))
	}
	return lines
}
