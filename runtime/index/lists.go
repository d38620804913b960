package index

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"sort"
)

// The lists of a segment are sorted by their grams. An entry describes a list with three varints: the difference of
// its gram to the one before, the number of documents, and the number of bytes. Some entries make a block. A block
// has three uint32: its first gram, and the offsets of its first entry and its first list. A block without entries
// ends the table.
const (
	listsOfBlock = 16
	blockSize    = 3 * 4
)

// A list has the differences of its documents, less one, in Rice codes: the upper bits in unary, that is, so many
// ones and a zero, and then the lowBits lower bits. A difference with mostOnes ones or more is mostOnes ones and then
// 32 bits. Without these codes the index of random words is a seventh larger.
const mostOnes = 24

// afterLists is the number of bytes after all lists, so that eight bytes can be read at each place of a list.
const afterLists = 8

// lowBits returns the number of lower bits in the codes of a list with count of all documents.
func lowBits(count, documents uint32) int {
	mean := uint64(documents) * 7 / (10 * uint64(max(count, 1)))
	return max(0, bits.Len64(mean)-1)
}

// listWriter writes lists in the order of their grams.
type listWriter struct {
	documents uint32 // of the segment
	blocks    []block
	entries   []byte
	lists     []byte
	last      gram
	written   int

	word uint64 // bits that are not in lists yet, the first one is the lowest
	used int
}

type block struct {
	first          gram
	entries, lists int // the offsets of the first ones
}

// add adds the list of a gram.
func (w *listWriter) add(g gram, documents []uint16) {
	if w.written%listsOfBlock == 0 {
		w.blocks = append(w.blocks, block{g, len(w.entries), len(w.lists)})
		w.last = g
	}
	w.written++
	from, count := len(w.lists), uint32(len(documents)) //nolint:gosec // a count
	low := lowBits(count, w.documents)
	next := uint32(0) // the lowest possible document
	for _, document := range documents {
		d := uint32(document) - next
		if high := d >> low; high < mostOnes {
			w.bits(1<<high-1, int(high)+1)
			w.bits(uint64(d)&(1<<low-1), low)
		} else {
			w.bits(1<<mostOnes-1, mostOnes)
			w.bits(uint64(d), 32)
		}
		next = uint32(document) + 1
	}
	for ; w.used > 0; w.used -= 8 {
		w.lists = append(w.lists, byte(w.word))
		w.word >>= 8
	}
	w.word, w.used = 0, 0
	for _, n := range [...]uint64{uint64(g - w.last), uint64(count), uint64(len(w.lists) - from)} { //nolint:gosec // sizes
		w.entries = binary.AppendUvarint(w.entries, n)
	}
	w.last = g
}

// bits writes at most 32 bits.
func (w *listWriter) bits(value uint64, n int) {
	w.word |= value << w.used
	if w.used += n; w.used >= 32 {
		w.lists = binary.LittleEndian.AppendUint32(w.lists, uint32(w.word)) //nolint:gosec // the lower half
		w.word >>= 32
		w.used -= 32
	}
}

// writeLists adds the lists of all writers to a segment, one writer after the other.
func writeLists(b *fileBuilder, writers ...*listWriter) {
	var blocks []byte
	entries, lists := 0, 0
	for _, w := range append(writers, &listWriter{blocks: []block{{first: math.MaxUint32}}}) {
		for _, at := range w.blocks {
			for _, n := range [...]int{int(at.first), entries + at.entries, lists + at.lists} {
				blocks = binary.LittleEndian.AppendUint32(blocks, uint32(n)) //nolint:gosec // the segment is below 4 GB
			}
		}
		entries += len(w.entries)
		lists += len(w.lists)
	}
	for _, w := range writers {
		b.add(secEntries, w.entries)
	}
	for _, w := range writers {
		b.add(secLists, w.lists)
	}
	b.add(secLists, make([]byte, afterLists))
	b.add(secBlocks, blocks)
}

// list is the place of a list.
type list struct {
	gram     gram
	count    uint32
	from, to uint64
}

// lists returns the lists of a range of grams.
func (t *texts) lists(of grams) iter.Seq[list] {
	return func(yield func(list) bool) {
		number := func(block, n int) uint64 { return uint64(binary.LittleEndian.Uint32(t.blocks[block*blockSize+4*n:])) }
		first := func(block int) gram { return gram(number(block, 0)) } //nolint:gosec // 32 bits
		last := len(t.blocks)/blockSize - 1
		for at := max(0, sort.Search(last, func(n int) bool { return first(n) > of.first })-1); at < last && first(at) <= of.last; at++ {
			l := list{gram: first(at), to: number(at, 2)}
			for r := (reader{t.part(secEntries, number(at, 1), number(at+1, 1)), true}); len(r.rest) > 0; {
				l.gram += gram(r.number())   //nolint:gosec // a difference of grams
				l.count = uint32(r.number()) //nolint:gosec // a count
				l.from, l.to = l.to, l.to+r.number()
				switch {
				case !r.ok:
					t.malformed()
				case l.gram > of.last:
					return
				case l.gram >= of.first && !yield(l):
					return
				}
			}
		}
	}
}

// list returns the list of a gram; its count is 0 if there is none.
func (t *texts) list(g gram) (found list) {
	for found = range t.lists(grams{g, g}) {
	}
	return found
}

// cursor reads the documents of a list in their order.
type cursor struct {
	at        uint32 // the current document; noDocument after the last one
	left      uint32 // the number of documents after the current one
	documents uint32 // of the segment
	low       int    // as lowBits returns it
	bit       int    // the place of the next document in data
	data      []byte // of the list, and afterLists bytes more
	file      *file
}

const noDocument = math.MaxUint32

// cursor returns a cursor at the first document of a list.
func (t *texts) cursor(l list) cursor {
	c := cursor{at: noDocument, left: l.count, documents: t.messages, low: lowBits(l.count, t.messages), file: t.file}
	if l.count > 0 {
		c.data = t.part(secLists, l.from, l.to+afterLists)
	}
	c.next()
	return c
}

// next moves to the next document.
func (c *cursor) next() {
	if c.left == 0 {
		c.at = noDocument
		return
	}
	c.left--
	word := c.word()
	ones := bits.TrailingZeros64(^word)
	difference := uint64(ones)<<c.low | word>>(ones+1)&(1<<c.low-1)
	if ones < mostOnes {
		c.bit += ones + 1 + c.low
	} else {
		c.bit += mostOnes
		difference = c.word() & math.MaxUint32
		c.bit += 32
	}
	at := uint64(c.at+1) + difference // noDocument + 1 is 0
	if at >= uint64(c.documents) {
		c.file.malformed()
	}
	c.at = uint32(at) //nolint:gosec // a document
}

// word returns the next bits of the list, at least 57.
func (c *cursor) word() uint64 {
	if c.bit > 8*(len(c.data)-afterLists) {
		c.file.malformed()
	}
	return binary.LittleEndian.Uint64(c.data[c.bit>>3:]) >> (c.bit & 7)
}
