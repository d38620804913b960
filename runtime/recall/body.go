package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// body is the text of an event, or what is kept of it: parts of it in order, and
// how many characters are missing between each two. Where something is missing at
// one end, the part there is empty.
type body struct {
	parts []string // one at least
	gaps  []int    // each more than 0; one fewer than parts
}

// ends is a text in the characters that are going to be shown: of more than so many that were
// recorded the beginning and the end. JSON is made visible by the envelope, by escapes that keep
// it JSON.
func ends[T ~string | ~[]byte](s T, most int, isJSON bool) body {
	first, last, missing := text.Ends(s, most-most/2, most/2)
	head, tail := string(first), string(last)
	if missing == 0 {
		head, tail = string(s), ""
	}
	if !isJSON {
		head, tail = text.Visible(head), text.Visible(tail)
	}
	if missing == 0 {
		return whole(head)
	}
	return bodyOf([]string{head, tail}, []int{missing})
}

func whole(s string) body { return body{parts: []string{s}} }

// bodyOf is a body of parts with gaps. Line breaks around the mark of a gap, which is on a line
// of its own, would only make it longer, and are missing too.
func bodyOf(parts []string, gaps []int) body {
	for i := range gaps {
		before, behind := strings.TrimRight(parts[i], "\n"), strings.TrimLeft(parts[i+1], "\n")
		gaps[i] += len(parts[i]) - len(before) + len(parts[i+1]) - len(behind)
		parts[i], parts[i+1] = before, behind
	}
	return body{parts, gaps}
}

// kept is how many of the recorded characters are kept.
func (t *body) kept() int {
	n := 0
	for _, part := range t.parts {
		n += utf8.RuneCountInString(part)
	}
	return n
}

func (t *body) isShortened() bool { return len(t.gaps) > 0 }

// length is how many characters String has.
func (t *body) length() int { return utf8.RuneCountInString(t.String()) }

// String is the text with a mark, on a line of its own, where something is missing.
func (t *body) String() string {
	lines := []string{t.parts[0]}
	for i, missing := range t.gaps {
		lines = append(lines, mark(missing), t.parts[i+1])
	}
	if len(t.gaps) == 0 {
		return lines[0]
	}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// mark stands where characters are missing.
func mark(missing int) string { return fmt.Sprintf("[… %d chars …]", missing) }

// maxMark is how many characters a mark has at most, with the ends of the lines
// around it, in a text of less than 10 GB. An ellipsis is one.
const maxMark = len("\n[. 9999999999 chars .]\n")

// What is kept of a text that is too long, in percent from its end: prose says at its end what
// it comes to, while output, and arguments, begin with what they are.
const (
	proseTail  = 60
	outputTail = 40
)

// shorten returns the text, if it has more than limit characters with its marks, without its
// middle. A limit of [maxMark] can always be kept to.
func (t *body) shorten(limit, tail int) body {
	if t.length() <= limit {
		return *t
	}
	all := t.kept()
	for _, missing := range t.gaps {
		all += missing
	}
	room := max(limit-maxMark, 0)
	last := endOf(t.parts[len(t.parts)-1], room*tail/100)
	first := startOf(t.parts[0], room-utf8.RuneCountInString(last))
	missing := all - utf8.RuneCountInString(first) - utf8.RuneCountInString(last)
	return bodyOf([]string{first, last}, []int{missing})
}

// wordChars is the most that a cut moves to be between words.
const wordChars = 20

// startOf is the first n characters of a text, or a few fewer, so that they end with
// a word.
func startOf(s string, n int) string {
	first, _, omitted := text.Ends(s, n, 0)
	if omitted == 0 {
		return s
	}
	if at := strings.LastIndexFunc(first, unicode.IsSpace); at > 0 && len(first)-at <= wordChars {
		return first[:at]
	}
	return first
}

// endOf is the last n characters of a text, or a few fewer, so that they begin with
// a word.
func endOf(s string, n int) string {
	_, last, omitted := text.Ends(s, 0, n)
	if omitted == 0 {
		return s
	}
	if at := strings.IndexFunc(last, unicode.IsSpace); at >= 0 && at < wordChars && at+1 < len(last) {
		_, size := utf8.DecodeRuneInString(last[at:])
		return last[at+size:]
	}
	return last
}

// only is a whole text with some parts of it, and headings of the text left out.
func only(s string, spans []excerpt.Span) body {
	spans = append(headingsBeside(s, spans), spans...)
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var parts []string
	var gaps []int
	from, to := 0, 0 // of the part that is being made
	keep := func(span excerpt.Span) {
		if missing := utf8.RuneCountInString(s[to:max(to, span.Start)]); missing >= maxMark {
			parts, gaps = append(parts, s[from:to]), append(gaps, missing)
			from = span.Start
		}
		to = max(to, span.End)
	}
	for _, span := range spans {
		keep(span)
	}
	keep(excerpt.Span{Start: len(s), End: len(s)})
	return bodyOf(append(parts, s[from:to]), gaps)
}

// headingsBeside returns where headings are that are shown beside parts of a text, as far as there
// is room: first those above the parts, and then the others in their order.
func headingsBeside(s string, spans []excerpt.Span) []excerpt.Span {
	var all, above, kept []excerpt.Span
	at, next, fence := 0, 0, ""
	for line := range strings.Lines(s) {
		bare := strings.TrimSpace(line)
		end := at + len(line)
		for ; next < len(spans) && spans[next].Start < end; next++ {
			if len(all) > 0 {
				above = append(above, all[len(all)-1])
			}
		}
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case fenceOf(bare) != "":
			fence = fenceOf(bare)
		case isHeading(bare):
			all = append(all, excerpt.Span{Start: at, End: end})
		}
		at = end
	}
	room := aboutHeadings
	for _, span := range append(above, all...) {
		if cost := span.End - span.Start + maxMark; cost <= room && !slices.Contains(kept, span) {
			kept, room = append(kept, span), room-cost
		}
	}
	return kept
}

// fenceOf is the marks that a line begins a block of code with; empty where it begins none.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && !strings.Contains(strings.TrimLeft(line, mark[:1]), "`") {
			return mark
		}
	}
	return ""
}

// maxBold is how long a line in bold is that is a heading, in bytes.
const maxBold = 80

// isHeading reports whether a line is a heading, as with # or in bold.
func isHeading(line string) bool {
	marks := line[:len(line)-len(strings.TrimLeft(line, "#"))]
	if len(marks) > 0 && len(marks) <= 6 && strings.HasPrefix(line[len(marks):], " ") {
		return true
	}
	line = strings.TrimRight(line, ":")
	return len(line) > 4 && len(line) <= maxBold && strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**")
}
