package index

import (
	"hash/maphash"
	"slices"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// often is the number of times from which on a message has a term often. The exact number hardly changes a ranking.
const often = 3

// collector collects the documents of each gram, for one segment after the other. It numbers grams as they are found,
// so that nothing found needs sorting. Its arrays are used again for the next segment.
type collector struct {
	grams []gram
	found []uint16 // the grams of each document by their index in grams, one document after the other
	ends  []uint32 // by document: the end of its grams in found

	// The arrays of write.
	order     []uint64
	next      []uint32
	documents []uint16
	lists     listWriter
}

// wide is in found before the two halves of an index that is not below wide. Common grams have low indexes.
const wide = 1<<16 - 1

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

// addOnce adds a gram to the current document, unless the document has it. s is what is known of the gram.
func (c *collector) addOnce(s *seen, g gram, document uint32) {
	if s.last == document {
		return
	}
	s.last = document
	if isNew := s.number == 0; isNew {
		s.number = c.addGram(g)
	}
	c.add(s.number - 1) // numbers are from 1, indexes from 0
}

// add adds a gram, by its index, to the current document, which must not have it.
func (c *collector) add(index uint32) {
	if index < wide {
		c.found = append(c.found, uint16(index)) //nolint:gosec // below wide
	} else {
		c.found = append(c.found, wide, uint16(index>>16), uint16(index)) //nolint:gosec // the halves
	}
}

// indexAt returns the index of a gram at a place of found, and the next place.
func (c *collector) indexAt(place int) (index uint32, next int) {
	if index := c.found[place]; index != wide {
		return uint32(index), place + 1
	}
	return uint32(c.found[place+1])<<16 | uint32(c.found[place+2]), place + 3
}

// endDocument ends the current document.
func (c *collector) endDocument() {
	c.ends = append(c.ends, uint32(len(c.found))) //nolint:gosec // a count
}

// write returns a writer with the lists of the grams that have documents, in the order of the grams, and empties the
// collector. The writer is valid until the next call. found has the grams of each document; write sorts them into the
// documents of each gram, by counting.
func (c *collector) write() *listWriter {
	counts := resized(c.next, len(c.grams)) // the number of documents of each gram
	clear(counts)
	for index, place := uint32(0), 0; place < len(c.found); {
		index, place = c.indexAt(place)
		counts[index]++
	}
	c.order = c.order[:0] // of each gram with documents: the gram in the upper half, its index in the lower
	for index, g := range c.grams {
		if counts[index] > 0 {
			c.order = append(c.order, uint64(g)<<32|uint64(index)) //nolint:gosec // a count
		}
	}
	slices.Sort(c.order)
	next, total := counts, uint32(0) // the counts become the places of the next documents of each gram
	for _, o := range c.order {
		index := uint32(o) //nolint:gosec // the lower half
		next[index], total = total, total+counts[index]
	}
	documents := resized(c.documents, int(total)) // those of the first gram, then those of the second
	index, place := uint32(0), 0
	for document, end := range c.ends {
		for place < int(end) {
			index, place = c.indexAt(place)
			documents[next[index]] = uint16(document) //nolint:gosec // bounded by full
			next[index]++
		}
	}
	c.lists.reset(len(c.ends))
	from := uint32(0)
	for _, o := range c.order {
		to := next[uint32(o)]                            //nolint:gosec // the lower half; to is after the gram's last document
		c.lists.addList(gram(o>>32), documents[from:to]) //nolint:gosec // the upper half
		from = to
	}
	c.next, c.documents = next, documents
	c.grams, c.found, c.ends = c.grams[:0], c.found[:0], c.ends[:0]
	return &c.lists
}

// resized returns a slice of a length, in the array of the given one if that is large enough. It has any values.
func resized[T any](s []T, length int) []T { return slices.Grow(s[:0], length)[:length] }

// gramCollector collects the trigrams and the pairs of segments, one after the other.
type gramCollector struct {
	trigrams, pairs collector
	seenTrigrams    [1 << 16]*[256]seen // by the first two bytes, then by the third; made when needed
	seenPairs       [1 << pairBits]seen
	text            []byte
}

// lists returns writers with the lists of the grams of a segment. They are valid until the next call.
func (c *gramCollector) lists(b *builder) []*listWriter {
	c.trigrams.found = slices.Grow(c.trigrams.found, b.size/2) // about as many as are found
	clear(c.seenPairs[:])
	for _, byThird := range c.seenTrigrams[:] {
		if byThird != nil {
			clear(byThird[:])
		}
	}
	for n := range b.messages {
		c.text = append(fold.Append(c.text[:0], b.messages[n].Text), end, end)
		c.collect(c.text)
	}
	return []*listWriter{c.trigrams.write(), c.pairs.write()}
}

// collect adds the grams of a document to the collectors. text is the document's folded text, then the byte end twice.
func (c *gramCollector) collect(text []byte) {
	trigrams := &c.trigrams
	document := trigrams.document()
	for i := range len(text) - 2 {
		first, second, third := text[i], text[i+1], text[i+2]
		byThird := c.seenTrigrams[int(first)<<8|int(second)]
		if byThird == nil {
			byThird = new([256]seen)
			c.seenTrigrams[int(first)<<8|int(second)] = byThird
		}
		s := &byThird[third]
		if index := s.number - 1; index < wide {
			// The index is added, and removed again if it is not new. A branch would often be predicted wrongly.
			differs := s.last ^ document // 0 if the document has the gram already
			s.last = document
			trigrams.found = append(trigrams.found, uint16(index)) //nolint:gosec // below wide
			isNew := int((differs | -differs) >> 31)               // 0 if differs is 0, otherwise 1
			trigrams.found = trigrams.found[:len(trigrams.found)-1+isNew]
		} else {
			trigrams.addOnce(s, trigram(first, second, third), document)
		}
		if first != ' ' && !isThreeBytes(first) {
			continue // no pair is here
		}
		if pair, _, ok := pairAt(text[:len(text)-2], i); ok {
			c.pairs.addOnce(&c.seenPairs[pair-pairs], pair, document)
		}
	}
	trigrams.endDocument()
	c.pairs.endDocument()
}

// termCollector collects the terms of segments, one after the other.
type termCollector struct {
	*terms.Reader
	present, frequent collector       // with the same numbers
	terms             []term          // by number, from 1
	numbers           map[gram]uint32 // from 1, by the keys of terms
	seed              maphash.Seed
	words             [1 << 17]word // a cache of words, by their hashes
}

// term has the last document with a term, from 1, and the number of times in it so far.
type term struct{ last, times uint32 }

// word has the key of the term of a word, and its number in the segment: 0 if no message has had the word.
type word struct {
	hash   uint64
	key    gram
	number uint32
}

// lists returns writers with the lists of the terms of a segment: first of the messages that have a term, then of those
// that have it often. They are valid until the next call.
func (c *termCollector) lists(b *builder) []*listWriter {
	c.present.found = slices.Grow(c.present.found, b.size/8)
	c.terms = c.terms[:0]
	clear(c.numbers)
	for i := range c.words {
		c.words[i].number = 0
	}
	for n := range b.messages {
		document := c.present.document()
		c.Words(b.messages[n].Text, func(word []byte, _ int, isInflected bool) {
			number := c.number(word, isInflected)
			t := &c.terms[number-1]
			if t.last != document {
				*t = term{last: document}
				c.present.add(number - 1)
			}
			if t.times++; t.times == often {
				c.frequent.add(number - 1)
			}
		})
		c.present.endDocument()
		c.frequent.endDocument()
	}
	return []*listWriter{c.present.write(), c.frequent.write()}
}

// number returns the number of the term of a word, from 1. It looks for the word in a table of recent words first.
func (c *termCollector) number(text []byte, isInflected bool) uint32 {
	hash := maphash.Bytes(c.seed, text)
	if isInflected {
		hash = ^hash // the same bytes can also be a word that is not stemmed
	}
	w := &c.words[hash%uint64(len(c.words))]
	if w.hash != hash {
		if isInflected {
			text = c.Stem(text)
		}
		*w = word{hash: hash, key: keyOf(hashOf(text))}
	}
	if w.number == 0 {
		w.number = c.addTerm(w.key)
	}
	return w.number
}

// addTerm returns the number of the term with a key, from 1. A new term is added to two collectors, with the same
// number: to present for the messages that have the term, and to frequent for those that often have it.
func (c *termCollector) addTerm(key gram) uint32 {
	number := c.numbers[key]
	if number == 0 {
		number = c.present.addGram(hasTerm | key) // hasTerm and hasOften make the grams of the two lists differ
		c.frequent.addGram(hasOften | key)
		c.terms = append(c.terms, term{})
		c.numbers[key] = number
	}
	return number
}
