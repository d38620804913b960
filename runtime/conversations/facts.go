package conversations

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// facts are the facts about a conversation that its index keeps besides the messages.
type facts struct {
	// Conversation has the facts that are known without reading the events and are the same in every list.
	transcript.Conversation
	// Read is set if everything could be read. Otherwise the index has the messages that could be read, for rankings
	// only, and Kind, Event and Err are those of the [Problem].
	Read      bool
	Kind      int
	Event     int
	Err       string
	BadTime   bool
	Uncounted string // the reason if the owner of the store counts no events
	LastAt    time.Time
	Events    int
	Size      Size
}

// fields returns pointers for [filecache.AppendFields].
func (f *facts) fields() []any {
	s := &f.Size
	return []any{
		&f.Read, &f.Kind, &f.Event, &f.Err, &f.BadTime, &f.Uncounted, &f.LastAt, &f.Events, &s.Turns, &s.Requests, &s.Numbered, &s.Chars,
		&f.NativeID, &f.Source, &f.Archived, &f.Hidden, (*string)(&f.Parent), &f.Dir, &f.CreatedAt,
	}
}

// readFacts returns the facts of a conversation in an index; only the id and the title if the others are malformed.
func readFacts(c *index.Conversation) (f facts) {
	if !filecache.ReadFields(c.Facts, f.fields()...) {
		f = facts{}
	}
	f.ID, f.Title = transcript.ID(c.Key), c.Title
	return f
}

// indexVersion returns the version of a conversation for an index. It changes with the version of the record, and with
// the values that a store finds by comparing conversations.
func indexVersion(version string, c *store.Conversation) string {
	sum := sha256.Sum256(filecache.AppendFields(nil, &version, &c.Title, (*string)(&c.Parent), &c.Order, &c.Hidden, &c.Archived))
	return string(sum[:12])
}

// setCounts sets Read and the facts from the events of a conversation that was read to its end.
func (f *facts) setCounts(totals *store.Totals, c *counting) {
	f.Read, f.Events, f.LastAt, f.BadTime = true, totals.Events, totals.LastAt, totals.BadTime
	f.Size = Size{Turns: totals.Turns, Requests: c.Requests, Numbered: c.Events, Chars: c.Chars}
	if totals.Uncounted != nil {
		f.Uncounted = totals.Uncounted.Error()
	}
}

// problem returns why a conversation could not be read completely; nil if all was read, or if the facts are malformed.
func (f *facts) problem() *Problem {
	if isMalformed := !f.Read && f.Err == ""; f.Read || isMalformed {
		return nil
	}
	return &Problem{ID: f.ID, Kind: store.ProblemKind(f.Kind), Event: f.Event, Err: errors.New(f.Err)}
}

// problemOf returns the problem of a conversation that was read to its end, but without some parts; nil if all was read.
func problemOf(id transcript.ID, totals *store.Totals) *Problem {
	var left []string
	if n := totals.TooLarge; n == 1 {
		left = append(left, "an event is too large to be read, and left out")
	} else if n > 1 {
		left = append(left, fmt.Sprintf("%d events are too large to be read, and left out", n))
	}
	if totals.Cut {
		left = append(left, "it is far larger than the file that it is compressed to, and its end left out")
	}
	if len(left) == 0 {
		return nil
	}
	return &Problem{ID: id, Kind: store.TooLarge, Err: errors.New(strings.Join(left, "; "))}
}

// unreadable returns the problem of a conversation that could not be read to its end.
func unreadable(id transcript.ID, err error) *Problem {
	if damage, ok := errors.AsType[*store.DamageError](err); ok {
		return &Problem{ID: id, Kind: store.DamagedEvents, Event: damage.Event, Err: damage}
	}
	return &Problem{ID: id, Kind: store.Unreadable, Err: err}
}
