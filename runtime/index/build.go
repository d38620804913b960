package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
)

const (
	// bitmapShare is the part of all messages from which a list is a bitmap.
	bitmapShare = 8
	// listsOfBlock is how many lists are found by reading through their entries.
	listsOfBlock = 64
)

// limits are how many bytes of messages, and how many of them, a segment has at the most, but
// for the last one.
type limits struct{ segment, messages int }

func usualLimits() limits { return limits{32 << 20, 1 << 17} }

// builder makes a segment in memory.
type builder struct {
	limits
	conversations []Conversation
	added         []added
	chunks        [][]byte // what is stored of the messages
	size          int      // of that
	lists         []list
	slots         []uint32 // of a hash table: 1 + index in lists
	recent        []uint64 // grams that were put, each with its message
	folded        []byte
	encoder       *encoder
}

// added is a message of a builder.
type added struct {
	seconds      int64
	nanoseconds  uint32
	conversation uint32
	number       uint32
	kind         uint8
	text         []byte
	stored       []byte // of a chunk: the length of extra, extra, text
}

// list is the messages that have a gram. It fills a line of a processor's cache.
type list struct {
	gram  gram
	last  uint32 // message + 1
	count uint32
	size  uint8    // of tail
	tail  [27]byte // goes behind data
	data  []byte   // differences of the messages, as varints
}

// add adds a message.
func (l *list) add(message uint32) {
	if int(l.size) > len(l.tail)-binary.MaxVarintLen32 {
		l.flush()
	}
	l.size += uint8(binary.PutUvarint(l.tail[l.size:], uint64(message+1-l.last))) //nolint:gosec // at most 5
	l.last = message + 1
	l.count++
}

func (l *list) flush() {
	l.data = append(l.data, l.tail[:l.size]...)
	l.size = 0
}

// add adds a message of a conversation, the index of which it gets.
func (b *builder) add(conversation int, m *Message) {
	size := binary.MaxVarintLen32 + len(m.Extra) + len(m.Text)
	const chunkSize = 1 << 20
	n := len(b.chunks)
	if n == 0 || cap(b.chunks[n-1])-len(b.chunks[n-1]) < size {
		b.chunks = append(b.chunks, make([]byte, 0, max(size, chunkSize)))
		n++
	}
	chunk := b.chunks[n-1]
	from := len(chunk)
	chunk = binary.AppendUvarint(chunk, uint64(len(m.Extra)))
	chunk = append(chunk, m.Extra...)
	text := len(chunk)
	chunk = append(chunk, m.Text...)
	b.chunks[n-1] = chunk
	a := added{conversation: uint32(conversation), number: m.Number, kind: m.Kind, stored: chunk[from:], text: chunk[text:]} //nolint:gosec // a count
	a.seconds, a.nanoseconds = unixOf(m.Time)
	b.added = append(b.added, a)
	b.size += len(a.stored)
}

// full reports whether the segment should be written.
func (b *builder) full() bool { return b.size >= b.limits.segment || len(b.added) >= b.limits.messages }

// cut drops the conversations and messages behind the first ones.
func (b *builder) cut(conversations, messages int) {
	b.conversations = b.conversations[:conversations]
	for _, m := range b.added[messages:] {
		b.size -= len(m.stored)
	}
	b.added = b.added[:messages]
}

// reset empties the builder. It keeps the memory of its lists: grams that are in one segment
// are in the next one too.
func (b *builder) reset() {
	const mostLists = 1 << 20
	clear(b.added)
	kept := builder{limits: b.limits, added: b.added[:0], folded: b.folded, encoder: b.encoder}
	if len(b.lists) < mostLists {
		kept.lists, kept.slots = b.lists, b.slots
		for i := range kept.lists {
			l := &kept.lists[i]
			l.last, l.count, l.size, l.data = 0, 0, 0, l.data[:0]
		}
	}
	*b = kept
}

