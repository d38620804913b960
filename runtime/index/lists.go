package index

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

const (
	// bitmapShare is the part of all documents from which a list is a bitmap.
	bitmapShare = 8
	// listsOfBlock is how many lists are found by reading through their entries.
	listsOfBlock = 16
)

// isBitmap reports whether a list of count of all documents is a bitmap.
func isBitmap(count, documents uint32) bool {
	return uint64(count)*bitmapShare >= uint64(documents)
}

// lists are the lists of a segment that is made: for each gram the documents that have it.
// The documents are the messages, and behind them the titles of the conversations.
type lists struct {
	documents uint32
	shards    []shard // of documents that follow each other
	gatherer  gatherer
	list      []uint32 // documents
}

// shard is the lists of some documents.
type shard struct {
	from, to uint32 // documents
	// data has the lists: what the key of one is more than the one before in its part, how many
	// documents it has, and the differences of these, as varints, the first one from -1.
	data []byte
	ends [parts]int // of the parts in data
}

// index makes the lists of what a builder has.
func (l *lists) index(b *builder) {
	l.documents = uint32(len(b.added) + len(b.conversations)) //nolint:gosec // a count
	l.split(b)
	for n := range l.shards {
		l.gatherer.gather(&l.shards[n], b)
	}
}

// split makes the shards, with nothing in them.
func (l *lists) split(b *builder) {
	l.shards = l.shards[:0]
	for from := 0; from < int(l.documents); {
		to, size := from, 0
		for ; to < int(l.documents) && to-from < maxDocuments && size < b.limits.shard; to++ {
			if to < len(b.added) {
				size += len(b.added[to].text)
			}
		}
		n := len(l.shards)
		l.shards = slices.Grow(l.shards, 1)[:n+1]
		s := &l.shards[n]
		s.from, s.to, s.data = uint32(from), uint32(to), s.data[:0] //nolint:gosec // counts
		from = to
	}
}

// The grams are parted by the first byte of a trigram; ASCII characters are one more part,
// and pairs are parted by their highest bits. In a part there are 16 bits of a gram left.
const (
	bytesPart  = 256
	firstPairs = bytesPart + 1
	pairBits   = 4 // highest ones
	parts      = firstPairs + 1<<pairBits
)

// firstOf returns what grams of a part have above their 16 bits.
func firstOf(part int) gram {
	switch {
	case part < bytesPart:
		return gram(part) << 16 //nolint:gosec // a byte
	case part == bytesPart:
		return oneByte
	}
	return pairs
}

// An occurrence is a gram of a document: the lowest 16 bits of the gram, and how far the
// document is behind the first one of its shard, in 16 bits.
type occurrence uint32

func (o occurrence) key() uint32 { return uint32(o >> 16) }

const maxDocuments = 1 << 16 // of a shard

// gatherer makes shards, one after the other. It gathers the occurrences by parts, and sorts
// each part: both go through memory in order, which a table of all lists would not.
type gatherer struct {
	parts   [parts]part
	most    int // chunks from which equal occurrences are removed
	chunks  int // in parts
	spare   []*chunk
	folded  []byte
	scratch []occurrence
}

// part is the occurrences of one part of the grams.
type part struct {
	last   *chunk // of chunks
	size   int
	chunks []*chunk
}

const chunkLength = 1 << 10

type chunk [chunkLength]occurrence

// at returns the place of an occurrence.
func (p *part) at(i int) *occurrence {
	n := uint(i) //nolint:gosec // a place: parted by shifting
	return &p.chunks[n/chunkLength][n%chunkLength]
}

// gather makes the lists of a shard.
func (g *gatherer) gather(to *shard, b *builder) {
	g.reset(b.limits.occurrences)
	for i := to.from; i < to.to; i++ {
		here := occurrence(i - to.from)
		if int(i) < len(b.added) {
			g.index(here, b.added[i].text)
		} else {
			g.index(here, []byte(b.conversations[int(i)-len(b.added)].Title))
		}
	}
	g.sort()
	for n := range g.parts {
		to.data = g.parts[n].append(to.data)
		to.ends[n] = len(to.data)
	}
}

// reset drops what there is. It keeps the memory, unless that is more than it usually takes.
func (g *gatherer) reset(most int) {
	g.most = most / chunkLength
	for i := range g.parts {
		g.cut(&g.parts[i], 0)
	}
	if usual := g.most + parts; len(g.spare) > usual {
		clear(g.spare[usual:])
		g.spare = g.spare[:usual]
	}
	if len(g.scratch) > most {
		g.scratch = nil
	}
}

