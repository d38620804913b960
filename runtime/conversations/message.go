package conversations

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"

	"github.com/convtools/convtools/runtime/base/secret"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/transcript"
)

// The kind of a message in an index is the kind of its event plus these numbers.
const (
	markedKind = 16 // marks a failed result, and a call that runs a shell command, which cannot fail
	copiedKind = 32 // for a copy of a message of another conversation
)

// failedKinds are the kinds of results marked as errors, and commandKinds those of calls that run a command. toolKinds
// are the kinds that may be of a tool of ours. All three have the bit 1<<k for each kind k, without copies.
const (
	failedKinds  = 1 << (transcript.KindToolResult + markedKind)
	commandKinds = 1 << (transcript.KindToolCall + markedKind)
	toolKinds    = 1<<transcript.KindToolCall | 1<<transcript.KindToolResult | failedKinds | commandKinds
)

// kindOf returns the kind of a message's event. isOfTool reports whether the message may be of a tool, and isFailed
// whether it is a result marked as an error.
func kindOf(kind uint8) transcript.Kind { return transcript.Kind(kind & (markedKind - 1)) }
func isOfTool(kind uint8) bool          { return toolKinds>>(kind&^copiedKind)&1 != 0 }
func isFailed(kind uint8) bool          { return failedKinds>>(kind&^copiedKind)&1 != 0 }

// messageKind returns the kind of an event's message in an index. command is the command that a call runs; empty for
// none. markedKind marks a failed result and a call with a command. One mark is enough, because no kind of event can be
// both.
func messageKind(e *transcript.Event, command string) uint8 {
	kind := uint8(e.Kind)
	if isFailure := e.Kind == transcript.KindToolResult && e.Failed; isFailure || command != "" {
		kind += markedKind
	}
	if e.Copied {
		kind += copiedKind
	}
	return kind
}

// indexExtra is the data of a message in an index besides its text.
type indexExtra struct {
	secret bool   // the text has a secret
	role   string // as recorded, if it is not the role of the kind
	tool   string // the tool that is called, or whose result it is
	turn   int    // as [transcript.Event.Turn]
	// unnumbered is the number of events before the message that have no number. With it [Hit.Index] is the same for a
	// store and a copy of it.
	unnumbered int
	call       int    // the number of the event whose call has this result; 0 if it is not known
	files      string // the files that a call changes, as recorded, each on a line
	command    string // the beginning of the command that a call runs
}

// fields returns pointers for [filecache.AppendFields]. secret is the first: [hasSecret] reads it alone.
func (e *indexExtra) fields() []any {
	return []any{&e.secret, &e.turn, &e.unnumbered, &e.role, &e.tool, &e.call, &e.files, &e.command}
}

// hasSecret reports whether the text of a message with extra data has a secret; true also if the data is empty.
func hasSecret(extra []byte) bool { return len(extra) == 0 || extra[0] != 0 }

// parseExtra decodes the data of a message besides its text. kind is that of the message's event. If the data is
// malformed, the result has only the role of the kind.
func parseExtra(b []byte, kind transcript.Kind) (e indexExtra) {
	if !filecache.ReadFields(b, e.fields()...) {
		e = indexExtra{}
	}
	e.role = cmp.Or(e.role, kind.Role().String())
	return e
}

// maxToolName and maxCommand are the numbers of characters of the name of a tool and of a command that an index keeps.
const maxToolName, maxCommand = 200, 1000

// toolCall is a call of a tool, with the number of the call's event.
type toolCall struct {
	tool   string
	number int
}

// toolCalls has calls by their ids: the last call with an id, and the calls without an id since the last request that
// have no result yet.
type toolCalls map[string][]toolCall

// callOf returns the tool call that an event belongs to: for the event of a call that call, for the event of a result
// the call with that result, and for other events the zero value. number is the number of the event. callOf must be
// called with all events of a conversation in order.
func (c toolCalls) callOf(e *transcript.Event, number int) (call toolCall) {
	open := c[e.CallID]
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		delete(c, "") // calls without an id have no more results
	case transcript.KindToolCall:
		call.tool, _, _ = text.Ends(e.Name, maxToolName, 0)
		call.number = number
		if e.CallID != "" {
			open = nil // the last call with an id counts
		}
		c[e.CallID] = append(open, call)
	case transcript.KindToolResult:
		if len(open) > 0 {
			call = open[0]
			if e.CallID == "" { // without ids, results come in the order of the calls
				c[""] = open[1:]
			}
		}
	}
	return call
}

