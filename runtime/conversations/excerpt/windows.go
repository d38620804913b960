package excerpt

import (
	"bytes"
	"hash/fnv"
	"iter"
	"unicode/utf8"
)

const (
	// MinWindow is the fewest characters that a window may have.
	MinWindow = 10
	// minShare is the fewest characters of one of several windows.
	minShare = 40

	ellipsis = "…"
	between  = " " + ellipsis + " " // two windows of a line
)

// Window is parts of a long line.
type Window struct {
	Text    []byte // with an ellipsis at each end that is cut
	Matches []Span // in Text
	Chars   int    // of the whole line; 0 where Text is all of it
}

// Window returns up to count parts of a line around its first matches, of at most most characters
// in all, ellipses included and the marks between the parts not; all of the line where that has no
// more, or most is 0. There are several where there are matches outside of one. The matches of all
// of a line are left to [Pattern.Spans].
func (p *Pattern) Window(content []byte, most, count int, isMatch bool) Window {
	total := utf8.RuneCount(content)
	if most == 0 || total <= max(most, MinWindow) {
		return Window{Text: content}
	}
	most = max(most, MinWindow)
	count = max(min(count, most/minShare), 1)
	var parts []Span
	for n, all := 1, false; n <= count && !all; n++ {
		parts, all = p.parts(content, total, most/n, n, isMatch)
	}
	w := Window{Chars: total}
	for i, part := range parts {
		switch {
		case i > 0:
			w.Text = append(w.Text, between...)
		case part.Start > 0:
			w.Text = append(w.Text, ellipsis...)
		}
		shift := len(w.Text) - part.Start
		w.Text = append(w.Text, content[part.Start:part.End]...)
		for m := range p.spans(content, isMatch) {
			if m.Start >= part.End {
				break
			}
			if m.End > part.Start {
				w.Matches = append(w.Matches, Span{max(m.Start, part.Start) + shift, min(m.End, part.End) + shift})
			}
		}
	}
	if parts[len(parts)-1].End < len(content) {
		w.Text = append(w.Text, ellipsis...)
	}
	return w
}

// spans is [Pattern.Spans] of a line that matches; of one around others nothing.
func (p *Pattern) spans(content []byte, isMatch bool) iter.Seq[Span] {
	if !isMatch {
		return func(func(Span) bool) {}
	}
	return p.Spans(content)
}

// parts returns up to n parts of a line that has total characters, each of share characters with
// its ellipses, and whether all matches are in them. Parts that touch are one.
func (p *Pattern) parts(content []byte, total, share, n int, isMatch bool) (parts []Span, all bool) {
	for m := range p.spans(content, isMatch) {
		last := len(parts) - 1
		if last >= 0 && m.End <= parts[last].End {
			continue
		}
		if n == 0 {
			return parts, false
		}
		n--
		part := around(content, m, total, share)
		if last >= 0 && (part.Start <= parts[last].End || utf8.RuneCount(content[parts[last].End:part.Start]) <= utf8.RuneCountInString(between)) {
			parts[last].End = max(parts[last].End, part.End)
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, around(content, Span{}, total, share))
	}
	return parts, true
}

// around returns the part of share characters, the room for ellipses included, around a match in a
// line that has total characters, which are more.
func around(content []byte, m Span, total, share int) Span {
	before, width := utf8.RuneCount(content[:m.Start]), utf8.RuneCount(content[m.Start:m.End])
	first := before - max((share-width)/2, 1) // one character for the ellipsis
	first = max(min(first, total-share), 0)
	last := first + share
	if first > 0 {
		first++
	}
	if last < total {
		last--
	}
	start := moveRunes(content, m.Start, first-before)
	return Span{start, moveRunes(content, start, last-first)}
}

// moveRunes returns the offset of the character n characters after the one at an offset, or
// before it for a negative n.
func moveRunes(text []byte, offset, n int) int {
	for ; n > 0 && offset < len(text); n-- {
		_, size := utf8.DecodeRune(text[offset:])
		offset += size
	}
	for ; n < 0 && offset > 0; n++ {
		_, size := utf8.DecodeLastRune(text[:offset])
		offset -= size
	}
	return offset
}

// Line is a line of a text.
type Line struct {
	Number int // from 1
	Span       // in the text, without the line break
	// IsMatch reports whether the line matches, and Match is its first match, in the text.
	IsMatch bool
	Match   Span
}

// Lines returns the first most lines of a text that match, all where most is negative, each with
// so many lines before and after it, in order and each once. A line that matches behind the last
// one that is wanted is a line around that.
func (p *Pattern) Lines(text []byte, around, most int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		at, number := 0, 1 // the first line that was not yielded
		upTo := func(end, n int) bool {
			for ; n > 0 && at < end; n-- {
				l := lineAt(text, at)
				if !yield(Line{Number: number, Span: Span{l.start, l.end}}) {
					return false
				}
				at, number = l.next, number+1
			}
			return true
		}
		for due := 0; ; due = around {
			l, m, ok := p.next(text, at)
			if most == 0 || !ok {
				upTo(len(text), due)
				return
			}
			most--
			if !upTo(l.start, due) {
				return
			}
			from := l.start
			for i := 0; i < around && from > at; i++ {
				from = bytes.LastIndexByte(text[:from-1], '\n') + 1
			}
			number += bytes.Count(text[at:from], []byte{'\n'})
			at = from
			if !upTo(l.start, around) || !yield(Line{Number: number, Span: Span{l.start, l.end}, IsMatch: true, Match: m}) {
				return
			}
			at, number = l.next, number+1
		}
	}
}

// LineSum returns a hash of a line that is equal for lines that differ only in white space: the
// FNV-1a hash of it with each run of white space as one space, and none around it.
func LineSum(line []byte) uint64 {
	h := fnv.New64a()
	for i, word := range bytes.Fields(line) {
		if i > 0 {
			h.Write([]byte{' '})
		}
		h.Write(word)
	}
	return h.Sum64()
}
