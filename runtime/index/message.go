package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
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
	Order   int64  // where it stands among others, for messages of one time; those of one Order by their keys, shorter ones first
	Title   string
	Facts   []byte // whatever else is known of it

	// Mark is whatever who reads the conversation needs to go on behind its messages.
	Mark []byte

	// Messages is how many it has, and Digest is of all of them. They are set by the index.
	Messages int
	Digest   [32]byte
}

// Position is where a message stands among all, the newest first, those without a time last.
type Position struct {
	Time   time.Time
	Order  int64
	Key    string
	Number uint32
}

// Compare orders positions.
func (p *Position) Compare(q *Position) int {
	if p.Time.IsZero() != q.Time.IsZero() {
		if p.Time.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(q.Time.Compare(p.Time), cmp.Compare(p.Order, q.Order), compareKeys(p.Key, q.Key), cmp.Compare(p.Number, q.Number))
}

// compareKeys orders keys: shorter ones first, so that numbers are ordered by their values.
func compareKeys(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// noTime is the Unix time of a message without one.
const noTime = math.MinInt64

func unixOf(t time.Time) (seconds int64, nanoseconds uint32) {
	if t.IsZero() {
		return noTime, 0
	}
	return t.Unix(), uint32(t.Nanosecond()) //nolint:gosec // below 1e9
}

func timeOf(seconds int64, nanoseconds uint32) time.Time {
	if seconds == noTime {
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanoseconds)).UTC()
}

// appendRecord appends a conversation, its title apart.
func (c *Conversation) appendRecord(b []byte) []byte {
	for _, s := range []string{c.Key, c.Version, string(c.Facts)} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendVarint(b, c.Order)
	b = binary.AppendUvarint(b, uint64(c.Messages)) //nolint:gosec // a count
	return append(append(b, c.Digest[:]...), c.Mark...)
}

// parseRecord reads what appendRecord wrote, and reports whether it could.
func (c *Conversation) parseRecord(b []byte) bool {
	r := reader{b, true}
	c.Key, c.Version, c.Facts = string(r.bytes()), string(r.bytes()), append([]byte(nil), r.bytes()...)
	order, n := binary.Varint(r.rest)
	if n <= 0 {
		return false
	}
	r.rest = r.rest[n:]
	c.Order, c.Messages = order, int(r.number()) //nolint:gosec // a count
	if !r.ok || copy(c.Digest[:], r.rest) < len(c.Digest) {
		return false
	}
	c.Mark = bytes.Clone(r.rest[len(c.Digest):])
	return true
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
