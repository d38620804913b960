package index

import (
	"encoding/binary"
	"math"
	"slices"
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
	shards    []shard
	words     wordGatherer
	cursors   []cursor
	list      []uint32 // documents
}

// index makes the lists of what a builder has.
func (l *lists) index(b *builder, g *gatherer) {
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		l.words.index(b)
	}()
	g.Lock()
	defer g.Unlock()
	l.documents = uint32(len(b.added) + len(b.conversations)) //nolint:gosec // a count
	l.shards = l.shards[:0]
	g.reset(0, b.limits.shard)
	for n := range l.documents {
		if int(n) < len(b.added) {
			g.add(b.added[n].text)
		} else {
			g.add([]byte(b.conversations[int(n)-len(b.added)].Title))
		}
		if len(g.folded) >= b.limits.shard || len(g.ends) == maxDocuments || n+1 == l.documents {
			l.gather(g, b.limits.shard)
			g.reset(n+1, b.limits.shard)
		}
	}
}

// gather makes the shards of what there is, each of about size bytes of text.
func (l *lists) gather(g *gatherer, size int) {
	for from := 0; from < len(g.folded); {
		to := len(g.folded)
		if to-from > 2*size {
			to = from + size
		}
		n := len(l.shards)
		l.shards = slices.Grow(l.shards, 1)[:n+1]
		g.gather(&l.shards[n], from, to)
		from = to
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
	difference, n := binary.Uvarint(c.data)
	c.key += uint32(difference) //nolint:gosec // a key
	c.data = c.data[n:]
}

// take appends the documents of the list, and goes to the next one.
func (c *cursor) take(documents []uint32) []uint32 {
	last := uint32(noKey)
	if n := len(documents); n > 0 {
		last = documents[n-1]
	}
	document := c.base - 1
	for i := 0; ; {
		difference := uint32(c.data[i])
		if i++; difference == 0 {
			c.data = c.data[i:]
			break
		}
		if difference >= 0x80 {
			long, n := binary.Uvarint(c.data[i-1:])
			difference = uint32(long) //nolint:gosec // of documents
			i += n - 1
		}
		if document += difference; document != last { // or the shard before has it too
			documents = append(documents, document)
		}
	}
	c.advance()
	return documents
}

// each calls yield with all lists, by their grams, those of terms last. The documents are valid
// until the next one.
func (l *lists) each(yield func(g gram, documents []uint32)) {
	for n := range parts {
		l.eachOf(l.shards, n, firstOf(n), yield)
	}
	l.eachOf(l.words.shards, 0, hasTerm, yield)
	l.eachOf(l.words.shards, 1, hasOften, yield)
}

// eachOf is each of a part of some shards.
func (l *lists) eachOf(shards []shard, part int, first gram, yield func(g gram, documents []uint32)) {
	cursors := slices.Grow(l.cursors[:0], len(shards))[:len(shards)]
	l.cursors = cursors
	for i := range shards {
		cursors[i] = cursorOf(&shards[i], part)
	}
	for {
		key := uint32(noKey)
		for i := range cursors {
			key = min(key, cursors[i].key)
		}
		if key == noKey {
			return
		}
		l.list = l.list[:0]
		for i := range cursors {
			if cursors[i].key == key {
				l.list = cursors[i].take(l.list)
			}
		}
		yield(first|gram(key), l.list)
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