// extra returns the data that an index keeps with the message of an event. Like callOf, it needs all events in order.
func (c toolCalls) extra(e *transcript.Event, number int) indexExtra {
	call := c.callOf(e, number)
	x := indexExtra{tool: call.tool, turn: e.Turn, unnumbered: e.Index + 1 - number} // e.Index counts all events, from 0
	if isCall := call.number == number; !isCall {
		x.call = call.number // the call with this result; 0 for an event that is no result
	}
	if role := e.RoleName(); role != e.Kind.Role().String() {
		x.role = role
	}
	x.files = filesOf(toolcall.Edits(e))
	x.command = text.Cut(toolcall.Command(e), maxCommand)
	return x
}

// messageReader reads the messages of a conversation for an index.
type messageReader struct {
	conversation *store.Conversation
	entry        *index.Conversation // the new entry, which is filled in
	version      string              // for the new entry
	before       index.Conversation  // the entry in the index; only messages after its messages are returned
	problem      *Problem            // set if the conversation could not be read without a problem
}

// messages yields the messages of the conversation that the index does not have, as far as they can be read. After the
// last message it sets the entry and the problem of the reader. If the conversation does not begin with the messages in
// the index, it yields only [errRewritten]. If the context is done, it yields the error of the context and ends.
func (r *messageReader) messages(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		var counts counting
		var extra, head []byte
		calls := toolCalls{}
		sum, read := sha256.New(), 0           // of the messages read
		isStopped, isRewritten := false, false // why reading ended early
		totals, err := r.conversation.Read(ctx, func(e *transcript.Event) bool {
			number := counts.next(e)
			x := calls.extra(e, number)
			if e.Kind.Role() == transcript.NoRole && e.Kind.Scope() == 0 {
				return true // nothing of the event is searched
			}
			m := index.Message{Number: uint32(number), Kind: messageKind(e, x.command), Time: e.Time, Text: eventtext.Searched(e)} //nolint:gosec // a count
			x.secret = secret.Has(m.Text)
			extra = filecache.AppendFields(extra[:0], x.fields()...)
			m.Extra = extra
			kind, size := int(m.Kind), len(m.Text)
			head = filecache.AppendFields(head[:0], &number, &kind, &m.Time, &size)
			for _, part := range [][]byte{head, extra, m.Text} {
				sum.Write(part)
			}
			read++
			if read > r.before.Messages {
				isStopped = !yield(&m, nil)
			} else if read == r.before.Messages { // the messages in the index must have the same sum
				isRewritten = !bytes.Equal(sum.Sum(nil), r.before.Sum)
			}
			return !isStopped && !isRewritten
		})
		switch {
		case isStopped: // the caller wants no more messages
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case isRewritten || read < r.before.Messages:
			yield(nil, errRewritten)
		default:
			r.entry.Sum = sum.Sum(nil)
			r.finishEntry(&counts, &totals, err)
		}
	}
}

// finishEntry sets r.problem, and the version and the facts of r.entry. err is the error of reading the conversation.
func (r *messageReader) finishEntry(counts *counting, totals *store.Totals, err error) {
	f := facts{Conversation: r.conversation.Conversation}
	r.problem = problemOf(f.ID, totals)
	if err != nil { // more serious than a problem in totals
		r.problem = unreadable(f.ID, err)
	}
	if p := r.problem; p == nil {
		f.setCounts(totals, counts)
	} else {
		f.Size.Turns, f.Kind, f.Event, f.Err = totals.Turns, int(p.Kind), p.Event, p.Err.Error() // other counts lack what was not read
	}
	if r.entry.Version = r.version; r.problem != nil && r.problem.Kind == store.Unreadable {
		r.entry.Version = "" // the next query reads the conversation again
	}
	r.entry.Facts = filecache.AppendFields(nil, f.fields()...)
}
