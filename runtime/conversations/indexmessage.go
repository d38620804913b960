package conversations

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// copiedKind is added to the kind of a message that is a copy of one of another
// conversation.
const copiedKind = 32

// failedKind is added to the kind of a result that is marked as an error.
const failedKind = 16

// kindOf returns the kind of an event of which the index has a message of a kind.
func kindOf(kind uint8) transcript.Kind { return transcript.Kind(kind & (failedKind - 1)) }

// toolKinds are the kinds of messages that may be of an own tool.
const toolKinds = 1<<transcript.KindToolCall | 1<<transcript.KindToolResult | failedKinds

// isOfTool reports whether a message of a kind may be of a tool, and isFailed whether it is a result
// that is marked as an error.
func isOfTool(kind uint8) bool { return toolKinds>>(kind&^copiedKind)&1 != 0 }
func isFailed(kind uint8) bool { return failedKinds>>(kind&^copiedKind)&1 != 0 }

// failedKinds are those of results that are marked as errors.
const failedKinds = 1 << (transcript.KindToolResult + failedKind)

// indexExtra is what an index has of a message beside its text.
type indexExtra struct {
	role string // as recorded, where it is not that of the kind
	tool string // that is called, or has the result
	turn int    // as [transcript.Event.Turn]
	// unnumbered is how many events without a number are before it. All in all, what is kept beside
	// a text has as many bytes in a store as in a copy of that: it counts in the length of a text.
	unnumbered int
}

func (e *indexExtra) append(b []byte, kind transcript.Kind) []byte {
	b = binary.AppendUvarint(b, uint64(e.turn))       //nolint:gosec // a count
	b = binary.AppendUvarint(b, uint64(e.unnumbered)) //nolint:gosec // a count
	if role := e.role; role != kind.Role().String() {
		b = append(b, 1)
		b = binary.AppendUvarint(b, uint64(len(role)))
		b = append(b, role...)
	} else if e.tool != "" {
		b = append(b, 0)
	}
	return append(b, e.tool...)
}

func parseExtra(b []byte, kind transcript.Kind) indexExtra {
	e := indexExtra{role: kind.Role().String()}
	turn, size := binary.Uvarint(b)
	e.turn, b = int(turn), b[max(size, 0):] //nolint:gosec // a count
	unnumbered, size := binary.Uvarint(b)
	e.unnumbered, b = int(unnumbered), b[max(size, 0):] //nolint:gosec // a count
	if len(b) == 0 {
		return e
	}
	own := b[0] == 1
	if b = b[1:]; own {
		size, n := binary.Uvarint(b)
		size = min(size, uint64(len(b)-max(n, 0)))
		e.role, b = string(b[max(n, 0):][:size]), b[max(n, 0)+int(size):] //nolint:gosec // at most len(b)
	}
	e.tool = string(b)
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
	IDs  map[callKey]string // of calls: the tool of the last one with this id
	Next []string           // of the calls without an id since the last request
}

// callKey stands for the id of a call.
type callKey uint64

func callKeyOf(id string) callKey {
	id, _, _ = text.Ends(id, maxCallID, 0)
	sum := sha256.Sum256([]byte(id))
	return callKey(binary.LittleEndian.Uint64(sum[:]))
}

func (c *toolNames) keep(id callKey, name string) {
	if c.IDs == nil || len(c.IDs) >= maxOpenCalls {
		c.IDs = map[callKey]string{}
	}
	c.IDs[id] = name
}

// of returns the tool of an event; empty for none. It must see all events of a conversation
// in order.
func (c *toolNames) of(e *transcript.Event) string {
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		c.Next = c.Next[:0]
	case transcript.KindToolCall:
		name, _, _ := text.Ends(e.Name, maxToolName, 0)
		switch {
		case e.CallID != "":
			c.keep(callKeyOf(e.CallID), name)
		case len(c.Next) < maxOpenCalls:
			c.Next = append(c.Next, name)
		}
		return name
	case transcript.KindToolResult:
		if e.CallID != "" {
			return c.IDs[callKeyOf(e.CallID)]
		}
		if len(c.Next) > 0 {
			name := c.Next[0]
			c.Next = c.Next[1:]
			return name
		}
	}
	return ""
}

// messageReader reads the messages of a conversation for an index.
type messageReader struct {
	conversation *store.Conversation
	entry        *index.Conversation
	failed       bool     // the conversation could not be read, or not to its end
	problem      *Problem // why
	turns        int      // up to there
	mark         []byte   // of what was read before; empty for nothing
}

// reading is what is known behind some events.
type reading struct {
	Store     []byte // what the store needs to go on
	Numbering transcript.Numbering
	Tools     toolNames
	Chars     int
}

// maxMark is the largest mark that is kept, in bytes: to read it is to take much less than the
// conversation.
const maxMark = 2 << 20

// readable returns the messages that can be read of a conversation that cannot be read to its end.
func (r *messageReader) readable(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		for m, err := range r.all(ctx) {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if err != nil || !yield(m, nil) {
				return
			}
		}
	}
}

// all returns the messages behind the mark, and fills in the facts and the mark of the entry when
// they end. Where what the mark is of has changed, the error is [store.ErrChanged].
func (r *messageReader) all(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		var at reading
		if len(r.mark) > 0 && json.Unmarshal(r.mark, &at) != nil {
			yield(nil, store.ErrChanged)
			return
		}
		var extra []byte
		stopped := false
		totals, err := r.conversation.Read(ctx, &at.Store, func(e *transcript.Event) bool {
			number := at.Numbering.Next(e.Kind)
			tool := at.Tools.of(e)
			if number > 0 {
				at.Chars += countChars(e)
			}
			if e.Kind.Role() == transcript.NoRole && e.Kind.Scope() == 0 {
				return true
			}
			kind := uint8(e.Kind)
			if e.Kind == transcript.KindToolResult && e.Failed {
				kind += failedKind
			}
			if e.Copied {
				kind += copiedKind
			}
			x := indexExtra{e.RoleName(), tool, e.Turn, e.Index + 1 - number}
			extra = x.append(extra[:0], e.Kind)
			stopped = !yield(&index.Message{Number: uint32(number), Kind: kind, Time: e.Time, Text: eventtext.Searched(e), Extra: extra}, nil) //nolint:gosec // a count
			return !stopped
		})
		switch {
		case stopped:
			return
		case errors.Is(err, store.ErrChanged):
			yield(nil, err)
			return
		case err != nil:
			r.problem = unreadable(r.conversation.ID, err)
		default:
			r.problem = problemOf(r.conversation.ID, &totals)
		}
		if r.problem != nil {
			r.failed, r.turns = true, totals.Turns
			yield(nil, r.problem.Err)
			return
		}
		r.end(&at, &totals)
	}
}

// end fills in the facts and the mark of the entry.
func (r *messageReader) end(at *reading, totals *store.Totals) {
	r.entry.Mark = nil
	if len(at.Store) > 0 {
		if mark, err := json.Marshal(at); err == nil && len(mark) <= maxMark {
			r.entry.Mark = mark
		}
	}
	f := factsOf(r.conversation)
	f.count(totals, Size{Requests: at.Numbering.Requests, Numbered: at.Numbering.Events, Chars: at.Chars})
	r.entry.Facts = f.encode()
}
