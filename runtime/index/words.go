package index

import (
	"slices"

	"github.com/convtools/convtools/runtime/index/terms"
)

// Terms have lists of their own, behind those of the grams: one of the documents that have a
// term, and one of those that have it often. How often beyond that changes
// next to no ranking; what the second list is worth is where messages are ranked.
const often = 3

// The keys of terms are 30 bits of a hash. Of a million terms about five hundred share a key
// with another one, which costs a place in a ranking and no match.
const (
	termBits      = 30
	hasTerm  gram = 2 << termBits
	hasOften gram = 3 << termBits
)

// keyOf returns the key of a term. None has all bits: behind the last list stands that number.
func keyOf(term []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, c := range term {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return min(uint32(h>>(64-termBits)), 1<<termBits-2) //nolint:gosec // 30 bits
}

// wordGatherer makes the lists of terms.
type wordGatherer struct {
	terms     *terms.Reader // nil until there is something to read
	found     []uint64      // keys, and below them documents, by documents
	sorted    []uint64
	counts    [1 << (termBits / 2)]uint32
	documents []uint16
	shards    []shard
}

// shardTerms is how many terms a shard has, about.
const shardTerms = 1 << 17

// index makes the shards of all documents of a builder.
func (w *wordGatherer) index(b *builder) {
	if w.terms == nil {
		w.terms = terms.NewReader(b.language)
	}
	w.shards, w.found = w.shards[:0], w.found[:0]
	from := 0
	all := len(b.added) + len(b.conversations)
	for n := range all {
		text := []byte(nil)
		if n < len(b.added) {
			text = b.added[n].text
		} else {
			text = []byte(b.conversations[n-len(b.added)].Title)
		}
		w.add(uint64(n-from), text) //nolint:gosec // a count
		if len(w.found) >= shardTerms || n+1-from == maxDocuments || n+1 == all {
			w.gather(uint32(from)) //nolint:gosec // a count
			from = n + 1
		}
	}
	if cap(w.found) > 8*shardTerms {
		w.found, w.sorted = nil, nil
	}
}

// add adds the terms of a document, each at most as often as it matters.
func (w *wordGatherer) add(document uint64, text []byte) {
	from := len(w.found)
	next := from + shardTerms
	w.terms.Each(text, func(term []byte, _ int) {
		if len(w.found) == next {
			w.compact(from)
			next = len(w.found) + shardTerms
		}
		w.found = append(w.found, uint64(keyOf(term))<<16|document)
	})
}

// compact leaves of the terms from a place on, of one document, no more than matter.
func (w *wordGatherer) compact(from int) {
	found := w.found[from:]
	slices.Sort(found)
	kept := found[:0]
	for _, f := range found {
		if n := len(kept); n < often || kept[n-often] != f {
			kept = append(kept, f)
		}
	}
	w.found = w.found[:from+len(kept)]
}

// gather makes the next shard, of documents from one on.
func (w *wordGatherer) gather(from uint32) {
	w.sort()
	n := len(w.shards)
	w.shards = slices.Grow(w.shards, 1)[:n+1]
	s := &w.shards[n]
	s.from, s.data = from, s.data[:0]
	w.list(s, 1)
	s.ends[0] = len(s.data)
	w.list(s, often)
	s.ends[1] = len(s.data)
	w.found = w.found[:0]
}

// sort sorts what was found by its keys: by the lower half of their bits, and then by the
// upper one. What has the same key stays in the order of the documents.
func (w *wordGatherer) sort() {
	w.sorted = slices.Grow(w.sorted[:0], len(w.found))[:len(w.found)]
	const half = termBits / 2
	for shift := 16; shift <= 16+half; shift += half {
		clear(w.counts[:])
		for _, f := range w.found {
			w.counts[f>>shift&(1<<half-1)]++
		}
		places(w.counts[:])
		for _, f := range w.found {
			at := &w.counts[f>>shift&(1<<half-1)]
			w.sorted[*at] = f
			*at++
		}
		w.found, w.sorted = w.sorted, w.found
	}
}

// list appends the lists of the documents that have a term so many times or more.
func (w *wordGatherer) list(s *shard, times int) {
	before := uint64(0)
	for i := 0; i < len(w.found); {
		key := w.found[i] >> 16
		w.documents = w.documents[:0]
		for ; i < len(w.found) && w.found[i]>>16 == key; i++ {
			if last := i + times - 1; last < len(w.found) && w.found[last] == w.found[i] {
				w.documents = append(w.documents, uint16(w.found[i])) //nolint:gosec // the lower bits
			}
		}
		if len(w.documents) > 0 {
			s.append(uint32(key-before), w.documents) //nolint:gosec // keys
			before = key
		}
	}
}
