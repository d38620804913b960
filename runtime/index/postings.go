package index

import (
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// posting is the lower bits of a gram, and below them, in 16 bits, a document that has it. Postings
// are found in the order of the documents, one as often as the document has the gram.
type posting interface{ uint32 | uint64 }

// often is from when on a message has a term often. How often beyond that changes next to no
// ranking; the worth of the second list is where messages are ranked.
const often = 3

// withRoom returns postings with room for one more. Of equal ones, where there are so many that
// they take much memory, no more than matter are kept: what the lists of a text take does not grow
// with it where its grams are the same.
func withRoom[T posting](all []T, most int) []T {
	if len(all) >= most {
		slices.Sort(all)
		kept := all[:0]
		for _, p := range all {
			if n := len(kept); n < often || kept[n-often] != p {
				kept = append(kept, p)
			}
		}
		all = kept
	}
	return slices.Grow(all, max(8, len(all)/2))
}

// fewPostings is how many are sorted sooner by comparing them.
const fewPostings = 256

// sortPostings sorts postings by their grams, of which there are some bits. Those of a gram stay in the
// order of their documents.
func sortPostings[T posting](all, spare []T, bits int) []T {
	if len(all) < fewPostings {
		slices.Sort(all)
		return all
	}
	half := (bits + 1) / 2
	mask := T(1)<<half - 1
	spare = slices.Grow(spare[:0], len(all))[:len(all)]
	for shift := 16; shift < 16+bits; shift += half {
		at := make([]int, mask+2)
		for _, p := range all {
			at[p>>shift&mask+1]++
		}
		for i := range len(at) - 1 {
			at[i+1] += at[i]
		}
		for _, p := range all {
			next := &at[p>>shift&mask]
			spare[*next] = p
			*next++
		}
		all, spare = spare, all
	}
	return all
}

// addPostings adds the lists of the documents that have a gram so many times or more, of sorted
// postings. Their grams are these bits, and base.
func addPostings[T posting](w *listWriter, sorted []T, base gram, times int) {
	var documents []uint16
	for at := 0; at < len(sorted); {
		g := sorted[at] >> 16
		documents = documents[:0]
		for ; at < len(sorted) && sorted[at]>>16 == g; at++ {
			p, first := sorted[at], at+1-times // of equal ones, where this is the last of so many
			if first >= 0 && sorted[first] == p && (first == 0 || sorted[first-1] != p) {
				documents = append(documents, uint16(p)) //nolint:gosec // the lower bits
			}
		}
		if len(documents) > 0 {
			w.add(base|gram(g), documents) //nolint:gosec // bits of a gram
		}
	}
}

// lists returns the lists of what a builder has, one writer after the other in the order of their
// grams. They are made in parts, two at a time: each part takes much memory.
func (b *builder) lists(reader *terms.Reader) []*listWriter {
	parts := [...]func(*listWriter){
		func(w *listWriter) { b.trigrams(w, 0, 'a') },
		func(w *listWriter) { b.trigrams(w, 'a', 'e') },
		func(w *listWriter) { b.trigrams(w, 'e', 'i') },
		func(w *listWriter) { b.trigrams(w, 'i', 'o') },
		func(w *listWriter) { b.trigrams(w, 'o', 't') },
		func(w *listWriter) { b.trigrams(w, 't', 256) },
		b.pairs,
		func(w *listWriter) { b.terms(w, reader) },
	}
	writers := make([]*listWriter, len(parts))
	var making sync.WaitGroup
	atOnce := make(chan struct{}, 2)
	for n, make := range parts {
		writers[n] = &listWriter{documents: uint32(len(b.messages))} //nolint:gosec // a count
		making.Go(func() {
			atOnce <- struct{}{}
			make(writers[n])
			<-atOnce
		})
	}
	making.Wait()
	return writers
}

// folded calls yield with the folded texts of all messages, each with end twice after it.
func (b *builder) folded(yield func(document uint32, text []byte)) {
	var text []byte
	for n := range b.messages {
		text = append(fold.Append(text[:0], b.messages[n].Text), end, end)
		yield(uint32(n), text) //nolint:gosec // a count
	}
}

// trigrams writes the lists of trigrams that begin with some bytes.
func (b *builder) trigrams(w *listWriter, from, to int) {
	var counts [256]int
	b.folded(func(_ uint32, text []byte) {
		for _, c := range text {
			counts[c]++
		}
	})
	var found [256][]uint32 // by the first byte
	most, sum := 0, 0
	for c := from; c < to; c++ {
		counts[c] = min(counts[c], b.limits.postings)
		sum += counts[c]
		most = max(most, counts[c])
	}
	room := make([]uint32, sum+most)
	for c := from; c < to; c++ {
		found[c], room = room[:0:counts[c]], room[counts[c]:]
	}
	b.folded(func(document uint32, text []byte) {
		for i := 0; i+2 < len(text); i++ {
			c := text[i]
			if int(c) < from || int(c) >= to {
				continue
			}
			of := found[c]
			if len(of) == cap(of) {
				of = withRoom(of, b.limits.postings)
			}
			found[c] = append(of, uint32(text[i+1])<<24|uint32(text[i+2])<<16|document)
		}
	})
	for c := from; c < to; c++ {
		addPostings(w, sortPostings(found[c], room, 16), trigram(byte(c), 0, 0), 1) //nolint:gosec // a byte
	}
}

// pairs writes the lists of pairs.
func (b *builder) pairs(w *listWriter) {
	var found []uint32
	b.folded(func(document uint32, text []byte) {
		text = text[:len(text)-2]
		for i := range text {
			pair, _, ok := pairAt(text, i)
			if !ok {
				continue
			}
			if len(found) == cap(found) {
				found = withRoom(found, b.limits.postings)
			}
			found = append(found, uint32(pair)<<16|document)
		}
	})
	addPostings(w, sortPostings(found, nil, 16), pairs, 1)
}

// terms writes the lists of terms: of the documents that have one, and after all of these of
// those that have it often.
func (b *builder) terms(w *listWriter, reader *terms.Reader) {
	found := make([]uint64, 0, min(b.size/5, b.limits.postings)) // which is about how many there are
	for n := range b.messages {
		reader.Each(b.messages[n].Text, func(term []byte, _ int) {
			if len(found) == cap(found) {
				found = withRoom(found, b.limits.postings)
			}
			found = append(found, uint64(keyOf(term))<<16|uint64(n)) //nolint:gosec // a count
		})
	}
	found = sortPostings(found, nil, termBits)
	addPostings(w, found, hasTerm, 1)
	addPostings(w, found, hasOften, often)
}
