package index

import (
	"cmp"
	"encoding/binary"
	"strings"
	"time"
)

// Message is an indexed message.
type Message struct {
	Number uint32    // of its event in the conversation
	Kind   uint8     // of the event; below 64
	Time   time.Time // zero if it has none
	Text   []byte    // searched; UTF-8
	Extra  []byte    // stored with the text, not searched
}

// Conversation describes an indexed conversation.
type Conversation struct {
	Key     string // unique in an index
	Version string // changes when the conversation does
	Order   int64  // orders messages of the same time; of equal orders by Key, shorter keys first
	Title   string
	Facts   []byte // other data of the caller

	Sum []byte // a checksum of the messages. By it a caller finds that a conversation has only grown

	Messages int // the number of the messages. The index sets it

	parts  []uint32 // the parts that have the messages
	number uint32   // the index in the conversations of a catalog
}

// Position orders all messages: the newest first, and messages without a time last.
type Position struct {
	Time   time.Time
	Order  int64
	Key    string
	Number uint32
}

// Compare returns a negative number if p is before q, a positive one if it is after q, and 0 if they are the same.
func (p Position) Compare(q *Position) int {
	return cmp.Or(compareTimes(p.Time, q.Time), cmp.Compare(p.Order, q.Order), compareKeys(p.Key, q.Key), cmp.Compare(p.Number, q.Number))
}

// compareTimes orders times: later times first, the zero time last.
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

// appendRecord appends the record of the conversation.
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

// readRecord reads a record that appendRecord has written. The conversation shares memory with the reader. If the record
// is malformed, it sets r.ok to false.
func readRecord(r *reader) *Conversation {
	c := &Conversation{Key: string(r.bytes()), Version: string(r.bytes()), Title: string(r.bytes()), Facts: r.bytes(), Sum: r.bytes()}
	c.Order, c.Messages = int64(r.number()), int(r.number()) //nolint:gosec // the same bits, and a count
	for n := r.number(); n > 0 && r.ok; n-- {
		c.parts = append(c.parts, uint32(r.number())) //nolint:gosec // a part
	}
	return c
}

// reader reads numbers and bytes from rest. After malformed data ok is false, and rest is empty.
type reader struct {
	rest []byte
	ok   bool
}

// number reads a number; at the end, or if it is malformed, it returns 0 and sets ok to false.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.ok = nil, false
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// bytes reads a number and so many bytes; if there are fewer, it returns nil and sets ok to false.
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
