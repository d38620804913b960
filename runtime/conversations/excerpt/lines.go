package excerpt

import (
	"bytes"
	"hash/fnv"
	"iter"
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
