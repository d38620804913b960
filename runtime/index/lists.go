package index

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
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

// lowBits returns how many lower bits each code of a list has. The list has count of the segment's documents.
func lowBits(count, documents uint32) int {
	best := uint64(documents) * 7 / (10 * uint64(max(count, 1))) // codes are shortest with 2^bits near 0.7 of the mean difference
	return max(0, bits.Len64(best)-1)
}

// listWriter writes lists in the order of their grams.
type listWriter struct {
	documents uint32 // of the segment
	blocks    []block
	entries   []byte
	lists     []byte
	last      gram
	written   int // the number of lists
}

type block struct {
	first          gram
	entries, lists int // the offsets of the first ones
}

// reset removes all lists, for a segment with a number of documents.
func (w *listWriter) reset(documents int) {
	*w = listWriter{documents: uint32(documents), blocks: w.blocks[:0], entries: w.entries[:0], lists: w.lists[:0]} //nolint:gosec // a count
}

// addList adds the list of a gram: the codes of the documents to w.lists, and an entry about the list to w.entries. The
// documents are sorted. After each listsOfBlock lists a new block begins, with the offsets of its first entry and list.
func (w *listWriter) addList(g gram, documents []uint16) {
	if w.written%listsOfBlock == 0 {
		w.blocks = append(w.blocks, block{g, len(w.entries), len(w.lists)})
		w.last = g
	}
	w.written++
	count := uint32(len(documents)) //nolint:gosec // a count
	size := uint64(len(w.lists))
	w.lists = appendList(w.lists, documents, uint(lowBits(count, w.documents))) //nolint:gosec // below 32
	for _, n := range [...]uint64{uint64(g - w.last), uint64(count), uint64(len(w.lists)) - size} {
		w.entries = binary.AppendUvarint(w.entries, n)
	}
	w.last = g
}

// appendList appends the codes of a list of documents to lists. low is the result of lowBits for the list. A code is
// that of the number of documents between two in the list; mostOnes describes the codes.
func appendList(lists []byte, documents []uint16, low uint) []byte {
	const most = (mostOnes + 32 + 7) / 8 // bytes of a code
	at := len(lists)
	lists = slices.Grow(lists, most*len(documents)+8)
	lists = lists[:cap(lists)]
	var word uint64   // the bits from at on; the first one is the lowest
	var used uint     // the number of these bits
	next := uint32(0) // the lowest possible document
	for _, document := range documents {
		d := uint32(document) - next
		if high := uint(d >> low); high < mostOnes {
			word |= (1<<high - 1 | uint64(d)&(1<<low-1)<<(high+1)) << used // high ones, a zero, and the low lower bits of d
			used += high + 1 + low
		} else {
			word |= (1<<mostOnes - 1 | uint64(d)<<mostOnes) << used // mostOnes ones, and the 32 bits of d
			used += mostOnes + 32
		}
		binary.LittleEndian.PutUint64(lists[at:], word)
		at += int(used / 8)
		word >>= used &^ 7
		used %= 8
		next = uint32(document) + 1
	}
	return lists[:at+int(used+7)/8] // the next list begins with a whole byte
}