// sort sorts the conversations by their keys, and the messages by their positions.
func (b *builder) sort() {
	order := make([]int, len(b.conversations))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compareKeys(b.conversations[i].Key, b.conversations[j].Key) })
	sorted := make([]Conversation, len(order))
	place := make([]uint32, len(order))
	for to, from := range order {
		sorted[to], place[from] = b.conversations[from], uint32(to) //nolint:gosec // a count
	}
	b.conversations = sorted
	for i := range b.added {
		b.added[i].conversation = place[b.added[i].conversation]
	}
	slices.SortFunc(b.added, func(m, n added) int {
		return cmp.Or(
			cmp.Compare(n.seconds, m.seconds), cmp.Compare(n.nanoseconds, m.nanoseconds),
			cmp.Compare(sorted[m.conversation].Order, sorted[n.conversation].Order),
			cmp.Compare(m.conversation, n.conversation), cmp.Compare(m.number, n.number),
		)
	})
}

// write writes the segment.
func (b *builder) write(to io.Writer) (size int64, sum uint32, err error) {
	b.sort()
	for i := range b.added {
		b.index(uint32(i), &b.added[i]) //nolint:gosec // a count
	}
	w := newFileWriter(to)
	w.Messages, w.Conversations = uint32(len(b.added)), uint32(len(b.conversations)) //nolint:gosec // counts
	if err := b.writeMessages(w); err != nil {
		return 0, 0, err
	}
	b.writeConversations(w)
	b.writeLists(w)
	return w.finish()
}

// index adds a message to the lists of its grams.
func (b *builder) index(message uint32, m *added) {
	b.folded = appendFolded(b.folded[:0], m.text)
	text := b.folded
	var ascii [2]uint64
	for i, c := range text {
		if c < 0x80 {
			ascii[c>>6] |= 1 << (c & 63)
		}
		third := byte(end)
		if i+2 < len(text) {
			third = text[i+2]
		} else if i+1 == len(text) {
			break
		}
		b.put(trigram(c, text[i+1], third), message)
		if c == ' ' || isThreeBytes(c) {
			if g, ok := pairAt(text, i); ok {
				b.put(g, message)
			}
		}
	}
	for half, set := range ascii {
		for ; set != 0; set &= set - 1 {
			b.put(oneByte|gram(half<<6|bits.TrailingZeros64(set)), message) //nolint:gosec // below 128
		}
	}
}

// put adds a message to the list of a gram, where it is not the last one there.
func (b *builder) put(g gram, message uint32) {
	const multiplier = 0x9E3779B1
	// Most grams of a message stand in it more than once: a small table is faster to look at.
	const recentBits = 12
	if b.recent == nil {
		b.recent = make([]uint64, 1<<recentBits)
	}
	seen := &b.recent[uint32(g)*multiplier>>(32-recentBits)]
	if here := uint64(g)<<32 | uint64(message+1); *seen != here {
		*seen = here
	} else {
		return
	}
	if 2*len(b.lists) >= len(b.slots) {
		b.grow()
	}
	shift := 32 - bits.TrailingZeros32(uint32(len(b.slots))) //nolint:gosec // a power of two
	at := uint32(g) * multiplier >> shift
	for ; ; at = (at + 1) & uint32(len(b.slots)-1) { //nolint:gosec // a power of two
		slot := b.slots[at]
		if slot == 0 {
			break
		}
		l := &b.lists[slot-1]
		if l.gram != g {
			continue
		}
		if l.last != message+1 {
			l.add(message)
		}
		return
	}
	b.lists = append(b.lists, list{gram: g})
	b.lists[len(b.lists)-1].add(message)
	b.slots[at] = uint32(len(b.lists)) //nolint:gosec // below 1<<32
}

// grow doubles the hash table.
func (b *builder) grow() {
	const multiplier, least = 0x9E3779B1, 1 << 16
	b.slots = make([]uint32, max(least, 2*len(b.slots)))
	shift := 32 - bits.TrailingZeros32(uint32(len(b.slots))) //nolint:gosec // a power of two
	for i := range b.lists {
		at := uint32(b.lists[i].gram) * multiplier >> shift
		for b.slots[at] != 0 {
			at = (at + 1) & uint32(len(b.slots)-1) //nolint:gosec // a power of two
		}
		b.slots[at] = uint32(i + 1) //nolint:gosec // below 1<<32
	}
}

// samples returns parts of the messages, from all over.
func (b *builder) samples() [][]byte {
	const most, part, least = 64 << 10, 512, 1 << 10
	if b.size < least {
		return nil // what symbols save is less than they take
	}
	var samples [][]byte
	step := max(1, len(b.added)*part/most)
	for i := 0; i < len(b.added); i += step {
		m := b.added[i].stored
		from := 0
		if len(m) > part {
			from = i * 7919 % (len(m) - part) // beginnings are of another kind than the rest
		}
		samples = append(samples, m[from:min(len(m), from+part)])
	}
	return samples
}

