package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
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
	shards    []*shard // of documents that follow each other; filled at the same time
}

// index makes the lists of what a builder has.
func (l *lists) index(b *builder) {
	l.documents = uint32(len(b.added) + len(b.conversations)) //nolint:gosec // a count
	shards := 1
	if b.size >= b.limits.shard {
		shards = 2
	}
	for len(l.shards) < shards {
		l.shards = append(l.shards, newShard(b.limits.aside))
	}
	for _, s := range l.shards {
		s.reset()
	}
	// The first shard has messages of half of all bytes.
	first, size := 0, 0
	for ; first < len(b.added) && (shards == 1 || 2*size < b.size); first++ {
		size += len(b.added[first].text)
	}
	var indexing sync.WaitGroup
	if shards > 1 {
		indexing.Go(func() { l.shards[1].indexMessages(b.added, first, len(b.added)) })
	}
	l.shards[0].indexMessages(b.added, 0, first)
	indexing.Wait()
	for i := range b.conversations {
		l.shards[shards-1].index(uint32(len(b.added)+i), []byte(b.conversations[i].Title)) //nolint:gosec // a count
	}
	for _, s := range l.shards {
		s.putAll()
	}
}

// shard is the lists of some documents. What a text has of grams is put aside first, by the
// part of the lists that it belongs to, until there is so much of a part that its lists are
// worth being brought into the caches of a processor.
type shard struct {
	lists []list
	// rows has, by the first two bytes of a trigram, 1 + the index of the cells of those that
	// begin with them; cells, pairs and bytes have 1 + the index of a list.
	rows   []uint32
	cells  [][256]uint32
	pairs  []uint32
	bytes  [utf8.RuneSelf]uint32
	folded []byte

	most  int                       // is put aside of a part
	aside [256 + pairParts][]uint32 // by the first byte of a trigram, and behind them by the highest bits of a pair
	base  uint32                    // document; what is aside has how far behind it others are, in 16 bits
}

const (
	pairBits  = 4 // highest ones
	pairParts = 1 << pairBits
)

func newShard(most int) *shard {
	return &shard{rows: make([]uint32, 1<<16), pairs: make([]uint32, 1<<16), most: most}
}

// reset empties the lists. It keeps their memory, unless that is a lot: grams that are in one
// segment are in the next one too.
func (s *shard) reset() {
	const mostLists = 1 << 18
	if len(s.lists) > mostLists {
		*s = *newShard(s.most)
		return
	}
	s.base = 0
	for i := range s.lists {
		l := &s.lists[i]
		l.last, l.count, l.size, l.data = 0, 0, 0, l.data[:0]
	}
}

// list is the documents that have a gram. It fills a line of a processor's cache.
type list struct {
	gram  gram
	last  uint32 // document + 1
	count uint32
	size  uint8    // of tail
	tail  [27]byte // goes behind data
	data  []byte   // differences of the documents, as varints, the first one from -1
}

// add adds a document.
func (l *list) add(document uint32) {
	if int(l.size) > len(l.tail)-binary.MaxVarintLen32 {
		l.flush()
	}
	if difference := document + 1 - l.last; difference < 0x80 {
		l.tail[l.size] = byte(difference)
		l.size++
	} else {
		l.size += uint8(binary.PutUvarint(l.tail[l.size:], uint64(difference))) //nolint:gosec // at most 5
	}
	l.last = document + 1
	l.count++
}

func (l *list) flush() {
	l.data = append(l.data, l.tail[:l.size]...)
	l.size = 0
}

func (s *shard) indexMessages(messages []added, from, to int) {
	for i := from; i < to; i++ {
		s.index(uint32(i), messages[i].text) //nolint:gosec // a count
	}
}

// index adds a document to the lists of its grams.
func (s *shard) index(document uint32, text []byte) {
	const mostDocuments = 1 << 16
	if document-s.base >= mostDocuments {
		s.putAll()
		s.base = document
	}
	here := document - s.base
	s.folded = append(fold.Append(s.folded[:0], text), end)
	text = s.folded
	var ascii [2]uint64
	for i := range len(text) - 1 {
		c := text[i]
		if c < utf8.RuneSelf {
			ascii[c>>6] |= 1 << (c & 63)
		}
		if i+2 < len(text) {
			s.putAside(int(c), uint32(text[i+1])<<24|uint32(text[i+2])<<16|here)
		}
		if c == ' ' || isThreeBytes(c) {
			if g, _, ok := pairAt(text[:len(text)-1], i); ok {
				g &^= pairs
				s.putAside(256+int(g>>(16-pairBits)), uint32(g)<<16|here)
			}
		}
	}
	for half, set := range ascii {
		for ; set != 0; set &= set - 1 {
			c := half<<6 | bits.TrailingZeros64(set)
			s.put(&s.bytes[c], oneByte|gram(c), document) //nolint:gosec // below 128
		}
	}
}

