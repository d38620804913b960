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
	found []uint32 // numbers of the grams of each document, one document after the other
	ends  []uint32 // by document: the end of its numbers in found
}

// place has the number of a gram, from 1, and the last document with it, from 1.
type place struct{ number, last uint32 }

// number adds a gram and returns its number, from 1.
func (c *collector) number(g gram) uint32 {
	c.grams = append(c.grams, g)
	return uint32(len(c.grams)) //nolint:gosec // a count
}

// document returns the current document, from 1.
func (c *collector) document() uint32 { return uint32(len(c.ends) + 1) } //nolint:gosec // a count

// add adds a gram of a document, once.
func (c *collector) add(p *place, g gram, document uint32) {
	if p.last == document {
		return
	}
	if p.last = document; p.number == 0 {
		p.number = c.number(g)
	}
	c.found = append(c.found, p.number-1)
}

// end ends the current document.
func (c *collector) end() {
	c.ends = append(c.ends, uint32(len(c.found))) //nolint:gosec // a count
}

// write writes the lists in the order of the grams.
func (c *collector) write(w *listWriter) {
	order := make([]uint64, len(c.grams))
	for n, g := range c.grams {
		order[n] = uint64(g)<<32 | uint64(n) //nolint:gosec // a count
	}
	slices.Sort(order)
	counts, next := make([]uint32, len(c.grams)), make([]uint32, len(c.grams)) // next is the place of the next document of a gram
	for _, n := range c.found {
		counts[n]++
	}
	at := uint32(0)
	for _, o := range order {
		next[uint32(o)] = at //nolint:gosec // the lower half
		at += counts[uint32(o)]
	}
	documents := make([]uint16, len(c.found))
	at = 0
	for document, end := range c.ends {
		for ; at < end; at++ {
			to := &next[c.found[at]]
			documents[*to] = uint16(document) //nolint:gosec // bounded by full
			*to++
		}
	}
	for _, o := range order {
		if n := uint32(o); counts[n] > 0 { //nolint:gosec // the lower half
			w.add(gram(o>>32), documents[next[n]-counts[n]:next[n]]) //nolint:gosec // the upper half
		}
	}
}

func (b *builder) newLists() *listWriter {
	return &listWriter{documents: uint32(len(b.messages))} //nolint:gosec // a count
}

// grams writes the lists of trigrams, and then of pairs.
func (b *builder) grams(w *listWriter) {
	trigrams, pairs := collector{found: make([]uint32, 0, b.size/2)}, collector{} // about as many as are found
	var places [1 << 16]*[256]place                                               // by the first two bytes, then by the third
	var pairPlaces [1 << 16]place
	var text []byte
	for n := range b.messages {
		text = append(fold.Append(text[:0], b.messages[n].Text), end, end)
		document := trigrams.document()
		for i := range len(text) - 2 {
			first, second, third := text[i], text[i+1], text[i+2]
			of := places[int(first)<<8|int(second)]
			if of == nil {
				of = new([256]place)
				places[int(first)<<8|int(second)] = of
			}
			if of[third].last != document {
				trigrams.add(&of[third], trigram(first, second, third), document)
			}
			if first != ' ' && !isThreeBytes(first) {
				continue
			}
			if pair, _, ok := pairAt(text[:len(text)-2], i); ok {
				pairs.add(&pairPlaces[pair&0xFFFF], pair, document)
			}
		}
		trigrams.end()
		pairs.end()
	}
	trigrams.write(w)
	pairs.write(w)
}

// terms writes the lists of terms: first for messages that have a term, then for messages that have it often.
func (b *builder) terms(w *listWriter, reader *terms.Reader) {
	all, frequent := collector{found: make([]uint32, 0, b.size/8)}, collector{}
	var terms []term                                         // by number
	numbers, words := map[gram]uint32{}, map[uint64]uint32{} // by the keys of terms, and by the hashes of words
	var recent [1 << 12]struct {                             // a small cache of words
		hash   uint64
		number uint32
	}
	numberOf := func(word []byte) uint32 {
		key := keyOf(hashOf(word))
		if numbers[key] == 0 {
			numbers[key] = all.number(hasTerm | key)
			frequent.number(hasOften | key)
			terms = append(terms, term{})
		}
		return numbers[key]
	}
	for n := range b.messages {
		document := all.document()
		reader.Words(b.messages[n].Text, func(word []byte, _ int, isInflected bool) {
			hash := hashOf(word)
			if isInflected {
				hash = ^hash
			}
			last := &recent[hash%uint64(len(recent))]
			if last.hash != hash {
				last.hash, last.number = hash, words[hash]
			}
			if last.number == 0 {
				if isInflected {
					word = reader.Stem(word)
				}
				last.number = numberOf(word)
				words[hash] = last.number
			}
			number := last.number
			t := &terms[number-1]
			if t.last != document {
				*t = term{last: document}
				all.found = append(all.found, number-1)
			}
			if t.times++; t.times == often {
				frequent.found = append(frequent.found, number-1)
			}
		})
		all.end()
		frequent.end()
	}
	all.write(w)
	frequent.write(w)
}

// term has the last document with a term, from 1, and the number of times in it so far.
type term struct{ last, times uint32 }
