package index

import (
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/index/terms"
)

// postings are which documents have which grams, of grams with the same upper half or one of
// those that follow it: by the upper half, the lower half with the document below it. They are
// added in the order of the documents.
type postings struct {
	first   gram // of the first bucket
	buckets [][]uint32
	most    int // of a bucket, before what it has twice is dropped
}

// often is from when on a message has a term often. How often beyond that changes next to no
// ranking; the worth of the second list is where messages are ranked.
const often = 3

func (p *postings) add(g gram, document uint32) {
	b := &p.buckets[(g-p.first)>>16]
	if len(*b) == cap(*b) {
		*b = p.withRoom(*b)
	}
	*b = append(*b, uint32(g)<<16|document)
}

// withRoom returns a bucket that has room for more.
func (p *postings) withRoom(bucket []uint32) []uint32 {
	if len(bucket) >= p.most {
		bucket = compact(bucket)
	}
	if len(bucket) > cap(bucket)/2 || len(bucket) == 0 {
		bucket = slices.Grow(bucket, max(len(bucket)/2, 8))
	}
	return bucket
}

// compact leaves of equal postings no more than matter, so that what the lists of a text take does
// not grow with it where its grams are the same.
func compact(bucket []uint32) []uint32 {
	slices.Sort(bucket)
	kept := bucket[:0]
	for _, p := range bucket {
		if n := len(kept); n < often || kept[n-often] != p {
			kept = append(kept, p)
		}
	}
	return kept
}

// fewToSort is how many postings are sorted sooner by comparing them.
const fewToSort = 256

// sort sorts all postings by their grams. Those of a gram stay in the order of their documents.
func (p *postings) sort() {
	var spare []uint32
	for _, bucket := range p.buckets {
		if len(bucket) < fewToSort {
			slices.Sort(bucket)
			continue
		}
		spare = slices.Grow(spare[:0], len(bucket))[:len(bucket)]
		from, to := bucket, spare
		for shift := 16; shift < 32; shift += 8 {
			var at [256 + 1]int
			for _, p := range from {
				at[int(byte(p>>shift))+1]++
			}
			for i := range 256 {
				at[i+1] += at[i]
			}
			for _, p := range from {
				next := &at[byte(p>>shift)]
				to[*next] = p
				*next++
			}
			from, to = to, from
		}
	}
}

// write writes the lists of the documents that have a gram so many times or more, with what is
// more in their grams than in these.
func (p *postings) write(w *listWriter, times int, more gram) {
	var documents []uint16
	for i, bucket := range p.buckets {
		upper := p.first + gram(i)<<16 + more //nolint:gosec // a count
		for at := 0; at < len(bucket); {
			lower := bucket[at] >> 16
			documents = documents[:0]
			for ; at < len(bucket) && bucket[at]>>16 == lower; at++ {
				last := at + times - 1
				if last >= len(bucket) || bucket[last] != bucket[at] {
					continue
				}
				document := uint16(bucket[at]) //nolint:gosec // the lower half
				if n := len(documents); n == 0 || documents[n-1] != document {
					documents = append(documents, document)
				}
			}
			if len(documents) > 0 {
				w.add(upper|gram(lower), documents)
			}
		}
	}
}

// lists returns the lists of what a builder has, one writer after the other in the order of their
// grams. They are made in parts, by at most two processors, so that not too many postings are kept at a time.
func (b *builder) lists(reader *terms.Reader) []*listWriter {
	counts := b.countBytes()
	parts := [...]func(*listWriter){
		func(w *listWriter) { b.trigrams(w, counts, 0, 'c') },
		func(w *listWriter) { b.trigrams(w, counts, 'c', 'n') },
		func(w *listWriter) { b.trigrams(w, counts, 'n', 256) },
		b.charactersAndPairs,
		func(w *listWriter) { b.terms(w, reader) },
	}
	writers := make([]*listWriter, len(parts))
	next := make(chan int, len(parts))
	for n := range parts {
		next <- len(parts) - 1 - n
	}
	close(next)
	var workers sync.WaitGroup
	for range min(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for n := range next {
				writers[n] = &listWriter{documents: uint32(len(b.messages))} //nolint:gosec // a count
				parts[n](writers[n])
			}
		})
	}
	workers.Wait()
	return writers
}

// folded calls yield with the folded texts of all messages, each with end after it.
func (b *builder) folded(yield func(document uint32, text []byte)) {
	var text []byte
	for n := range b.messages {
		text = append(fold.Append(text[:0], b.messages[n].Text), end)
		yield(uint32(n), text) //nolint:gosec // a count
	}
}

// countBytes returns about how often folded texts have each byte.
func (b *builder) countBytes() (counts [256]int) {
	for i := range b.messages {
		for _, c := range b.messages[i].Text {
			counts[c]++
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		counts[c|0x20] += counts[c]
	}
	return counts
}

// trigrams writes the lists of trigrams that begin with some bytes, which there are so many of.
func (b *builder) trigrams(w *listWriter, counts [256]int, from, to int) {
	p := postings{gram(from) << 16, make([][]uint32, to-from), b.limits.postings} //nolint:gosec // a byte
	for c := from; c < to; c++ {
		p.buckets[c-from] = make([]uint32, 0, min(counts[c], p.most))
	}
	b.folded(func(document uint32, text []byte) {
		for i := 0; i+2 < len(text); i++ {
			if c := int(text[i]); from <= c && c < to {
				p.add(trigram(text[i], text[i+1], text[i+2]), document)
			}
		}
	})
	p.sort()
	p.write(w, 1, 0)
}

// charactersAndPairs writes the lists of these.
func (b *builder) charactersAndPairs(w *listWriter) {
	p := postings{oneByte, make([][]uint32, (pairs-oneByte)>>16+1), b.limits.postings}
	b.folded(func(document uint32, text []byte) {
		var has [256]bool
		text = text[:len(text)-1]
		for i, c := range text {
			if c < utf8.RuneSelf && !has[c] {
				has[c] = true
				p.add(oneByte|gram(c), document)
			}
			if c == ' ' || isThreeBytes(c) {
				if pair, _, ok := pairAt(text, i); ok {
					p.add(pair, document)
				}
			}
		}
	})
	p.sort()
	p.write(w, 1, 0)
}

// terms writes the lists of terms: of the documents that have one, and after all of these of
// those that have it often.
func (b *builder) terms(w *listWriter, reader *terms.Reader) {
	p := postings{hasTerm, make([][]uint32, (hasOften-hasTerm)>>16), b.limits.postings}
	const most = 1 << 15 // terms that are found before they are added, which takes another part of the memory
	var found []uint64
	for n := range b.messages {
		reader.Each(b.messages[n].Text, func(term []byte, _ int) {
			found = append(found, uint64(keyOf(term))<<16|uint64(n)) //nolint:gosec // a count
		})
		if len(found) < most && n+1 < len(b.messages) {
			continue
		}
		for _, f := range found {
			p.add(hasTerm|gram(f>>16), uint32(uint16(f))) //nolint:gosec // the parts
		}
		found = found[:0]
	}
	p.sort()
	p.write(w, 1, 0)
	p.write(w, often, hasOften-hasTerm)
}
