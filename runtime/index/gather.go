package index

import (
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// shard is the lists of what some folded texts have. Shards follow each other: the last document
// of one may be the first one of the next.
type shard struct {
	from uint32 // the first document
	// data has the lists: what the key of one is more than the one before in its part, and the
	// differences of its documents, the first one from -1, each as a varint, and behind them a 0.
	data []byte
	ends [parts]int // of the parts in data; of the lists of terms the first two
}

// The grams are parted by the first byte of a trigram; ASCII characters are one more part, and
// pairs another one. In a part there are 16 bits of a gram left, its key.
const (
	bytesPart = 256
	pairsPart = bytesPart + 1
	parts     = pairsPart + 1
)

// firstOf returns what grams of a part have above their keys.
func firstOf(part int) gram {
	switch {
	case part < bytesPart:
		return gram(part) << 16 //nolint:gosec // a byte
	case part == bytesPart:
		return oneByte
	}
	return pairs
}

// maxDocuments is how many documents a shard has at the most, so that one is told by 16 bits.
const maxDocuments = 1 << 16

// gatherer makes shards, one after the other, of one segment at a time. What it takes is bounded
// by how long the text of a shard is, which may be a part of a document.
type gatherer struct {
	sync.Mutex
	from   uint32 // the first document
	folded []byte // documents that follow each other, with end behind each
	ends   []int  // of the documents in folded

	// found are the trigrams by their first two bytes, as the third one with the document below
	// it, and counts says how many there are, and then where the next one stands.
	found      []uint32
	counts     [1 << 16]uint32
	pairs      []uint32 // keys with documents below them, by documents
	pairCounts [1 << 16]uint32
	characters [utf8.RuneSelf][]uint16 // the documents of each
	last       [256]uint32             // the last document that has a byte, and one more
	documents  []uint16                // of some lists
}

// add adds the next document.
func (g *gatherer) add(text []byte) {
	g.folded = append(fold.Append(g.folded, text), end)
	g.ends = append(g.ends, len(g.folded))
}

// reset empties the gatherer. It keeps the memory, unless that is much more than usual bytes of
// text take.
func (g *gatherer) reset(from uint32, usual int) {
	g.from, g.folded, g.ends = from, g.folded[:0], g.ends[:0]
	if cap(g.folded) > 4*usual {
		g.folded = nil
	}
}

// gather makes the shard of the grams that begin in a part of the text.
func (g *gatherer) gather(s *shard, from, to int) {
	first, _ := slices.BinarySearch(g.ends, from+1)
	s.from, s.data = g.from+uint32(first), s.data[:0] //nolint:gosec // a count
	g.count(first, from, to)
	g.sort(first, from, to)
	at := uint32(0)
	for part := range bytesPart {
		before := uint32(0)
		for second := range uint32(256) {
			next := g.counts[uint32(part)<<8|second] //nolint:gosec // a byte
			if next > at {
				before = g.appendTrigrams(s, g.found[at:next], second<<8, before)
			}
			at = next
		}
		s.ends[part] = len(s.data)
	}
	before := uint32(0)
	for c := range g.characters {
		if documents := g.characters[c]; len(documents) > 0 {
			s.append(uint32(c)-before, documents) //nolint:gosec // a byte
			before = uint32(c)                    //nolint:gosec // a byte
		}
	}
	s.ends[bytesPart] = len(s.data)
	g.appendPairs(s)
	s.ends[pairsPart] = len(s.data)
}

// each calls yield with the documents in a part of the text: the first byte, where the text
// ends, where what is in the part begins, and where it ends.
func (g *gatherer) each(first, from, to int, yield func(document uint32, begin, end, at, until int)) {
	for n := first; n < len(g.ends); n++ {
		begin := 0
		if n > 0 {
			begin = g.ends[n-1]
		}
		if begin >= to {
			return
		}
		end := g.ends[n] - 1
		yield(uint32(n-first), begin, end, max(begin, from), min(end, to)) //nolint:gosec // a count
	}
}

// count counts the trigrams, and gathers all other grams.
func (g *gatherer) count(first, from, to int) {
	clear(g.counts[:])
	clear(g.last[:])
	g.pairs = g.pairs[:0]
	for c := range g.characters {
		g.characters[c] = g.characters[c][:0]
	}
	g.each(first, from, to, func(document uint32, begin, end, at, until int) {
		text := g.folded[begin:end]
		for i := at; i < until; i++ {
			c := g.folded[i]
			if g.last[c] != document+1 {
				g.last[c] = document + 1
				if c < utf8.RuneSelf {
					g.characters[c] = append(g.characters[c], uint16(document)) //nolint:gosec // below maxDocuments
				}
			}
			if c == ' ' || isThreeBytes(c) {
				if pair, _, ok := pairAt(text, i-begin); ok {
					g.pairs = append(g.pairs, uint32(pair&^pairs)<<16|document)
				}
			}
			g.counts[uint32(c)<<8|uint32(g.folded[i+1])]++
		}
		if at < until && until == end { // nothing begins with the last byte
			g.counts[uint32(g.folded[end-1])<<8|uint32(g.folded[end])]--
		}
	})
}

// sort sorts the trigrams by their first two bytes. Those with the same ones stay in the order
// of their documents.
func (g *gatherer) sort(first, from, to int) {
	sum := uint32(0)
	for i, n := range g.counts {
		g.counts[i] = sum
		sum += n
	}
	g.found = slices.Grow(g.found[:0], int(sum))[:sum]
	g.each(first, from, to, func(document uint32, _, end, at, until int) {
		until = min(until, end-1)
		if at >= until {
			return
		}
		text := g.folded[at : until+2]
		two := uint32(text[0])
		for i := 2; i < len(text); i++ {
			two = (two<<8 | uint32(text[i-1])) & 0xFFFF
			place := &g.counts[two]
			g.found[*place] = uint32(text[i])<<16 | document
			*place++
		}
	})
}

// fewTrigrams is how many are sorted sooner by comparing them.
const fewTrigrams = 32

// appendTrigrams appends the lists of trigrams with the same first two bytes. It returns the key
// of the last one; upper is what the keys have above the third byte, and before the key of the
// list before.
func (g *gatherer) appendTrigrams(s *shard, found []uint32, upper, before uint32) uint32 {
	g.documents = slices.Grow(g.documents[:0], len(found))[:len(found)]
	if len(found) < fewTrigrams {
		slices.Sort(found)
		for i, f := range found {
			g.documents[i] = uint16(f) //nolint:gosec // the lower half
		}
		for i := 0; i < len(found); {
			third, from := found[i]>>16, i
			for i < len(found) && found[i]>>16 == third {
				i++
			}
			s.append(upper|third-before, g.documents[from:i])
			before = upper | third
		}
		return before
	}
	var ends [256]uint32
	for _, f := range found {
		ends[byte(f>>16)]++
	}
	places(ends[:])
	for _, f := range found {
		at := &ends[byte(f>>16)]
		g.documents[*at] = uint16(f) //nolint:gosec // the lower half
		*at++
	}
	at := uint32(0)
	for third, end := range ends {
		if end > at {
			s.append((upper|uint32(third))-before, g.documents[at:end]) //nolint:gosec // a byte
			before, at = upper|uint32(third), end                       //nolint:gosec // a byte
		}
	}
	return before
}

// appendPairs appends the lists of pairs.
func (g *gatherer) appendPairs(s *shard) {
	clear(g.pairCounts[:])
	for _, p := range g.pairs {
		g.pairCounts[p>>16]++
	}
	places(g.pairCounts[:])
	g.documents = slices.Grow(g.documents[:0], len(g.pairs))[:len(g.pairs)]
	for _, p := range g.pairs {
		at := &g.pairCounts[p>>16]
		g.documents[*at] = uint16(p) //nolint:gosec // the lower half
		*at++
	}
	at, before := uint32(0), uint32(0)
	for key, end := range g.pairCounts {
		if end > at {
			s.append(uint32(key)-before, g.documents[at:end]) //nolint:gosec // 16 bits
			at, before = end, uint32(key)                     //nolint:gosec // 16 bits
		}
	}
}

// places replaces counts by how many there are in front.
func places(counts []uint32) {
	sum := uint32(0)
	for i, n := range counts {
		counts[i] = sum
		sum += n
	}
}

// append appends a list of documents in their order, of which one may stand there several times.
func (s *shard) append(difference uint32, documents []uint16) {
	const most = binary.MaxVarintLen32
	s.data = binary.AppendUvarint(slices.Grow(s.data, most*(len(documents)+2)), uint64(difference))
	data := s.data[len(s.data):cap(s.data)]
	n, next := 0, uint32(0)
	for _, d := range documents {
		document := uint32(d) + 1
		switch difference := document - next; {
		case difference == 0:
			continue
		case difference < 0x80:
			data[n] = byte(difference)
			n++
		default:
			n += binary.PutUvarint(data[n:], uint64(difference))
		}
		next = document
	}
	data[n] = 0
	s.data = s.data[:len(s.data)+n+1]
}