func (s *shard) putAside(part int, what uint32) {
	aside := append(s.aside[part], what)
	if len(aside) >= s.most {
		aside = s.putPart(part, aside)
	}
	s.aside[part] = aside
}

// putAll adds documents to the lists of all grams that are aside.
func (s *shard) putAll() {
	for part, aside := range s.aside {
		s.aside[part] = s.putPart(part, aside)
	}
}

// putPart adds documents to the lists of grams of a part.
func (s *shard) putPart(part int, aside []uint32) (empty []uint32) {
	for _, what := range aside {
		document := s.base + what&0xFFFF
		if part >= 256 {
			s.put(&s.pairs[what>>16], pairs|gram(what>>16), document)
			continue
		}
		second, third := what>>24, what>>16&0xFF
		row := &s.rows[uint32(part)<<8|second] //nolint:gosec // a byte
		if *row == 0 {
			s.cells = append(s.cells, [256]uint32{})
			*row = uint32(len(s.cells)) //nolint:gosec // at most 1<<16
		}
		s.put(&s.cells[*row-1][third], gram(part)<<16|gram(what>>16), document) //nolint:gosec // a byte
	}
	return aside[:0]
}

// put adds a document to the list of a gram, unless it is the last one there. At is 1 + the
// index of the list, and 0 where there is none.
func (s *shard) put(at *uint32, g gram, document uint32) {
	if *at == 0 {
		s.lists = append(s.lists, list{gram: g})
		*at = uint32(len(s.lists)) //nolint:gosec // below 1<<32
	}
	if l := &s.lists[*at-1]; l.last != document+1 {
		l.add(document)
	}
}

// sorted returns the lists of all shards that have documents, by their grams, and those of one
// gram in the order of their documents.
func (l *lists) sorted() []*list {
	type keyed struct {
		key  uint64
		list *list
	}
	var all []keyed
	for _, s := range l.shards {
		for i := range s.lists {
			if list := &s.lists[i]; list.count > 0 {
				list.flush()
				all = append(all, keyed{uint64(list.gram)<<32 | uint64(list.last), list})
			}
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	lists := make([]*list, len(all))
	for i := range all {
		lists[i] = all[i].list
	}
	return lists
}

// write writes the lists.
func (l *lists) write(w *fileWriter) {
	var blocks, entries []byte
	var codes bitWriter
	last := gram(0)
	written := 0 // lists
	bitmap := make([]byte, (l.documents+7)/8)
	w.begin(secLists)
	for all := l.sorted(); len(all) > 0; written++ {
		g, count, parts := all[0].gram, uint32(0), all
		for len(all) > 0 && all[0].gram == g {
			count += all[0].count
			all = all[1:]
		}
		parts = parts[:len(parts)-len(all)]
		if written%listsOfBlock == 0 {
			blocks = binary.LittleEndian.AppendUint32(blocks, uint32(g))
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(entries)))
			blocks = binary.LittleEndian.AppendUint64(blocks, w.at())
			w.ListBlocks++
			last = g
		}
		entries = binary.AppendUvarint(entries, uint64(g-last))
		entries = binary.AppendUvarint(entries, uint64(count))
		last = g
		if isBitmap(count, l.documents) {
			clear(bitmap)
			each(parts, func(difference, document uint32) { bitmap[document/8] |= 1 << (document % 8) })
			_, _ = w.Write(bitmap)
			continue
		}
		low := lowBits(count, l.documents)
		codes.data = codes.data[:0]
		each(parts, func(difference, document uint32) { codes.difference(difference-1, low) })
		codes.flush()
		entries = binary.AppendUvarint(entries, uint64(len(codes.data)))
		_, _ = w.Write(codes.data)
	}
	_, _ = w.Write(make([]byte, behindLists))
	blocks = binary.LittleEndian.AppendUint32(blocks, math.MaxUint32)
	blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(entries)))
	blocks = binary.LittleEndian.AppendUint64(blocks, w.at())
	w.begin(secListEntries)
	_, _ = w.Write(entries)
	w.begin(secListBlocks)
	_, _ = w.Write(blocks)
}

// each calls yield with the documents of lists of one gram, and by how much each is more than
// the one before.
func each(lists []*list, yield func(difference, document uint32)) {
	before := ^uint32(0) // document, which is -1 in front of the first one
	for _, l := range lists {
		document := ^uint32(0)
		for data := l.data; len(data) > 0; {
			difference, n := uint64(data[0]), 1
			if difference >= 0x80 {
				difference, n = binary.Uvarint(data)
			}
			data = data[n:]
			document += uint32(difference) //nolint:gosec // of documents
			yield(document-before, document)
			before = document
		}
	}
}
