package index

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/index/terms"
)

// limits are the maximum sizes of a segment.
type limits struct {
	segment, messages int // bytes of texts and extra data, and number of messages
}

// builder collects the messages of a segment.
type builder struct {
	limits
	owners   []owner
	messages []message
	size     int    // bytes of the texts and the extra data of all messages
	free     []byte // room for copies of texts
}

// owner is a part of a conversation with messages in the segment.
type owner struct {
	part uint32
	*Conversation
}

// message is a message of a builder.
type message struct {
	Message
	owner uint16
}

// add adds a message of a part of a conversation. The messages of a part must follow each other.
func (b *builder) add(part uint32, c *Conversation, m *Message) {
	if n := len(b.owners); n == 0 || b.owners[n-1].part != part {
		b.owners = append(b.owners, owner{part, c})
	}
	added := message{*m, uint16(len(b.owners) - 1)} //nolint:gosec // bounded by full
	added.Text, added.Extra = b.copied(m.Text), b.copied(m.Extra)
	b.messages = append(b.messages, added)
	b.size += len(m.Text) + len(m.Extra)
}

// full reports whether the segment should be written.
func (b *builder) full() bool {
	return b.size >= b.limits.segment || max(len(b.messages), len(b.owners)) >= b.limits.messages
}

// copied returns a copy of a text. Texts share large arrays: the garbage collector then has little to do.
func (b *builder) copied(text []byte) []byte {
	const array = 256 << 10
	if len(text) > len(b.free) {
		b.free = make([]byte, max(array, len(text)))
	}
	n := copy(b.free, text)
	text, b.free = b.free[:n:n], b.free[n:]
	return text
}

// segmentWriter writes segments, one after the other. What it allocates is used again. It is for one goroutine at a time.
type segmentWriter struct {
	files        directory
	grams        *gramCollector
	terms        *termCollector
	encoder      encoder
	file         fileBuilder
	extras, rows []byte
}

func newSegmentWriter(files directory, language terms.Language) *segmentWriter {
	collector := &termCollector{Reader: terms.NewReader(language), numbers: map[gram]uint32{}, seed: maphash.MakeSeed()}
	return &segmentWriter{files: files, grams: &gramCollector{}, terms: collector}
}

// write writes the segment with the messages of a builder, newest first, and opens it. There must be a message.
func (w *segmentWriter) write(b *builder) (*segment, error) {
	slices.SortFunc(b.messages, func(m, n message) int {
		c, d := b.owners[m.owner], b.owners[n.owner]
		return cmp.Or(compareTimes(m.Time, n.Time), cmp.Compare(c.Order, d.Order), compareKeys(c.Key, d.Key), cmp.Compare(m.Number, n.Number))
	})
	w.file.reset()
	var termLists, gramLists []*listWriter
	var collecting sync.WaitGroup
	collecting.Go(func() { termLists = w.terms.lists(b) })
	collecting.Go(func() { gramLists = w.grams.lists(b) })
	w.addMessages(b)
	collecting.Wait()
	writeLists(&w.file, append(gramLists, termLists...)...)
	data, sum := w.file.finish()
	n := named{rand.Uint64(), sum, int64(b.size)}
	if err := w.files.write(n.file(), data); err != nil {
		return nil, err
	}
	return openSegment(w.files, n)
}

// addMessages adds the texts, the symbols, the extra data, the rows and the owners of the messages to the file.
func (w *segmentWriter) addMessages(b *builder) {
	w.encoder.train(b.samples())
	w.extras, w.rows = w.extras[:0], w.rows[:0]
	for i := range b.messages {
		m := &b.messages[i]
		w.file.data = w.encoder.append(w.file.data, m.Text)
		w.extras = append(w.extras, m.Extra...)
		w.rows = appendRow(w.rows, m, len(w.file.data), len(w.extras))
	}
	w.file.Sections[secTexts].Size = uint64(len(w.file.data)) // the texts are at the beginning of the file
	w.file.add(secSymbols, w.encoder.symbols.append(nil))
	w.file.add(secExtras, w.extras)
	w.file.add(secRows, w.rows)
	for _, o := range b.owners {
		w.file.add(secOwners, binary.LittleEndian.AppendUint32(nil, o.part))
	}
}

// samples returns pieces of texts from all over the segment, from which encoder.train chooses the symbols. A piece has
// at most part bytes, and all together about total. A segment of less than least bytes has no samples.
func (b *builder) samples() (samples [][]byte) {
	const total, part, least = 64 << 10, 512, 1 << 10
	if b.size < least {
		return nil // symbols would take more than they save
	}
	for i := 0; i < len(b.messages); i += max(1, len(b.messages)*part/total) { // about total/part messages
		text := b.messages[i].Text
		from := 0
		if len(text) > part {
			from = i * 7919 % (len(text) - part) // anywhere, as if at random: beginnings are not like the rest
		}
		samples = append(samples, text[from:min(len(text), from+part)])
	}
	return samples
}
