package excerpt

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

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
		number, from := 1, 0               // of the line at from
		shown, shownNumber, due := 0, 1, 0 // the first line that was not yielded, and how many lines after a match are due
		others := func(until, n int) bool {
			for ; n > 0 && shown < until; n-- {
				l := lineAt(text, shown)
				if !yield(Line{Number: shownNumber, Span: Span{l.start, l.end}}) {
					return false
				}
				shown, shownNumber = l.next, shownNumber+1
			}
			return true
		}
		for ; most != 0; most-- {
			l, m, ok := p.next(text, from)
			if !ok {
				break
			}
			number += bytes.Count(text[from:l.start], []byte{'\n'})
			if !others(l.start, due) {
				return
			}
			before, beforeNumber := l.start, number
			for i := 0; i < around && before > shown; i++ {
				before = bytes.LastIndexByte(text[:before-1], '\n') + 1
				beforeNumber--
			}
			shown, shownNumber = before, beforeNumber
			if !others(l.start, around) || !yield(Line{Number: number, Span: Span{l.start, l.end}, IsMatch: true, Match: m}) {
				return
			}
			number++
			from, shown, shownNumber, due = l.next, l.next, number, around
		}
		others(len(text), due)
	}
}

// LineSum returns a hash of a line that is equal for lines that differ only in white space: the
// FNV-1a hash of it with each run of white space as one space, and none around it.
func LineSum(line []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	between := false
	for word := range bytes.FieldsSeq(line) {
		if between {
			h = (h ^ ' ') * prime
		}
		between = true
		for _, c := range word {
			h = (h ^ uint64(c)) * prime
		}
	}
	return h
}

const ellipsis = "…"

// MinWindow is the fewest characters that a window may have.
const MinWindow = 10

// Window is a part of a long line.
type Window struct {
	Text    []byte // with an ellipsis at each end that is cut
	Matches []Span // in Text
	Chars   int    // of the whole line; 0 where Text is all of it
}

// Window returns a part of at most most characters of a line, ellipses included, around its first
// match, which is empty for a line around others; all of the line where that has no more, or most
// is 0. The matches of all of a line are left to [Pattern.Spans].
func (p *Pattern) Window(content []byte, first Span, most int, isMatch bool) Window {
	if most == 0 || len(content) <= most {
		return Window{Text: content}
	}
	total := utf8.RuneCount(content)
	if total <= most {
		return Window{Text: content}
	}
	part := around(content, first, utf8.RuneCount(content[:first.Start]), total, most).bytes
	w := Window{Chars: total}
	if part.Start > 0 {
		w.Text = append(w.Text, ellipsis...)
	}
	shift := len(w.Text) - part.Start
	w.Text = append(w.Text, content[part.Start:part.End]...)
	if part.End < len(content) {
		w.Text = append(w.Text, ellipsis...)
	}
	if !isMatch {
		return w
	}
	// The first match is in the window, and each match begins at a character of its own, also
	// when it is empty.
	p.each(content, len(w.Text)+2, func(s Span) bool {
		if s.Start >= part.End {
			return false
		}
		if s.End > part.Start {
			w.Matches = append(w.Matches, Span{max(s.Start, part.Start) + shift, min(s.End, part.End) + shift})
		}
		return true
	})
	return w
}

// placed is a part of a line, in bytes and in characters.
type placed struct{ bytes, chars Span }

// around returns the part of share characters, the room for ellipses included, around a match
// with so many characters before it, of a line that has total characters, which are more.
func around(content []byte, m Span, before, total, share int) placed {
	width := utf8.RuneCount(content[m.Start:m.End])
	first := before - max((share-width)/2, 1) // one character for the ellipsis
	first = max(min(first, total-share), 0)
	c := Span{first, first + share}
	if c.Start > 0 {
		c.Start++
	}
	if c.End < total {
		c.End--
	}
	low := moveRunes(content, m.Start, c.Start-before)
	return placed{Span{low, moveRunes(content, low, c.End-c.Start)}, c}
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
