package excerpt

import (
	"strings"
	"unicode/utf8"
)

const (
	// minShare is the fewest characters of one of several windows.
	minShare = 40
	// between is between two windows of a line.
	between = " " + ellipsis + " "
)

// Windows returns up to count parts of a line around its first matches, of at most most
// characters in all, ellipses included and the marks between the parts not, as one text; all of
// the line where that has no more. One part is the one of [Pattern.Window]; there are more where
// there are matches outside of it.
func (p *Pattern) Windows(content []byte, most, count int, isMatch bool) (text string, chars int) {
	most = max(most, MinWindow)
	if len(content) <= most {
		return string(content), 0
	}
	total := utf8.RuneCount(content)
	if total <= most {
		return string(content), 0
	}
	count = max(min(count, most/minShare), 1)
	for n := 1; ; n++ {
		w := windowing{content: content, total: total, share: most / n}
		if w.place(n, p, isMatch) || n == count {
			return w.String(), total
		}
	}
}

// windowing is the windows of one line in the making.
type windowing struct {
	content []byte
	total   int // characters of the line
	share   int // characters of one window, with its ellipses
	parts   []placed
	at      int // an offset, and how many characters are before it
	atChars int
}

// place makes up to n windows, and reports whether all matches are in them. Windows that touch
// are made one.
func (w *windowing) place(n int, p *Pattern, isMatch bool) (all bool) {
	all = true
	until := 0
	if isMatch {
		p.each(w.content, -1, func(m Span) bool {
			switch {
			case m.End <= until:
			case n == 0:
				all = false
			default:
				until = max(w.add(m), m.End)
				n--
			}
			return all
		})
	}
	if len(w.parts) == 0 {
		w.add(Span{})
	}
	return all
}

// add makes a window around a match, and returns where it ends.
func (w *windowing) add(m Span) int {
	w.atChars += utf8.RuneCount(w.content[w.at:m.Start])
	w.at = m.Start
	part := around(w.content, m, w.atChars, w.total, w.share)
	if last := len(w.parts) - 1; last >= 0 && part.chars.Start <= w.parts[last].chars.End+utf8.RuneCountInString(between) {
		w.parts[last].bytes.End = max(w.parts[last].bytes.End, part.bytes.End)
		w.parts[last].chars.End = max(w.parts[last].chars.End, part.chars.End)
		return w.parts[last].bytes.End
	}
	w.parts = append(w.parts, part)
	return part.bytes.End
}

func (w *windowing) String() string {
	var b strings.Builder
	for i, p := range w.parts {
		switch {
		case i > 0:
			b.WriteString(between)
		case p.bytes.Start > 0:
			b.WriteString(ellipsis)
		}
		b.Write(w.content[p.bytes.Start:p.bytes.End])
	}
	if w.parts[len(w.parts)-1].bytes.End < len(w.content) {
		b.WriteString(ellipsis)
	}
	return b.String()
}