// writeLists adds the lists of all writers to a segment, then the entries, which describe one list each, and the
// blocks, which have the offsets of some entries and their lists. These offsets are within a writer: writeLists adds
// the sizes of the writers before. A last block with the greatest gram ends the table of blocks.
func writeLists(b *fileBuilder, writers ...*listWriter) {
	var blocks []byte
	entries, lists := 0, 0 // the sizes of the writers before w
	for _, w := range append(writers, &listWriter{blocks: []block{{first: math.MaxUint32}}}) {
		for _, block := range w.blocks {
			for _, n := range [...]int{int(block.first), entries + block.entries, lists + block.lists} {
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
	b.add(secLists, make([]byte, afterLists)) // a cursor reads some bytes after its list
	b.add(secBlocks, blocks)
}

// list is the place of a list.
type list struct {
	gram     gram
	count    uint32
	from, to uint64
}

// lists yields the lists of the grams in a range, in the order of the grams. Each list has an entry, and each block
// some entries. A block has three numbers: the gram, the offset and the offset of the list of its first entry.
func (t *texts) lists(grams gramRange) iter.Seq[list] {
	return func(yield func(list) bool) {
		// number returns number n of a block: 0 is the gram, 1 the offset of the entry, 2 the offset of the list.
		number := func(block, n int) uint64 { return uint64(binary.LittleEndian.Uint32(t.blocks[block*blockSize+4*n:])) }
		first := func(block int) gram { return gram(number(block, 0)) } //nolint:gosec // 32 bits
		end := len(t.blocks)/blockSize - 1                              // the last block has no entries
		block := max(0, sort.Search(end, func(n int) bool { return first(n) > grams.first })-1)
		for ; block < end && first(block) <= grams.last; block++ {
			l := list{gram: first(block), to: number(block, 2)} // the first list begins where l ends
			for r := (reader{t.part(secEntries, number(block, 1), number(block+1, 1)), true}); len(r.rest) > 0; {
				l.gram += gram(r.number())           //nolint:gosec // a difference of grams
				l.count = uint32(r.number())         //nolint:gosec // a count
				l.from, l.to = l.to, l.to+r.number() // a size; the next list begins where this one ends
				switch {
				case !r.ok:
					t.malformed()
				case l.gram > grams.last:
					return
				case l.gram >= grams.first && !yield(l):
					return
				}
			}
		}
	}
}

// list returns the list of a gram; its count is 0 if there is none.
func (t *texts) list(g gram) (found list) {
	for found = range t.lists(gramRange{g, g}) { // there is at most one
	}
	return found
}

// cursor reads the documents of a list in their order.
type cursor struct {
	document  uint32 // the current one; noDocument after the last one
	left      uint32 // the number of documents after the current one
	documents uint32 // of the segment
	low       int    // the result of lowBits for the list
	bit       int    // the offset of the next document in data, in bits
	data      []byte // of the list, and afterLists bytes more
	file      *file
}

const noDocument = math.MaxUint32

// cursors returns a cursor for each of some adjacent lists, at the first document of the list; at noDocument if it is
// empty.
func (t *texts) cursors(lists ...list) []cursor {
	from, to := lists[0].from, lists[len(lists)-1].to
	data := t.part(secLists, from, to+afterLists) // with afterLists bytes more, because a cursor reads eight bytes at a time
	cursors := make([]cursor, len(lists))
	for i, l := range lists {
		if l.from < from || l.to < l.from || l.to > to {
			t.malformed()
		}
		cursors[i] = cursor{
			document: noDocument, left: l.count, documents: t.messages, low: lowBits(l.count, t.messages),
			data: data[l.from-from : l.to-from+afterLists], file: t.file,
		}
		cursors[i].next() // from noDocument to the first document
	}
	return cursors
}

// cursor returns a cursor at the first document of the list of a gram.
func (t *texts) cursor(g gram) *cursor { return &t.cursors(t.list(g))[0] }

// next moves the cursor to the next document, or to noDocument after the last one. The list has the number of documents
// between the two, in a code: the upper bits of the number as so many ones and a zero, then the c.low lower bits. If
// there are mostOnes ones or more, the number is the 32 bits after the first mostOnes ones.
func (c *cursor) next() {
	if c.left == 0 {
		c.document = noDocument
		return
	}
	c.left--
	word := c.word()                                   // the first bit of the code is the lowest
	ones, low := bits.TrailingZeros64(^word), c.low&63 // &63 changes no valid number, and saves checks before shifts
	lower := word >> ((ones + 1) & 63) & (1<<low - 1)  // the bits after the ones and the zero
	difference := uint64(ones)<<low | lower
	if ones < mostOnes { // a Rice code
		c.bit += ones + 1 + c.low
	} else { // 32 bits after mostOnes ones
		c.bit += mostOnes
		difference = c.word() & math.MaxUint32
		c.bit += 32
	}
	document := uint64(c.document+1) + difference // noDocument + 1 is 0
	if document >= uint64(c.documents) {
		c.file.malformed()
	}
	c.document = uint32(document) //nolint:gosec // a document
}

// word returns at least the next 57 bits of the list; the first one is the lowest.
func (c *cursor) word() uint64 {
	if c.bit > 8*(len(c.data)-afterLists) {
		c.file.malformed()
	}
	return binary.LittleEndian.Uint64(c.data[c.bit>>3:]) >> (c.bit & 7)
}
