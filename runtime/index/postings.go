package index

import (
	"cmp"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// often is from when on a message has a term often. How often beyond that changes next to no
// ranking; the worth of the second list is where messages are ranked.
const often = 3

// collector collects which documents have the grams of one kind. Grams are numbered as they are
// first found, so that their lists are made without sorting what was found.
type collector struct {
	grams []collected
	found []uint32 // numbers of grams, each once for a document, document by document
	ends  []uint32 // by document: where its numbers end in found
}

// collected is what is known of a gram.
type collected struct {
	gram
	count uint32 // of documents that have it
	times uint32 // that the last one of them has it
	last  uint32 // this document, from 1; then where the next document is written
}

// number makes another gram one of the collector, and returns its number.
func (c *collector) number(g gram) uint32 {
	c.grams = append(c.grams, collected{gram: g})
	return uint32(len(c.grams) - 1) //nolint:gosec // a count
}

// add adds that the document that is being read has a gram, by its number, and returns how often
// it has it so far.
func (c *collector) add(number uint32) (times uint32) {
	g := &c.grams[number]
	if document := uint32(len(c.ends) + 1); g.last != document { //nolint:gosec // a count
		g.last, g.times = document, 0
		g.count++
		c.found = append(c.found, number)
	}
	g.times++
	return g.times
}

// end ends a document.
func (c *collector) end() {
	c.ends = append(c.ends, uint32(len(c.found))) //nolint:gosec // a count
}

// write writes the lists in the order of their grams.
func (c *collector) write(w *listWriter) {
	order := make([]*collected, len(c.grams))
	for n := range c.grams {
		order[n] = &c.grams[n]
	}
	slices.SortFunc(order, func(a, b *collected) int { return cmp.Compare(a.gram, b.gram) })
	at := uint32(0)
	for _, g := range order {
		g.last = at
		at += g.count
	}
	documents := make([]uint16, len(c.found))
	at = 0
	for document, end := range c.ends {
		for ; at < end; at++ {
			g := &c.grams[c.found[at]]
			documents[g.last] = uint16(document) //nolint:gosec // bounded by full
			g.last++
		}
	}
	for _, g := range order {
		if g.count > 0 {
			w.add(g.gram, documents[g.last-g.count:g.last])
		}
	}
}

// lists returns the lists of what a builder has, one writer after the other in the order of their
// grams: half of the work is beside the other half.
func (b *builder) lists(reader *terms.Reader) (writers [2]*listWriter) {
	for i := range writers {
		writers[i] = &listWriter{documents: uint32(len(b.messages))} //nolint:gosec // a count
	}
	var making sync.WaitGroup
	making.Go(func() { b.terms(writers[1], reader) })
	b.grams(writers[0])
	making.Wait()
	return writers
}

// grams writes the lists of trigrams, and then of pairs.
func (b *builder) grams(w *listWriter) {
	trigrams, pairs := collector{found: make([]uint32, 0, b.size/2)}, collector{} // which is about how many there are
	var places [1 << 16]*[256]uint32                                              // by the first two bytes and the third: the number from 1
	var pairPlaces [1 << 16]uint32
	var text []byte
	for n := range b.messages {
		text = append(fold.Append(text[:0], b.messages[n].Text), end, end)
		for i := range len(text) - 2 {
			place := &places[int(text[i])<<8|int(text[i+1])]
			if *place == nil {
				*place = new([256]uint32)
			}
			number := &(*place)[text[i+2]]
			if *number == 0 {
				*number = trigrams.number(trigram(text[i], text[i+1], text[i+2])) + 1
			}
			trigrams.add(*number - 1)
			if pair, _, ok := pairAt(text[:len(text)-2], i); ok {
				number := &pairPlaces[pair&0xFFFF]
				if *number == 0 {
					*number = pairs.number(pair) + 1
				}
				pairs.add(*number - 1)
			}
		}
		trigrams.end()
		pairs.end()
	}
	trigrams.write(w)
	pairs.write(w)
}

// terms writes the lists of terms: of the documents that have one, and after all of these of
// those that have it often.
func (b *builder) terms(w *listWriter, reader *terms.Reader) {
	var all, frequent collector
	numbers, inflected := map[gram]uint32{}, map[string]uint32{} // by their keys, and by a word that has the stem
	numberOf := func(term []byte) uint32 {
		key := keyOf(term)
		n, ok := numbers[key]
		if !ok {
			n = all.number(hasTerm | key)
			frequent.number(hasOften | key)
			numbers[key] = n
		}
		return n
	}
	stemmed := func(word []byte) uint32 {
		n, ok := inflected[string(word)]
		if !ok {
			n = numberOf(reader.Stem(word))
			if len(inflected) < maxWords {
				inflected[string(word)] = n
			}
		}
		return n
	}
	for n := range b.messages {
		reader.Words(b.messages[n].Text, func(word []byte, _ int, isInflected bool) {
			number := numberOf
			if isInflected {
				number = stemmed
			}
			if n := number(word); all.add(n) == often {
				frequent.add(n)
			}
		})
		all.end()
		frequent.end()
	}
	all.write(w)
	frequent.write(w)
}

// maxWords is of how many words of a segment the stem is looked up once.
const maxWords = 1 << 17
