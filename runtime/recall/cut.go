package recall

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// maxMark is how many characters the mark of [without] has at most, in
// a text of less than 10 GB. An ellipsis is one.
const maxMark = len("\n[. 9999999999 chars .]\n")

// without joins two parts of a text by a mark, on a line of its own,
// for the characters between them. Line breaks beside the mark would
// only make it longer, and are missing too.
func without(before string, missing int, after string) string {
	first := strings.TrimRight(before, "\n")
	last := strings.TrimLeft(after, "\n")
	missing += len(before) - len(first) + len(after) - len(last)
	lines := []string{first, fmt.Sprintf("[… %d chars …]", missing), last}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n")
}

// only returns the parts of a text that are in spans, which are in
// order, and headings beside them, with marks between them.
func only(s string, spans []excerpt.Span) string {
	spans = append(headings(s, spans), spans...)
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

// headings returns where the headings are that are shown beside parts
// of a text: the nearest above each part, and others from the top, as
// far as there is room.
func headings(s string, spans []excerpt.Span) []excerpt.Span {
	var all, above, kept []excerpt.Span
	at := 0
	for line := range strings.Lines(s) {
		end := at + len(line)
		for len(spans) > 0 && spans[0].Start < end {
			above = append(above, all[max(len(all)-1, 0):]...)
			spans = spans[1:]
		}
		if isHeading(strings.TrimSpace(line)) {
			all = append(all, excerpt.Span{Start: at, End: end})
		}
		at = end
	}
	room := aboutHeadings
	for _, span := range append(above, all...) {
		cost := span.End - span.Start + maxMark
		if cost <= room && !slices.Contains(kept, span) {
			kept, room = append(kept, span), room-cost
		}
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
