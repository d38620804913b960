package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/base/fold"
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
	shards        [2]shard
	encoder       *encoder
}

// shard is the lists of some of the grams. Shards are filled at the same time.
type shard struct {
	number uint32
	lists  []list
	slots  []uint32 // of a hash table: 1 + index in lists
	recent []uint64 // grams that were put, each with its message
	folded []byte
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
	const mostLists = 1 << 19
	clear(b.added)
	kept := builder{limits: b.limits, added: b.added[:0], encoder: b.encoder}
	for i := range b.shards {
		s := &b.shards[i]
		if len(s.lists) > mostLists {
			continue
		}
		for i := range s.lists {
			l := &s.lists[i]
			l.last, l.count, l.size, l.data = 0, 0, 0, l.data[:0]
		}
		clear(s.recent)
		kept.shards[i] = *s
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
	var indexing sync.WaitGroup
	for i := range b.shards {
		s := &b.shards[i]
		s.number = uint32(i) //nolint:gosec // a count
		indexing.Go(func() {
			for i := range b.added {
				s.index(uint32(i), b.added[i].text) //nolint:gosec // a count
			}
		})
	}
	w := newFileWriter(to)
	w.Messages, w.Conversations = uint32(len(b.added)), uint32(len(b.conversations)) //nolint:gosec // counts
	err = b.writeMessages(w)
	indexing.Wait()
	if err != nil {
		return 0, 0, err
	}
	b.writeConversations(w)
	b.writeLists(w)
	return w.finish()
}

// index adds a message to the lists of its grams, as far as they are of the shard.
func (s *shard) index(message uint32, text []byte) {
	s.folded = fold.Append(s.folded[:0], text)
	text = s.folded
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
		s.put(trigram(c, text[i+1], third), message)
		if c == ' ' || isThreeBytes(c) {
			if g, ok := pairAt(text, i); ok {
				s.put(g, message)
			}
		}
	}
	for half, set := range ascii {
		for ; set != 0; set &= set - 1 {
			s.put(oneByte|gram(half<<6|bits.TrailingZeros64(set)), message) //nolint:gosec // below 128
		}
	}
}

// multiplier hashes grams.
const multiplier = 0x9E3779B1

// put adds a message to the list of a gram of the shard, where it is not the last one there.
func (s *shard) put(g gram, message uint32) {
	const recentBits = 12
	hash := uint32(g) * multiplier
	if hash>>15&1 != s.number {
		return
	}
	// Most grams of a message stand in it more than once: a small table is faster to look at.
	if s.recent == nil {
		s.recent = make([]uint64, 1<<recentBits)
	}
	seen := &s.recent[hash>>(32-recentBits)]
	here := uint64(g)<<32 | uint64(message+1)
	if *seen == here {
		return
	}
	*seen = here
	if 2*len(s.lists) >= len(s.slots) {
		s.grow()
	}
	at := hash >> s.shift()
	for ; s.slots[at] != 0; at = s.after(at) {
		if l := &s.lists[s.slots[at]-1]; l.gram == g {
			if l.last != message+1 {
				l.add(message)
			}
			return
		}
	}
	s.lists = append(s.lists, list{gram: g})
	s.lists[len(s.lists)-1].add(message)
	s.slots[at] = uint32(len(s.lists)) //nolint:gosec // below 1<<32
}

// shift is what leaves an index into the slots of a hash, of 32 bits.
func (s *shard) shift() int { return 32 - bits.TrailingZeros32(uint32(len(s.slots))) } //nolint:gosec // a power of two

func (s *shard) after(slot uint32) uint32 { return (slot + 1) & uint32(len(s.slots)-1) } //nolint:gosec // a power of two

// grow doubles the hash table.
func (s *shard) grow() {
	const least = 1 << 15
	s.slots = make([]uint32, max(least, 2*len(s.slots)))
	for i := range s.lists {
		at := uint32(s.lists[i].gram) * multiplier >> s.shift()
		for s.slots[at] != 0 {
			at = s.after(at)
		}
		s.slots[at] = uint32(i + 1) //nolint:gosec // below 1<<32
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
	for i := range b.shards {
		for j := range b.shards[i].lists {
			if l := &b.shards[i].lists[j]; l.count > 0 {
				l.flush()
				sorted = append(sorted, l)
			}
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