// append appends the lists of a part that is sorted.
func (p *part) append(dst []byte) []byte {
	before := uint32(0)
	for i := 0; i < p.size; {
		key := p.at(i).key()
		to := i + 1
		for to < p.size && p.at(to).key() == key {
			to++
		}
		dst = binary.AppendUvarint(dst, uint64(key-before))
		dst = binary.AppendUvarint(dst, uint64(to-i)) //nolint:gosec // a count
		next := uint32(0)
		for ; i < to; i++ {
			document := uint32(*p.at(i)&0xFFFF) + 1
			if difference := document - next; difference < 0x80 {
				dst = append(dst, byte(difference))
			} else {
				dst = binary.AppendUvarint(dst, uint64(difference))
			}
			next = document
		}
		before = key
	}
	return dst
}

// cut drops all but the first occurrences of a part.
func (g *gatherer) cut(p *part, size int) {
	chunks := (size + chunkLength - 1) / chunkLength
	g.spare = append(g.spare, p.chunks[chunks:]...)
	g.chunks -= len(p.chunks) - chunks
	clear(p.chunks[chunks:])
	p.chunks, p.size, p.last = p.chunks[:chunks], size, nil
	if chunks > 0 {
		p.last = p.chunks[chunks-1]
	}
}

// index adds the occurrences in a document, which is behind those that were added.
func (g *gatherer) index(here occurrence, text []byte) {
	g.bound()
	g.folded = append(fold.Append(g.folded[:0], text), end)
	text = g.folded
	var ascii [2]uint64
	for i := range len(text) - 1 {
		c := text[i]
		if c < utf8.RuneSelf {
			ascii[c>>6] |= 1 << (c & 63)
		}
		if i+2 < len(text) {
			g.add(int(c), occurrence(text[i+1])<<24|occurrence(text[i+2])<<16|here)
		}
		if c == ' ' || isThreeBytes(c) {
			if pair, _, ok := pairAt(text[:len(text)-1], i); ok {
				pair &^= pairs
				g.add(firstPairs+int(pair>>(16-pairBits)), occurrence(pair)<<16|here)
			}
		}
	}
	for half, set := range ascii {
		for ; set != 0; set &= set - 1 {
			g.add(bytesPart, occurrence(half<<6|bits.TrailingZeros64(set))<<16|here) //nolint:gosec // below 128
		}
	}
}

func (g *gatherer) add(n int, o occurrence) {
	p := &g.parts[n]
	at := uint(p.size) % chunkLength //nolint:gosec // a count
	if at == 0 {
		g.grow(p)
		at = uint(p.size) % chunkLength //nolint:gosec // a count
	}
	p.last[at] = o
	p.size++
}

// grow makes room in a part of which all chunks are full.
func (g *gatherer) grow(p *part) {
	g.bound()
	if p.size < len(p.chunks)*chunkLength {
		return // there is room since equal ones are gone
	}
	if last := len(g.spare) - 1; last >= 0 {
		p.last, g.spare = g.spare[last], g.spare[:last]
	} else {
		p.last = new(chunk)
	}
	p.chunks = append(p.chunks, p.last)
	g.chunks++
}

// bound removes equal occurrences where there are many, so that what a large document takes is
// bounded by how many grams there are, and not by its length.
func (g *gatherer) bound() {
	if g.chunks <= g.most+parts {
		return
	}
	before := g.most
	g.sort()
	g.most = max(before, 2*g.chunks)
}

// sort sorts the occurrences of each part, and leaves each once. Those of one gram are in the
// order of their documents before.
func (g *gatherer) sort() {
	for n := range g.parts {
		p := &g.parts[n]
		if p.size > 0 {
			g.sortPart(p)
		}
	}
}

