package recall

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// maxMark is how many characters the mark of [without] has at most, in a text
// of less than 10 GB.
const maxMark = len("\n[. 9999999999 chars .]\n")

// without joins two parts of a text by a mark, on a line of its own, that
// counts the characters between them. Line breaks beside the mark are left out
// and counted too.
func without(before string, missing int, after string) string {
	first := strings.TrimRight(before, "\n")
	last := strings.TrimLeft(after, "\n")
	missing += len(before) - len(first) + len(after) - len(last)
	lines := []string{first, fmt.Sprintf("[… %d chars …]", missing), last}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n")
}

// only returns the parts of a text that are in spans, and headings, with marks
// between them.
func only(s string, spans []excerpt.Span) string {
	spans = append(headings(s), spans...)
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return a.Start - b.Start })
	spans = append(spans, excerpt.Span{Start: len(s), End: len(s)})
	missing := func(a, b excerpt.Span) int {
		return utf8.RuneCountInString(s[a.End:max(a.End, b.Start)])
	}
	parts := []excerpt.Span{{}}
	for _, span := range spans {
		last := &parts[len(parts)-1]
		if missing(*last, span) < maxMark {
			last.End = max(last.End, span.End)
		} else {
			parts = append(parts, span)
		}
	}
	kept := s[:parts[0].End]
	for i, part := range parts[1:] {
		kept = without(kept, missing(parts[i], part), s[part.Start:part.End])
	}
	return kept
}

// headings returns the headings of a text, from its beginning, as far as there
// is room.
func headings(s string) (kept []excerpt.Span) {
	at, room := 0, aboutHeadings
	for line := range strings.Lines(s) {
		end := at + len(line)
		if cost := len(line) + maxMark; cost <= room && isHeading(strings.TrimSpace(line)) {
			kept, room = append(kept, excerpt.Span{Start: at, End: end}), room-cost
		}
		at = end
	}
	return kept
}

// isHeading reports whether a line is a heading, as with # or in bold.
func isHeading(line string) bool {
	if title := strings.TrimLeft(line, "#"); title != line {
		return strings.HasPrefix(title, " ")
	}
	line, isBold := strings.CutPrefix(strings.TrimRight(line, ":"), "**")
	return isBold && len(line) > len("**") && strings.HasSuffix(line, "**")
}
