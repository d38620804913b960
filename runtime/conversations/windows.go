package conversations

import (
	"strings"
	"unicode/utf8"
)

const (
	// minShare is the fewest characters of one of several windows.
	minShare = 40
	// maxUnbounded is how many windows a line has at most where no bound is given.
	maxUnbounded = 8
	// between stands between two windows of a line.
	between = " " + ellipsis + " "
)

// windows returns the parts of a line around its first matches: up to most
// characters in all, ellipses included, and those between the parts aside. The
// line has total characters, which are more. One window is the same as of
// [pattern.cutLine]; there are more, up to count, where there are matches outside
// of it. Next returns the first match that ends behind an offset.
func windows(content []byte, total, most, count int, next func(from int) (Span, bool)) string {
	if count == 0 {
		count = maxUnbounded
	}
	count = max(min(count, most/minShare), 1)
	for n := 1; ; n++ {
		w := windowing{content: content, total: total, share: most / n}
		if w.place(n, next) || n == count {
			return w.String()
		}
	}
}

// windowing is the windows of one line in the making.
type windowing struct {
	content []byte
	total   int // characters of the line
	share   int // characters of one window, with its ellipses

	parts   []Span // the windows, in bytes
	chars   []Span // and in characters
	at      int    // an offset, and how many characters stand before it
	atChars int
}

// place makes up to n windows, and reports whether all matches are in them. Windows
// that touch are made one.
func (w *windowing) place(n int, next func(from int) (Span, bool)) (all bool) {
	from := 0
	for ; ; n-- {
		m, ok := next(from)
		switch {
		case !ok && len(w.parts) == 0:
			w.add(Span{})
			return true
		case !ok || n == 0:
			return !ok
		}
		from = max(w.add(m), m.End)
	}
}

// add makes a window around a match, and returns where it ends.
func (w *windowing) add(m Span) int {
	before := w.charsBefore(m.Start)
	width := utf8.RuneCount(w.content[m.Start:m.End])
	first := before - max((w.share-width)/2, 1) // one character for the ellipsis
	first = max(min(first, w.total-w.share), 0)
	c := Span{first, first + w.share}
	if c.Start > 0 {
		c.Start++
	}
	if c.End < w.total {
		c.End--
	}
	low := moveRunes(w.content, m.Start, c.Start-before)
	high := moveRunes(w.content, low, c.End-c.Start)
	last := len(w.parts) - 1
	if last >= 0 && c.Start <= w.chars[last].End+utf8.RuneCountInString(between) {
		w.parts[last].End = max(w.parts[last].End, high)
		w.chars[last].End = max(w.chars[last].End, c.End)
		return w.parts[last].End
	}
	w.parts, w.chars = append(w.parts, Span{low, high}), append(w.chars, c)
	return high
}

// charsBefore returns how many characters stand before an offset.
func (w *windowing) charsBefore(offset int) int {
	if offset >= w.at {
		w.atChars += utf8.RuneCount(w.content[w.at:offset])
	} else {
		w.atChars -= utf8.RuneCount(w.content[offset:w.at])
	}
	w.at = offset
	return w.atChars
}

func (w *windowing) String() string {
	var b strings.Builder
	for i, p := range w.parts {
		switch {
		case i > 0:
			b.WriteString(between)
		case p.Start > 0:
			b.WriteString(ellipsis)
		}
		b.Write(w.content[p.Start:p.End])
	}
	if w.parts[len(w.parts)-1].End < len(w.content) {
		b.WriteString(ellipsis)
	}
	return b.String()
}
