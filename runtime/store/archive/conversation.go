package archive

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/transcript"
)

// Conversation is a conversation to be kept.
type Conversation struct {
	Kind     string // of export, such as "chatgpt"
	Native   string // its id there
	Title    string
	Created  time.Time // zero where that is not known
	Updated  time.Time
	Archived bool
	Messages []Message // in the order in which they are read
}

// Message is a message of a [Conversation].
type Message struct {
	Native string
	Kind   transcript.Kind // user, assistant, reasoning, tool call, tool result, or system
	Name   string          // of a tool, or a role that is not known
	Time   time.Time       // zero where that is not known
	Active bool            // it is on the path that the export has as the current one
	Text   []byte          // in UTF-8
}

// ID returns the id that a conversation has in the archive.
func (c *Conversation) ID() transcript.ID { return messagedb.ID(IDs(), c.name()) }

// name is what no other conversation of an archive has.
func (c *Conversation) name() string { return c.Kind + "-" + c.Native }

// times returns the time of the last message, and the newest of all; zero for none.
func (c *Conversation) times() (last, newest time.Time) {
	for i := range c.Messages {
		last = c.Messages[i].Time
		if last.After(newest) {
			newest = last
		}
	}
	return last, newest
}

// over returns what becomes of a conversation with a hash where one with its name is there,
// with the hash before and the time of its last change, in seconds, if it has one.
func (c *Conversation) over(sum, before string, updated sql.NullFloat64) Outcome {
	switch {
	case before == sum:
		return Unchanged
	case updated.Valid && !c.Updated.IsZero() && updated.Float64 > *Seconds(c.Updated):
		return Older
	}
	return Updated
}

// hash returns a text that is the same for the same conversation. Every value is behind its
// length, or is as long as a length.
func (c *Conversation) hash() string {
	sum := sha256.New()
	number := func(n int64) { _ = binary.Write(sum, binary.LittleEndian, n) } // a hash has no errors
	text := func(text []byte) { number(int64(len(text))); sum.Write(text) }
	moment := func(t time.Time) {
		if t.IsZero() {
			number(-1)
		} else {
			number(t.UnixMicro())
		}
	}
	flag := func(set bool) {
		if set {
			number(1)
		} else {
			number(0)
		}
	}
	text([]byte(c.Title))
	moment(c.Created)
	moment(c.Updated)
	flag(c.Archived)
	for i := range c.Messages {
		m := &c.Messages[i]
		text([]byte(m.Native))
		text([]byte(m.Kind.String()))
		text([]byte(m.Name))
		moment(m.Time)
		flag(m.Active)
		text(m.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Seconds returns a time as an archive has it, in seconds since 1970; nil for none.
func Seconds(t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	n := float64(t.UnixMicro()) / 1e6
	return &n
}