var errTooLarge = errors.New("a message is larger than an index can have")

func (b *builder) writeMessages(w *fileWriter) error {
	if b.encoder == nil {
		b.encoder = &encoder{}
	}
	b.encoder.train(b.samples())
	w.begin(secText)
	ends := make([]byte, 0, 4*len(b.added))
	var codes []byte
	for i := range b.added {
		codes = b.encoder.append(codes[:0], b.added[i].stored)
		_, _ = w.Write(codes)
		if w.at() > math.MaxUint32 {
			return errTooLarge
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(w.at()))
	}
	w.begin(secEnds)
	_, _ = w.Write(ends)
	w.begin(secSymbols)
	_, _ = w.Write(b.encoder.symbols.append(nil))
	w.begin(secSeconds)
	for i := range b.added {
		w.uint64(uint64(b.added[i].seconds)) //nolint:gosec // the same bits
	}
	w.begin(secNanoseconds)
	for i := range b.added {
		w.uint32(b.added[i].nanoseconds)
	}
	w.begin(secOwner)
	for i := range b.added {
		w.uint32(b.added[i].conversation)
	}
	w.begin(secNumbers)
	for i := range b.added {
		w.uint32(b.added[i].number)
	}
	w.begin(secKinds)
	for i := range b.added {
		_, _ = w.Write([]byte{b.added[i].kind})
	}
	return nil
}

func (b *builder) writeConversations(w *fileWriter) {
	var ends, record []byte
	w.begin(secConversations)
	for i := range b.conversations {
		record = b.conversations[i].appendRecord(record[:0])
		_, _ = w.Write(record)
		ends = binary.LittleEndian.AppendUint64(ends, w.at())
	}
	w.begin(secConversationEnds)
	_, _ = w.Write(ends)
	w.begin(secTitles)
	ends = ends[:0]
	for i := range b.conversations {
		_, _ = w.Write([]byte(b.conversations[i].Title))
		ends = binary.LittleEndian.AppendUint64(ends, w.at())
		_, _ = w.Write([]byte{end})
	}
	w.begin(secTitleEnds)
	_, _ = w.Write(ends)
}

func (b *builder) writeLists(w *fileWriter) {
	var sorted []*list
	for i := range b.lists {
		if b.lists[i].count > 0 {
			b.lists[i].flush()
			sorted = append(sorted, &b.lists[i])
		}
	}
	slices.SortFunc(sorted, func(l, m *list) int { return cmp.Compare(l.gram, m.gram) })
	var blocks, entries []byte
	var codes bitWriter
	last := gram(0)
	bitmap := make([]byte, (len(b.added)+7)/8)
	w.begin(secLists)
	for i, l := range sorted {
		if i%listsOfBlock == 0 {
			blocks = binary.LittleEndian.AppendUint32(blocks, uint32(l.gram))
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(entries)))
			blocks = binary.LittleEndian.AppendUint64(blocks, w.at())
			w.ListBlocks++
			last = l.gram
		}
		entries = binary.AppendUvarint(entries, uint64(l.gram-last))
		entries = binary.AppendUvarint(entries, uint64(l.count))
		last = l.gram
		if isBitmap(l.count, len(b.added)) {
			clear(bitmap)
			at := ^uint32(0)
			for data := l.data; len(data) > 0; {
				difference, n := binary.Uvarint(data)
				data = data[n:]
				at += uint32(difference) //nolint:gosec // of messages
				bitmap[at/8] |= 1 << (at % 8)
			}
			_, _ = w.Write(bitmap)
			continue
		}
		low := lowBits(l.count, w.Messages)
		codes.data = codes.data[:0]
		for data := l.data; len(data) > 0; {
			difference, n := binary.Uvarint(data)
			data = data[n:]
			codes.difference(uint32(difference-1), low) //nolint:gosec // of messages
		}
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

// isBitmap reports whether a list of count of all messages is a bitmap.
func isBitmap(count uint32, messages int) bool { return uint64(count)*bitmapShare >= uint64(messages) } //nolint:gosec // counts