// sortPart sorts by the lower byte of the keys, and then by the upper one.
func (g *gatherer) sortPart(p *part) {
	var lower, upper [256]int
	for i, c := range p.chunks {
		for _, o := range c[:min(p.size-i*chunkLength, chunkLength)] {
			lower[byte(o>>16)]++
			upper[byte(o>>24)]++
		}
	}
	places(&lower)
	places(&upper)
	if len(g.scratch) < p.size {
		g.scratch = make([]occurrence, p.size+p.size/8)
	}
	for i, c := range p.chunks {
		for _, o := range c[:min(p.size-i*chunkLength, chunkLength)] {
			at := &lower[byte(o>>16)]
			g.scratch[*at] = o
			*at++
		}
	}
	chunks := p.chunks
	for _, o := range g.scratch[:p.size] {
		at := &upper[byte(o>>24)]
		n := uint(*at) //nolint:gosec // a place
		chunks[n/chunkLength][n%chunkLength] = o
		*at++
	}
	size := 0
	last := ^chunks[0][0]
	for i, c := range p.chunks {
		for _, o := range c[:min(p.size-i*chunkLength, chunkLength)] {
			if o != last {
				*p.at(size) = o
				size++
				last = o
			}
		}
	}
	g.cut(p, size)
}

// places replaces counts by how many there are in front.
func places(counts *[256]int) {
	sum := 0
	for i, n := range counts {
		counts[i] = sum
		sum += n
	}
}

// cursor is a list in a part of a shard, and those behind it.
type cursor struct {
	key  uint32 // noKey behind the last one
	data []byte // behind the key
	base uint32 // document
}

const noKey = math.MaxUint32

func cursorOf(s *shard, part int) cursor {
	from := 0
	if part > 0 {
		from = s.ends[part-1]
	}
	c := cursor{data: s.data[from:s.ends[part]], base: s.from}
	c.advance()
	return c
}

func (c *cursor) advance() {
	if len(c.data) == 0 {
		c.key = noKey
		return
	}
	c.key += uint32(c.number()) //nolint:gosec // a key
}

func (c *cursor) number() uint64 {
	if b := c.data[0]; b < 0x80 {
		c.data = c.data[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(c.data)
	c.data = c.data[n:]
	return v
}

// take appends the documents of the list, and goes to the next one.
func (c *cursor) take(documents []uint32) []uint32 {
	document := c.base - 1
	for range c.number() {
		document += uint32(c.number()) //nolint:gosec // of documents
		documents = append(documents, document)
	}
	c.advance()
	return documents
}

// each calls yield with all lists, by their grams. The documents are valid until the next one.
func (l *lists) each(yield func(g gram, documents []uint32)) {
	cursors := make([]cursor, len(l.shards))
	for n := range parts {
		for i := range l.shards {
			cursors[i] = cursorOf(&l.shards[i], n)
		}
		for {
			key := uint32(noKey)
			for i := range cursors {
				key = min(key, cursors[i].key)
			}
			if key == noKey {
				break
			}
			l.list = l.list[:0]
			for i := range cursors {
				if cursors[i].key == key {
					l.list = cursors[i].take(l.list)
				}
			}
			yield(firstOf(n)|gram(key), l.list)
		}
	}
}

// write writes the lists.
func (l *lists) write(w *fileWriter) {
	var blocks, entries []byte
	var codes bitWriter
	last := gram(0)
	written := 0 // lists
	bitmap := make([]byte, (l.documents+7)/8)
	w.begin(secLists)
	l.each(func(g gram, documents []uint32) {
		count := uint32(len(documents)) //nolint:gosec // a count
		if written%listsOfBlock == 0 {
			blocks = binary.LittleEndian.AppendUint32(blocks, uint32(g))
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(entries)))
			blocks = binary.LittleEndian.AppendUint64(blocks, w.at())
			w.ListBlocks++
			last = g
		}
		written++
		entries = binary.AppendUvarint(entries, uint64(g-last))
		entries = binary.AppendUvarint(entries, uint64(count))
		last = g
		if isBitmap(count, l.documents) {
			clear(bitmap)
			for _, document := range documents {
				bitmap[document/8] |= 1 << (document % 8)
			}
			_, _ = w.Write(bitmap)
			return
		}
		low := lowBits(count, l.documents)
		codes.data = codes.data[:0]
		next := uint32(0) // the least that the document can be
		for _, document := range documents {
			codes.difference(document-next, low)
			next = document + 1
		}
		codes.flush()
		entries = binary.AppendUvarint(entries, uint64(len(codes.data)))
		_, _ = w.Write(codes.data)
	})
	_, _ = w.Write(make([]byte, behindLists))
	blocks = binary.LittleEndian.AppendUint32(blocks, math.MaxUint32)
	blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(entries)))
	blocks = binary.LittleEndian.AppendUint64(blocks, w.at())
	w.begin(secListEntries)
	_, _ = w.Write(entries)
	w.begin(secListBlocks)
	_, _ = w.Write(blocks)
}
