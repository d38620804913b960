package excerpt

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/index/terms"
)

// Weights are the weights of terms.
type Weights map[string]float64

// Passage is a part of a text.
type Passage struct {
	Start, End int // in bytes
	// Value is the sum of the weights of the passage's terms, each once, plus a share of those of adjacent terms.
	Value  float64
	Beside float64 // the part of Value for adjacent terms
}

// sentence is a part of a line, and the terms in it.
type sentence struct {
	start, end int
	terms      []string // in order; each as often as it occurs
	value      float64  // the sum of the weights of the terms, each once
	endsColon  bool     // the sentence ends with a colon: the next sentence belongs to it
}

// BestPassage returns two passages of a text. best is the passage of whole sentences or lines whose terms weigh the
// most, in limit bytes at most. Of passages of the same value it is the shortest, then the first. wider is best with
// more of the text around it, in widerLimit bytes at most. A passage is the whole text if its limit allows that.
func BestPassage(r *terms.Reader, text []byte, weights Weights, limit, widerLimit int) (best, wider Passage) {
	sentences := divide(text, limit)
	readTerms(r, text, sentences, weights)
	whole := passageOf(sentences, 0, len(text), weights)
	if len(text) <= limit {
		return whole, whole
	}
	for _, p := range candidates(sentences, weights, min(limit, maxCore)) {
		if isShorter := p.End-p.Start < best.End-best.Start; p.Value > best.Value || p.Value == best.Value && isShorter {
			best = p
		}
	}
	best = widen(sentences, best, limit)
	if len(text) <= widerLimit {
		return best, whole
	}
	return best, widen(sentences, best, widerLimit)
}

// LastPassage returns the last whole sentences or lines of a text, of at most most bytes.
func LastPassage(text []byte, most int) Passage {
	p := Passage{Start: len(text), End: len(text)}
	for _, s := range slices.Backward(divide(text, most)) {
		if p.End-s.start > most {
			break
		}
		p.Start = s.start
	}
	return p
}

// candidates returns one passage for each sentence that has a term. The passage begins with that sentence, ends with a
// sentence that has a term, and is as long as limit bytes allow. A longer sentence is a passage alone.
func candidates(sentences []sentence, weights Weights, limit int) []Passage {
	var passages []Passage
	for first := range sentences {
		if sentences[first].value == 0 {
			continue // no term
		}
		last := first
		for last+1 < len(sentences) && sentences[last+1].end-sentences[first].start <= limit {
			last++
		}
		for last > first && sentences[last].value == 0 {
			last--
		}
		passages = append(passages, passageOf(sentences[first:last+1], sentences[first].start, sentences[last].end, weights))
	}
	return passages
}

// maxCore is the most bytes of the part of a passage that is compared with others. The rest is added around it.
const maxCore = 2000

// leastPercent is the share of the best passage's value that other passages need.
const leastPercent = 35

// Several returns the best passages of a text, in the order of the text and without overlaps. A passage has limit bytes
// at most, and all passages together have total bytes at most, unless the best alone has more. Several returns none if
// the text has no term with a weight.
func Several(r *terms.Reader, text []byte, weights Weights, limit, total int) []Passage {
	sentences := divide(text, limit)
	readTerms(r, text, sentences, weights)
	found := candidates(sentences, weights, limit)
	slices.SortStableFunc(found, func(p, q Passage) int { return cmp.Compare(q.Value, p.Value) })
	var kept []Passage
	room := total // the bytes that the kept passages leave of total
	for _, p := range found {
		if room <= 0 || p.Value*100 < found[0].Value*leastPercent {
			break
		}
		overlaps := func(k Passage) bool { return p.Start < k.End && k.Start < p.End }
		isBest, size := len(kept) == 0, p.End-p.Start
		if slices.ContainsFunc(kept, overlaps) || size > room && !isBest {
			continue
		}
		wide := widen(sentences, p, min(limit, size+limit/2)) // with sentences around it, which must fit into the room too
		if size = wide.End - wide.Start; size <= room || isBest {
			kept, room = append(kept, wide), room-size
		}
	}
	slices.SortFunc(kept, func(p, q Passage) int { return cmp.Compare(p.Start, q.Start) })
	for i := 1; i < len(kept); i++ { // the widened passages may overlap
		kept[i].Start = max(kept[i].Start, kept[i-1].End)
		kept[i].End = max(kept[i].End, kept[i].Start)
	}
	return kept
}

// widen adds sentences to a passage, up to most bytes: first those after it, which explain it more often, then those
// before it. The result does not end with a colon if that can be avoided.
func widen(sentences []sentence, core Passage, most int) Passage {
	p := core
	for _, s := range sentences {
		if s.start >= p.End && s.end-p.Start <= most {
			p.End = s.end
		}
	}
	for _, s := range slices.Backward(sentences) {
		if s.end <= p.Start && p.End-s.start <= most {
			p.Start = s.start
		}
	}
	return withoutColon(sentences, core, p, most)
}

