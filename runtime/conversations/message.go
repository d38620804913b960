package conversations

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// The kind of a message in an index is that of its event, and these are added to it.
const (
	failedKind = 16 // a result that is marked as an error
	copiedKind = 32 // a copy of a message of another conversation
)

// failedKinds are the kinds of messages that are results marked as errors, and toolKinds those that
// may be of an own tool, but for copies.
const (
	failedKinds = 1 << (transcript.KindToolResult + failedKind)
	toolKinds   = 1<<transcript.KindToolCall | 1<<transcript.KindToolResult | failedKinds
)

// kindOf returns the kind of the event of a message, isOfTool reports whether a message may be of a
// tool, and isFailed whether it is a result that is marked as an error.
func kindOf(kind uint8) transcript.Kind { return transcript.Kind(kind & (failedKind - 1)) }
func isOfTool(kind uint8) bool          { return toolKinds>>(kind&^copiedKind)&1 != 0 }
func isFailed(kind uint8) bool          { return failedKinds>>(kind&^copiedKind)&1 != 0 }

// messageKind returns the kind of the message of an event.
func messageKind(e *transcript.Event) uint8 {
	kind := uint8(e.Kind)
	if e.Kind == transcript.KindToolResult && e.Failed {
		kind += failedKind
	}
	if e.Copied {
		kind += copiedKind
	}
	return kind
}

// indexExtra is what an index has of a message beside its text.
type indexExtra struct {
	role string // as recorded, where it is not that of the kind
	tool string // that is called, or has the result
	turn int    // as [transcript.Event.Turn]
	// unnumbered is how many events without a number are before it. What is kept beside a text counts
	// in its length: it has as many bytes in a store as in a copy of that.
	unnumbered int
}

// Fields implements [filecache.Fielder].
func (e *indexExtra) Fields() []any { return []any{&e.turn, &e.unnumbered, &e.role, &e.tool} }

// parseExtra reads what an index has of a message of a kind.
func parseExtra(b []byte, kind transcript.Kind) (e indexExtra) {
	if !filecache.ReadFields(b, e.Fields()) {
		e = indexExtra{}
	}
	e.role = cmp.Or(e.role, kind.Role().String())
	return e
}

const (
	// maxToolName and maxCallID are how many characters of the name of a tool, and of the id of a
	// call, are looked at.
	maxToolName, maxCallID = 200, 200
	// maxOpenCalls bounds how many calls a conversation may have without a result so far: those
	// of an assistant that works are few.
	maxOpenCalls = 10_000
)

// toolNames tells which tool a call or a result is of.
type toolNames struct {
	ids  map[string]string // of calls: the tool of the last one with this id
	next []string          // of the calls without an id since the last request
}

// of returns the tool of an event; empty for none. It must see all events of a conversation
// in order.
func (c *toolNames) of(e *transcript.Event) string {
	id, _, _ := text.Ends(e.CallID, maxCallID, 0)
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		c.next = c.next[:0]
	case transcript.KindToolCall:
		name, _, _ := text.Ends(e.Name, maxToolName, 0)
		switch {
		case id == "" && len(c.next) < maxOpenCalls:
			c.next = append(c.next, name)
		case id != "":
			if c.ids == nil || len(c.ids) >= maxOpenCalls {
				c.ids = map[string]string{}
			}
			c.ids[id] = name
		}
		return name
	case transcript.KindToolResult:
		if id != "" {
			return c.ids[id]
		}
		if len(c.next) > 0 {
			name := c.next[0]
			c.next = c.next[1:]
			return name
		}
	}
	return ""
}

// messageReader reads the messages of a conversation for an index.
type messageReader struct {
	conversation *store.Conversation
	entry        *index.Conversation
	version      string             // that it has in the index
	before       index.Conversation // what the index has of it: the reader returns only the messages after these
	problem      *Problem           // why it could not be read to its end; nil where it could
}

// errRewritten is the error for a conversation that no longer begins with the messages that the index
// has of it.
var errRewritten = errors.New("the conversation does not begin with the messages in the index")

// all returns the messages that the index does not have, as far as they can be read, and fills in the
// entry when they end. Where other messages have changed, the error is [errRewritten], before any message.
func (r *messageReader) all(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		var counts counting
		var tools toolNames
		var extra, head []byte
		sum, read := sha256.New(), 0
		isStopped, isRewritten := false, false
		totals, err := r.conversation.Read(ctx, func(e *transcript.Event) bool {
			number, tool := counts.next(e), tools.of(e)
			if e.Kind.Role() == transcript.NoRole && e.Kind.Scope() == 0 {
				return true
			}
			x := indexExtra{tool: tool, turn: e.Turn, unnumbered: e.Index + 1 - number}
			if role := e.RoleName(); role != e.Kind.Role().String() {
				x.role = role
			}
			extra = filecache.AppendFields(extra[:0], x.Fields())
			m := index.Message{Number: uint32(number), Kind: messageKind(e), Time: e.Time, Text: eventtext.Searched(e), Extra: extra} //nolint:gosec // a count
			kind, size := int(m.Kind), len(m.Text)
			head = filecache.AppendFields(head[:0], []any{&number, &kind, &m.Time, &size})
			for _, part := range [][]byte{head, extra, m.Text} {
				sum.Write(part)
			}
			if read++; read <= r.before.Messages {
				isRewritten = read == r.before.Messages && !bytes.Equal(sum.Sum(nil), r.before.Sum)
				return !isRewritten
			}
			isStopped = !yield(&m, nil)
			return !isStopped
		})
		switch {
		case isStopped:
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case isRewritten || read < r.before.Messages:
			yield(nil, errRewritten)
		default:
			r.entry.Sum = sum.Sum(nil)
			r.end(&counts, &totals, err)
		}
	}
}

// end fills in the entry, where err is of reading the conversation.
func (r *messageReader) end(counts *counting, totals *store.Totals, err error) {
	r.entry.Version = r.version
	f := factsOf(r.conversation)
	r.problem = problemOf(f.ID, totals)
	if err != nil {
		r.problem = unreadable(f.ID, err)
	}
	if r.problem != nil {
		f.Size.Turns = totals.Turns
		f.fail(r.problem)
		if r.problem.Kind == Unreadable {
			r.entry.Version = "" // which may have passed with the next query
		}
	} else {
		f.count(totals, counts)
	}
	r.entry.Facts = f.encode()
}
