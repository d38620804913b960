package excerpt

import (
	"bytes"
	"hash/fnv"
	"iter"
	"slices"
	"unicode/utf8"
)

const (
	minWindow = 10 // the fewest characters that a window may have
	ellipsis  = "…"
)

// Window is a part of a long line.
type Window struct {
	Text    []byte // with an ellipsis at each cut end
	Matches []Span // in Text
	Chars   int    // of the whole line; 0 if Text is all of it
}

// Window returns the part of a line around its first match; if isMatch is false, the beginning of the line, without
// Matches. The text has at most most characters, and an ellipsis at each cut end is one of these. A most below
// minWindow counts as minWindow, but 0 is no limit. A line that is not too long is returned whole.
func (p *Pattern) Window(content []byte, most int, isMatch bool) Window {
	total := utf8.RuneCount(content)
	if most == 0 || total <= max(most, minWindow) {
		return Window{Text: content, Matches: slices.Collect(p.spans(content, isMatch))}
	}
	var first Span // the beginning of the line if there is no match
	for first = range p.spans(content, isMatch) {
		break
	}
	part := around(content, first, total, max(most, minWindow))
	w := Window{Chars: total}
	if part.Start > 0 {
		w.Text = append(w.Text, ellipsis...)
	}
	shift := len(w.Text) - part.Start // from offsets in content to those in w.Text
	w.Text = append(w.Text, content[part.Start:part.End]...)
	for m := range p.spans(content, isMatch) {
		if m.Start >= part.End {
			break
		}
		m = Span{max(m.Start, part.Start), min(m.End, part.End)} // a match may end after the part
		w.Matches = append(w.Matches, Span{m.Start + shift, m.End + shift})
	}
	if part.End < len(content) {
		w.Text = append(w.Text, ellipsis...)
	}
	return w
}

// spans yields the matches of [Pattern.Spans] in a matching line; none in another line.
func (p *Pattern) spans(content []byte, isMatch bool) iter.Seq[Span] {
	if !isMatch {
		return func(func(Span) bool) {}
	}
	return p.Spans(content)
}

// around returns the part of a line around a match. The part has share characters, with an ellipsis that the caller
// adds at each cut end. total is the number of characters of the line, and greater than share.
func around(content []byte, m Span, total, share int) Span {
	before, width := utf8.RuneCount(content[:m.Start]), utf8.RuneCount(content[m.Start:m.End])
	first := before - max((share-width)/2, 1) // the match is in the middle, with a character or an ellipsis before it
	first = max(min(first, total-share), 0)
	last := first + share
	if first > 0 {
		first++ // an ellipsis takes the place of the first character
	}
	if last < total {
		last--
	}
	start := moveRunes(content, m.Start, first-before)
	return Span{start, moveRunes(content, start, last-first)}
}

// moveRunes returns the offset n characters after another offset, or before it if n is negative, within the text.
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
	Number  int // from 1
	Span        // in the text, without the line break
	IsMatch bool
}

// Lines yields matching lines of a text and the context lines before and after each, in the order of the text and each
// line once. context is the number of lines on each side. It stops after limit matching lines and their context, or never
// if limit is negative. A further matching line in the context of the last one has no IsMatch.
func (p *Pattern) Lines(text []byte, context, limit int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		at, number := 0, 1 // the offset and the number of the next line that can be yielded
		// yieldAround yields the next n lines, but none from the offset end on, and reports whether to go on.
		yieldAround := func(end, n int) bool {
			for ; n > 0 && at < end; n-- {
				l := lineAt(text, at)
				if !yield(Line{Number: number, Span: Span{l.start, l.end}}) {
					return false
				}
				at, number = l.next, number+1
			}
			return true
		}
		after := 0 // the number of lines to yield after the last match: none before the first match
		for {
			l, _, ok := p.nextMatch(text, at)
			if limit == 0 || !ok {
				yieldAround(len(text), after)
				return
			}
			limit--
			if !yieldAround(l.start, after) {
				return
			}
			after = context
			first := lineBefore(text, l.start, at, context)
			number += bytes.Count(text[at:first], []byte{'\n'})
			at = first
			if !yieldAround(l.start, context) || !yield(Line{Number: number, Span: Span{l.start, l.end}, IsMatch: true}) {
				return
			}
			at, number = l.next, number+1
		}
	}
}

// lineBefore returns the offset of the n-th line before the line at an offset, or the line at least if that is later.
func lineBefore(text []byte, at, least, n int) int {
	for ; n > 0 && at > least; n-- {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return at
}

// LineSum returns a hash of the words of a line: the amount of white space around them makes no difference.
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
