package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/convtools/convtools/runtime/index/terms"
)

// chunkSize is how many bytes of messages a builder has in one piece.
const chunkSize = 1 << 20

// limits are how much is done at once.
type limits struct {
	segment, messages int // bytes of messages, and how many of them, that a segment has at the most, but for the last one
	shard             int // bytes of text of which the lists are made in one piece
}

func usualLimits() limits {
	return limits{segment: 16 << 20, messages: 1 << 16, shard: 1 << 20}
}

// builder is what a segment will have.
type builder struct {
	limits
	language      terms.Language
	conversations []Conversation
	added         []added
	chunks        [][]byte // what is stored of the messages
	size          int      // of that
	spare         [][]byte // chunks that are used again
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

// add adds a message of a conversation, the index of which it gets.
func (b *builder) add(conversation int, m *Message) {
	size := binary.MaxVarintLen32 + len(m.Extra) + len(m.Text)
	n := len(b.chunks)
	if n == 0 || cap(b.chunks[n-1])-len(b.chunks[n-1]) < size {
		if last := len(b.spare) - 1; last >= 0 && size <= chunkSize {
			b.chunks, b.spare = append(b.chunks, b.spare[last]), b.spare[:last]
		} else {
			b.chunks = append(b.chunks, make([]byte, 0, max(size, chunkSize)))
		}
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

// nearlyFull reports whether a conversation that is not begun should go into another segment,
// so that few are parted.
func (b *builder) nearlyFull() bool {
	return b.size >= b.limits.segment-b.limits.segment/16 || len(b.added) >= b.limits.messages-b.limits.messages/16
}

// cut drops the conversations and messages behind the first ones.
func (b *builder) cut(conversations, messages int) {
	b.conversations = b.conversations[:conversations]
	for _, m := range b.added[messages:] {
		b.size -= len(m.stored)
	}
	b.added = b.added[:messages]
}

// reset empties the builder, and keeps its memory.
func (b *builder) reset() {
	clear(b.conversations)
	clear(b.added)
	for _, chunk := range b.chunks {
		if cap(chunk) == chunkSize {
			b.spare = append(b.spare, chunk[:0])
		}
	}
	clear(b.chunks)
	*b = builder{limits: b.limits, language: b.language, conversations: b.conversations[:0], added: b.added[:0], chunks: b.chunks[:0], spare: b.spare}
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
func (b *builder) write(to io.Writer, using *assembler) (size int64, sum uint32, err error) {
	b.sort()
	using.lists.index(b, using.gatherer)
	w := newFileWriter(to)
	w.Messages, w.Conversations = uint32(len(b.added)), uint32(len(b.conversations)) //nolint:gosec // counts
	if err := b.writeMessages(w, &using.encoder); err != nil {
		return 0, 0, err
	}
	b.writeConversations(w)
	using.lists.write(w)
	return w.finish()
}

// assembler is what segments are written with, one after the other.
type assembler struct {
	lists    lists
	encoder  encoder
	gatherer *gatherer // that of all
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

func (b *builder) writeMessages(w *fileWriter, encoder *encoder) error {
	encoder.train(b.samples())
	w.begin(secText)
	ends := make([]byte, 0, 4*len(b.added))
	var codes []byte
	for i := range b.added {
		codes = encoder.append(codes[:0], b.added[i].stored)
		_, _ = w.Write(codes)
		if w.at() > math.MaxUint32 {
			return errTooLarge
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(w.at()))
	}
	w.begin(secEnds)
	_, _ = w.Write(ends)
	w.begin(secSymbols)
	_, _ = w.Write(encoder.symbols.append(nil))
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