// withoutColon returns the passage p without a colon at its end, as in "because:", if the text goes on there. It first
// tries to add the sentences after the colon, within limit bytes. For that it may drop sentences at the beginning of p,
// as few as possible, but not of core, which is a part of p. If that is not enough, it drops the sentence with the
// colon, unless core has it.
func withoutColon(sentences []sentence, core, p Passage, limit int) Passage {
	last := slices.IndexFunc(sentences, func(s sentence) bool { return s.end == p.End })
	if last < 0 || last+1 == len(sentences) || !sentences[last].endsColon {
		return p
	}
	next := sentences[last+1:]
	first := slices.IndexFunc(sentences, func(s sentence) bool { return s.start >= p.Start })
	for _, begin := range sentences[first : last+1] { // p may begin with each of its sentences
		if begin.start > core.Start {
			break // p would lose a sentence of the core
		}
		if next[0].end-begin.start <= limit {
			p.Start = begin.start
			for _, s := range next {
				if s.end-p.Start <= limit {
					p.End = s.end
				}
			}
			return p
		}
	}
	if p.End > core.End && last > first { // there is no room, and the core does not have the colon
		p.End = sentences[last-1].end
	}
	return p
}

// passageOf returns the passage from start to end with its value: the weight of each term in its sentences, once, and a
// share of the weights of two terms side by side, once for each pair.
func passageOf(sentences []sentence, start, end int, weights Weights) Passage {
	counted, countedPairs := map[string]bool{}, map[[2]string]bool{}
	p := Passage{Start: start, End: end}
	for _, s := range sentences {
		before := "" // the term just before t; empty for none
		for _, t := range s.terms {
			if t != "" && !counted[t] {
				counted[t] = true
				p.Value += weights[t]
			}
			pair, isPair := [2]string{before, t}, before != "" && t != "" && before != t
			if isPair && !countedPairs[pair] {
				countedPairs[pair] = true
				p.Beside += besideCounts * (weights[before] + weights[t])
			}
			before = t
		}
	}
	p.Value += p.Beside
	return p
}

// besideCounts is the share of the weights of two adjacent terms that their pair adds.
const besideCounts = 0.2

// readTerms sets the terms and the value of each sentence. The terms are the stems of the words that have a weight; the
// value is the sum of the weights of different terms. Words without a weight after a term become one empty term, so
// that the terms before and after are not adjacent. Function words, such as "the", become nothing.
func readTerms(r *terms.Reader, text []byte, sentences []sentence, weights Weights) {
	var begins [256]bool // the first bytes of terms with a weight: other ASCII words need not be stemmed
	for term := range weights {
		begins[term[0]] = true
	}
	for i := range sentences {
		s := &sentences[i]
		seen := map[string]bool{}
		r.Words(text[s.start:s.end], func(term []byte, _ int, inflected bool) {
			isAfterTerm := len(s.terms) > 0 && s.terms[len(s.terms)-1] != ""
			if mayHaveWeight := term[0] >= utf8.RuneSelf || begins[term[0]]; !isAfterTerm && !mayHaveWeight {
				return // the word becomes neither a term nor an empty term
			}
			if inflected {
				term = r.Stem(term)
			}
			weight, ok := weights[string(term)]
			switch {
			case ok:
				t := string(term)
				s.terms = append(s.terms, t)
				if !seen[t] {
					seen[t] = true
					s.value += weight
				}
			case isAfterTerm && !r.IsFunctionWord(string(term)):
				s.terms = append(s.terms, "")
			}
		})
	}
}

// divide splits a text into sentences: at line ends, and after a full stop, question mark or exclamation mark before
// white space. It splits a sentence of more than most bytes at white space, or between characters if there is none.
func divide(text []byte, most int) []sentence {
	var sentences []sentence
	for from := 0; from < len(text); {
		lineEnd := len(text)
		if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
			lineEnd = from + i
		}
		for from < lineEnd {
			begin, end := from, from+sentenceEnd(text[from:lineEnd], most)
			for begin < end && isSpace(text[begin]) {
				begin++
			}
			if begin < end {
				endsColon := bytes.HasSuffix(bytes.TrimRight(text[begin:end], " \t\r"), []byte(":"))
				sentences = append(sentences, sentence{start: begin, end: end, endsColon: endsColon})
			}
			from = end
		}
		from = lineEnd + 1
	}
	return sentences
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// sentenceEnd returns where the first sentence of a line ends. If that sentence has more than limit bytes, it returns
// where the last word within the limit ends, or if there is none, the last character.
func sentenceEnd(line []byte, limit int) int {
	space := 0 // the offset of the white space after the last word; 0 for none
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if i+size > limit && i > 0 {
			return cmp.Or(space, i) // i if there was no white space
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

// Excerpt is a passage without white space around it.
type Excerpt struct {
	Text          string
	Before, After bool // whether the text has more than white space before and after the passage
}

// Of returns the text of the passage.
func (p Passage) Of(text []byte) Excerpt {
	return Excerpt{
		Text:   strings.TrimSpace(strings.ToValidUTF8(string(text[p.Start:p.End]), "\ufffd")),
		Before: strings.TrimSpace(string(text[:p.Start])) != "", After: strings.TrimSpace(string(text[p.End:])) != "",
	}
}
