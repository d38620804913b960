// Package passage finds the part of a text that answers a question best: the lines or
// sentences that hold the most, and the rarest, of some terms, close to each other.
//
// It never shows anything: it returns where a passage is, and the caller words what is left out.
package passage

import (
	"bytes"
	"cmp"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/index/terms"
)

// Weights are how much terms weigh.
type Weights map[string]float64

// Passage is a part of a text.
type Passage struct {
	Start, End int // in bytes
	// Value is the sum of the weights of the terms in it, each once, and of half of both for
	// two of them that are next to each other.
	Value float64
	// Beside is the part of Value for terms that are next to each other.
	Beside float64
}

// sentence is a part of a line, and the terms in it.
type sentence struct {
	start, end int
	terms      []string // in order; each as often as it occurs
	value      float64  // of the terms, each once
}

// Best returns the passage of at most most bytes, of whole sentences or lines where these are
// shorter, whose terms weigh the most; of several the shortest, and then the first. Wide is the
// same with more around it, of at most wide bytes. A text of no more than that is one passage.
func Best(r *terms.Reader, text []byte, weights Weights, most, wide int) (best, wider Passage) {
	sentences := divide(text, most)
	read(r, text, sentences, weights)
	whole := passageOf(sentences, 0, len(text), weights)
	if len(text) <= most {
		return whole, whole
	}
	for first := range sentences {
		if sentences[first].value == 0 {
			continue
		}
		last := first
		for last+1 < len(sentences) && sentences[last+1].end-sentences[first].start <= most {
			last++
		}
		for last > first && sentences[last].value == 0 {
			last--
		}
		p := passageOf(sentences[first:last+1], sentences[first].start, sentences[last].end, weights)
		if p.Value > best.Value || p.Value == best.Value && p.End-p.Start < best.End-best.Start {
			best = p
		}
	}
	best = widen(sentences, best, most)
	if len(text) <= wide {
		return best, whole
	}
	return best, widen(sentences, best, wide)
}

// widen adds the sentences after a passage, and then those before it, as far as there is room:
// what follows a sentence explains it more often than what precedes it.
func widen(sentences []sentence, p Passage, most int) Passage {
	for _, s := range sentences {
		if s.start >= p.End && s.end-p.Start <= most {
			p.End = s.end
		}
	}
	for i := len(sentences) - 1; i >= 0; i-- {
		if s := sentences[i]; s.end <= p.Start && p.End-s.start <= most {
			p.Start = s.start
		}
	}
	return p
}

// passageOf returns the passage of some sentences that follow each other.
func passageOf(sentences []sentence, start, end int, weights Weights) Passage {
	has, beside := map[string]bool{}, map[[2]string]bool{}
	p := Passage{Start: start, End: end}
	for _, s := range sentences {
		last := ""
		for _, t := range s.terms {
			if t == "" {
				last = ""
				continue
			}
			if !has[t] {
				has[t] = true
				p.Value += weights[t]
			}
			if pair := [2]string{last, t}; last != "" && last != t && !beside[pair] {
				beside[pair] = true
				p.Beside += besideCounts * (weights[last] + weights[t])
			}
			last = t
		}
	}
	p.Value += p.Beside
	return p
}

// besideCounts is how much of their weights two terms have more that are next to each other.
const besideCounts = 0.2

// read finds the terms of sentences. An empty term is in place of some that have no weight.
func read(r *terms.Reader, text []byte, sentences []sentence, weights Weights) {
	for i := range sentences {
		s := &sentences[i]
		seen := map[string]bool{}
		r.Each(text[s.start:s.end], func(term []byte, _ int) {
			weight, ok := weights[string(term)]
			switch {
			case ok:
				t := string(term)
				s.terms = append(s.terms, t)
				if !seen[t] {
					seen[t] = true
					s.value += weight
				}
			case len(s.terms) > 0 && s.terms[len(s.terms)-1] != "" && !terms.IsFunctionWord(string(term)):
				s.terms = append(s.terms, "")
			}
		})
	}
}

// divide divides a text into sentences: at line ends, after a full stop, a question mark or an
// exclamation mark that white space follows, and where one has more than most bytes at white
// space, or between characters where there is none.
func divide(text []byte, most int) []sentence {
	var all []sentence
	for from := 0; from < len(text); {
		line := len(text)
		if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
			line = from + i
		}
		for from < line {
			end := sentenceEnd(text[from:line], most) + from
			begin := from
			for begin < end && isSpace(text[begin]) {
				begin++
			}
			if begin < end {
				all = append(all, sentence{start: begin, end: end})
			}
			from = end
		}
		from = line + 1
	}
	return all
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// sentenceEnd returns where the first sentence of a line ends.
func sentenceEnd(line []byte, most int) int {
	space := 0 // after the last word that has room
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if i+size > most && i > 0 {
			return cmp.Or(space, i)
		}
		switch {
		case r == '。' || r == '！' || r == '？':
			return i + size
		case (r == '.' || r == '?' || r == '!') && i+1 < len(line) && isSpace(line[i+1]):
			return i + 1
		case unicode.IsSpace(r):
			space = i
		}
		i += size
	}
	return len(line)
}
