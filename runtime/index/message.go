package index

import (
	"cmp"
	"encoding/binary"
	"strings"
	"time"
)

// Message is what is indexed: a text with what is said of it.
type Message struct {
	Number uint32    // of its event in the conversation
	Kind   uint8     // of the event; below 64
	Time   time.Time // zero where it has none
	Text   []byte    // UTF-8; what is searched
	Extra  []byte    // whatever else; stored beside the text
}

// Conversation is the conversation of messages.
type Conversation struct {
	Key     string // unique in an index
	Version string // differs where the conversation does
	Order   int64  // its place among others, for messages of one time; those of one Order by their keys, shorter ones first
	Title   string
	Facts   []byte // whatever else is known of it

	// Sum is a checksum of its messages, by which whoever reads the conversation again finds that it begins with them.
	Sum []byte

	// Messages is how many it has. It is set by the index.
	Messages int

	parts  []uint32 // that its messages are in
	number uint32   // among the conversations of a catalog
}

// Position is the place of a message among all, the newest first, those without a time last.
type Position struct {
	Time   time.Time
	Order  int64
	Key    string
	Number uint32
}

// Compare orders positions.
func (p *Position) Compare(q *Position) int {
	return cmp.Or(compareTimes(p.Time, q.Time), cmp.Compare(p.Order, q.Order), compareKeys(p.Key, q.Key), cmp.Compare(p.Number, q.Number))
}

// compareTimes orders times: later ones first, and last that of messages without one.
func compareTimes(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		if a.IsZero() {
			return 1
		}
		return -1
	}
	return b.Compare(a)
}

// compareKeys orders keys: shorter ones first, so that numbers are ordered by their values.
func compareKeys(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// appendRecord appends a conversation.
func (c *Conversation) appendRecord(b []byte) []byte {
	for _, s := range []string{c.Key, c.Version, c.Title, string(c.Facts), string(c.Sum)} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range []uint64{uint64(c.Order), uint64(c.Messages), uint64(len(c.parts))} { //nolint:gosec // the same bits, and a count
		b = binary.AppendUvarint(b, n)
	}
	for _, part := range c.parts {
		b = binary.AppendUvarint(b, uint64(part))
	}
	return b
}

// readRecord reads a conversation. Facts and mark are those bytes that the reader has.
func readRecord(r *reader) *Conversation {
	c := &Conversation{Key: string(r.bytes()), Version: string(r.bytes()), Title: string(r.bytes()), Facts: r.bytes(), Sum: r.bytes()}
	c.Order, c.Messages = int64(r.number()), int(r.number()) //nolint:gosec // the same bits, and a count
	for n := r.number(); n > 0 && r.ok; n-- {
		c.parts = append(c.parts, uint32(r.number())) //nolint:gosec // one
	}
	return c
}

// reader reads numbers and texts from bytes. Once it fails, ok is false.
type reader struct {
	rest []byte
	ok   bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.ok = nil, false
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.ok = nil, false
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}
