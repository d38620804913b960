package conversations

import (
	"bytes"
	"context"
	"math"
	"slices"
	"unicode/utf8"
)

// wordLines finds the lines of one text that hold a word. It implements
// [lineFinder].
type wordLines struct {
	words []*pattern
	// part is the matches in the shortest part that holds all words, from left to
	// right, where there are several. Without words, only their lines are found.
	part []Span

	heads []Span // by word: the next match, or one behind all text
	found line   // the line that was found last
}

func (f *wordLines) next(text []byte, from int) (line, Span, bool) {
	m := Span{Start: math.MaxInt}
	if f.words == nil {
		for _, p := range f.part {
			if p.Start >= from {
				m = p
				break
			}
		}
	}
	if f.heads == nil {
		f.heads = make([]Span, len(f.words))
		for i := range f.heads {
			f.heads[i].Start = -1
		}
	}
	for i, word := range f.words {
		if f.heads[i].Start < from {
			start, end := word.finder.Find(text[from:])
			if f.heads[i] = (Span{from + start, from + end}); start < 0 {
				f.heads[i].Start = math.MaxInt
			}
		}
		if f.heads[i].Start < m.Start {
			m = f.heads[i]
		}
	}
	if m.Start == math.MaxInt {
		return line{}, Span{}, false
	}
	f.found = lineAt(text, from+bytes.LastIndexByte(text[from:m.Start], '\n')+1)
	return f.found, m, true
}

// within returns a function that returns the first match which ends behind an
// offset of the line that was found last: one of those in the shortest part, where
// there are any in this line, or else of any of these words.
func (f *wordLines) within(content []byte, words []*pattern) func(from int) (Span, bool) {
	var part []Span
	for _, p := range f.part {
		if f.found.start <= p.Start && p.Start < f.found.end {
			part = append(part, Span{p.Start - f.found.start, p.End - f.found.start})
		}
	}
	return func(from int) (m Span, ok bool) {
		for _, p := range part {
			if p.End > from {
				return p, true
			}
		}
		if len(part) > 0 {
			return m, false
		}
		for _, word := range words {
			at := moveRunes(content, from, 1-word.chars)
			start, end := word.finder.Find(content[at:])
			if start >= 0 && (!ok || at+start < m.Start) {
				m, ok = Span{at + start, at + end}, true
			}
		}
		return m, ok
	}
}

// part is a part of a text that holds all words.
type part struct {
	chars   int
	matches []Span // one of each word, from left to right
}

// stepsPerLook is how many matches are tried before the context is looked at again.
const stepsPerLook = 1024

// shortestPart returns the shortest part of a text that holds all words, and of
// several the first. The text holds all of them.
func shortestPart(ctx context.Context, text []byte, words []*pattern) (part, error) {
	// From every place where a word begins, the shortest part reaches to the end of the
	// next match of each word: all matches of a word have the same length.
	best := part{chars: math.MaxInt}
	heads := make([]Span, len(words)) // by word: the next match
	chars := make([]int, len(words))  // how many characters stand before it
	advance := func(i, from int) bool {
		start, end := words[i].finder.Find(text[from:])
		if start < 0 {
			return false
		}
		chars[i] += utf8.RuneCount(text[heads[i].Start : from+start])
		heads[i] = Span{from + start, from + end}
		return true
	}
	longest := 0
	for i := range words {
		advance(i, 0)
		longest = max(longest, words[i].chars)
	}
	for step := 1; ; step++ {
		if step%stepsPerLook == 0 && ctx.Err() != nil {
			return best, ctx.Err()
		}
		first, end := 0, 0
		for i := range words {
			if chars[i] < chars[first] {
				first = i
			}
			end = max(end, chars[i]+words[i].chars)
		}
		if n := end - chars[first]; n < best.chars {
			best.chars = n
			best.matches = append(best.matches[:0], heads...)
		}
		_, size := utf8.DecodeRune(text[heads[first].Start:])
		if best.chars == longest || !advance(first, heads[first].Start+size) {
			break
		}
	}
	slices.SortFunc(best.matches, func(a, b Span) int { return a.Start - b.Start })
	return best, nil
}
