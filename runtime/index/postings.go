package index

import (
	"slices"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// often is the number of times from which on a message has a term often. The exact number hardly changes a ranking.
const often = 3

// collector collects the documents of each gram. It numbers grams as they are found, so that nothing found needs
// sorting.
type collector struct {
	grams []gram
	found []uint32 // the grams of each document by their index in grams, one document after the other
	ends  []uint32 // by document: the end of its grams in found
}

// seen is a gram that may be in a collector: its number, from 1, or 0 if it is not there; and the last document with
// it, from 1.
type seen struct{ number, last uint32 }

// addGram adds a gram and returns its number, from 1.
func (c *collector) addGram(g gram) uint32 {
	c.grams = append(c.grams, g)
	return uint32(len(c.grams)) //nolint:gosec // a count
}

// document returns the current document, from 1.
func (c *collector) document() uint32 { return uint32(len(c.ends) + 1) } //nolint:gosec // a count

// addOnce adds a gram to the current document, unless the document has it.
func (c *collector) addOnce(s *seen, g gram, document uint32) {
	if s.last == document {
		return
	}
	if s.last = document; s.number == 0 {
		s.number = c.addGram(g)
	}
	c.found = append(c.found, s.number-1)
}

// endDocument ends the current document.
func (c *collector) endDocument() {
	c.ends = append(c.ends, uint32(len(c.found))) //nolint:gosec // a count
}

// write writes the lists of the grams that have documents, in the order of the grams. It sorts the documents by
// counting: next has for each gram the place of its next document.
func (c *collector) write(w *listWriter) {
	order := make([]uint64, len(c.grams)) // a gram in the upper half, and its index in the lower
	for n, g := range c.grams {
		order[n] = uint64(g)<<32 | uint64(n) //nolint:gosec // a count
	}
	slices.Sort(order)
	counts, next := make([]uint32, len(c.grams)), make([]uint32, len(c.grams))
	for _, n := range c.found {
		counts[n]++
	}
	total := uint32(0)
	for _, o := range order {
		next[uint32(o)] = total //nolint:gosec // the lower half
		total += counts[uint32(o)]
	}
	documents := make([]uint16, len(c.found))
	i := uint32(0)
	for document, end := range c.ends {
		for ; i < end; i++ {
			place := &next[c.found[i]]
			documents[*place] = uint16(document) //nolint:gosec // bounded by full
			*place++
		}
	}
	for _, o := range order {
		if n := uint32(o); counts[n] > 0 { //nolint:gosec // the lower half
			w.addList(gram(o>>32), documents[next[n]-counts[n]:next[n]]) //nolint:gosec // the upper half
		}
	}
}

func (b *builder) newLists() *listWriter {
	return &listWriter{documents: uint32(len(b.messages))} //nolint:gosec // a count
}

// writeGrams writes the lists of trigrams, and then of pairs.
func (b *builder) writeGrams(w *listWriter) {
	trigrams, pairs := collector{found: make([]uint32, 0, b.size/2)}, collector{} // about as many as are found
	var seenTrigrams [1 << 16]*[256]seen                                          // by the first two bytes, then by the third; made when needed
	var seenPairs [256]*[256]seen                                                 // by the upper byte of the pair's 16 bits, then by the lower
	var text []byte
	for n := range b.messages {
		text = append(fold.Append(text[:0], b.messages[n].Text), end, end)
		document := trigrams.document()
		for i := range len(text) - 2 {
			first, second, third := text[i], text[i+1], text[i+2]
			byThird := seenTrigrams[int(first)<<8|int(second)]
			if byThird == nil {
				byThird = new([256]seen)
				seenTrigrams[int(first)<<8|int(second)] = byThird
			}
			if byThird[third].last != document { // saves the call
				trigrams.addOnce(&byThird[third], trigram(first, second, third), document)
			}
			if first != ' ' && !isThreeBytes(first) {
				continue // no pair is here
			}
			if pair, _, ok := pairAt(text[:len(text)-2], i); ok {
				byLower := seenPairs[byte(pair>>8)]
				if byLower == nil {
					byLower = new([256]seen)
					seenPairs[byte(pair>>8)] = byLower
				}
				pairs.addOnce(&byLower[byte(pair)], pair, document)
			}
		}
		trigrams.endDocument()
		pairs.endDocument()
	}
	trigrams.write(w)
	pairs.write(w)
}

// writeTerms writes the lists of terms: first for messages that have a term, then for messages that have it often.
func (b *builder) writeTerms(w *listWriter, reader *terms.Reader) {
	present, frequent := collector{found: make([]uint32, 0, b.size/8)}, collector{}
	var terms []term                                         // by number
	numbers, words := map[gram]uint32{}, map[uint64]uint32{} // by the keys of terms, and by the hashes of words
	var recent [1 << 12]struct {                             // a small cache of words
		hash   uint64
		number uint32
	}
	// numberOf returns the number of a term, from 1.
	numberOf := func(word []byte) uint32 {
		key := keyOf(hashOf(word))
		if numbers[key] == 0 {
			numbers[key] = present.addGram(hasTerm | key)
			frequent.addGram(hasOften | key) // the same number as in present
			terms = append(terms, term{})
		}
		return numbers[key]
	}
	for n := range b.messages {
		document := present.document()
		reader.Words(b.messages[n].Text, func(word []byte, _ int, isInflected bool) {
			hash := hashOf(word)
			if isInflected {
				hash = ^hash // the same bytes can also be a word that is not stemmed
			}
			cached := &recent[hash%uint64(len(recent))]
			if cached.hash != hash {
				cached.hash, cached.number = hash, words[hash]
			}
			if cached.number == 0 {
				if isInflected {
					word = reader.Stem(word)
				}
				cached.number = numberOf(word)
				words[hash] = cached.number
			}
			number := cached.number
			t := &terms[number-1]
			if t.last != document {
				*t = term{last: document}
				present.found = append(present.found, number-1)
			}
			if t.times++; t.times == often {
				frequent.found = append(frequent.found, number-1)
			}
		})
		present.endDocument()
		frequent.endDocument()
	}
	present.write(w)
	frequent.write(w)
}

// term has the last document with a term, from 1, and the number of times in it so far.
type term struct{ last, times uint32 }
