package conversations

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/transcript"
)

// copiedKind is added to the kind of a message that is a copy of one of another
// conversation.
const copiedKind = 32

// failedKind is added to the kind of a result that is marked as an error.
const failedKind = 16

// kindOf returns the kind of an event of which the index has a message of a kind.
func kindOf(kind uint8) transcript.Kind { return transcript.Kind(kind & (failedKind - 1)) }

// allKinds and kindsOf are sets of kinds of messages in an index, those that are told in
// another conversation left out.
const allKinds = 1<<copiedKind - 1

func kindsOf(roles transcript.Roles) uint64 {
	if roles == 0 {
		return allKinds
	}
	set := uint64(0)
	for k := range transcript.Kind(failedKind) {
		if role := k.Role(); role != transcript.NoRole && roles.Has(role) {
			set |= 1<<k | 1<<(k+failedKind)
		}
	}
	return set
}

// toolKinds are the kinds of messages that may be of an own tool.
const toolKinds = 1<<transcript.KindToolCall | 1<<transcript.KindToolResult | failedKinds

// failedKinds are those of results that are marked as errors.
const failedKinds = 1 << (transcript.KindToolResult + failedKind)

// indexExtra is what an index has of a message beside its text.
type indexExtra struct {
	role string // as recorded, where it is not that of the kind
	tool string // that is called, or has the result
	turn int    // as [transcript.Event.Turn]
}

func (e *indexExtra) append(b []byte, kind transcript.Kind) []byte {
	b = binary.AppendUvarint(b, uint64(e.turn)) //nolint:gosec // a count
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

// toolNames tells which tool a call or a result is of.
type toolNames struct {
	ids  map[callKey]string // of calls: the tool of the last one with this id
	next []string           // of the calls without an id since the last request
	buf  []byte
}

// callKey stands for the id of a call.
type callKey [8]byte

func callKeyOf(id []byte) callKey {
	sum := sha256.Sum256(id)
	return callKey(sum[:])
}

// walk walks what is known behind some events.
func (c *toolNames) walk(coder *facts.Coder) {
	type tool struct {
		name string
		ids  []callKey
	}
	all := map[string][]callKey{}
	for id, name := range c.ids {
		all[name] = append(all[name], id)
	}
	var tools []tool
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tools = append(tools, tool{name, all[name]})
	}
	c.ids = nil
	facts.List(coder, &tools, func(t *tool) {
		facts.Text(coder, &t.name)
		slices.SortFunc(t.ids, func(a, b callKey) int { return bytes.Compare(a[:], b[:]) })
		facts.List(coder, &t.ids, func(id *callKey) { coder.Fixed(id[:]) })
		for _, id := range t.ids {
			c.keep(id, t.name)
		}
	})
	facts.List(coder, &c.next, func(name *string) { facts.Text(coder, name) })
}

func (c *toolNames) keep(id callKey, name string) {
	if c.ids == nil || len(c.ids) >= maxOpenCalls {
		c.ids = map[callKey]string{}
	}
	c.ids[id] = name
}

// of returns the tool of an event; empty for none. It must see all events of a conversation
// in order.
func (c *toolNames) of(e *transcript.Event) string {
	switch e.Kind {
	case transcript.KindTurnStart, transcript.KindUser:
		c.next = c.next[:0]
	case transcript.KindToolCall:
		c.buf = e.AppendName(c.buf[:0], maxOwnName)
		name := string(c.buf)
		c.buf = e.AppendCallID(c.buf[:0], maxCallID)
		switch {
		case len(c.buf) > 0:
			c.keep(callKeyOf(c.buf), name)
		case len(c.next) < maxOpenCalls:
			c.next = append(c.next, name)
		}
		return name
	case transcript.KindToolResult:
		c.buf = e.AppendCallID(c.buf[:0], maxCallID)
		if len(c.buf) > 0 {
			return c.ids[callKeyOf(c.buf)]
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
	buffer       *store.Buffer
	entry        *index.Conversation
	failed       bool     // the conversation could not be read, or not to its end
	problem      *Problem // why
	mark         []byte   // of what was read before; empty for nothing
}

// reading is what is known behind some events.
type reading struct {
	numbering transcript.Numbering
	tools     toolNames
	chars     int
}

// walk walks it, and what the store needs to go on.
func (r *reading) walk(c *facts.Coder, events *string) {
	facts.Text(c, events)
	facts.Int(c, &r.numbering.Events, &r.numbering.Requests, &r.chars)
	r.tools.walk(c)
}

// maxMark is the largest mark that is kept, in bytes: to read it is to take much less than the
// conversation.
const maxMark = 1 << 20

// mark returns what resume needs behind all events; nil where it could not go on.
func (r *reading) mark(ctx context.Context, events store.Events) []byte {
	resumable, ok := events.(store.Resumable)
	if !ok {
		return nil
	}
	of := string(resumable.Mark(ctx))
	if of == "" {
		return nil
	}
	mark := facts.Encode(func(c *facts.Coder) { r.walk(c, &of) })
	if len(mark) > maxMark {
		return nil
	}
	return mark
}

// resume goes on behind the events of a mark, and reports whether it can.
func (r *reading) resume(ctx context.Context, events store.Events, mark []byte) bool {
	resumable, ok := events.(store.Resumable)
	var of string
	return ok && facts.Decode(mark, func(c *facts.Coder) { r.walk(c, &of) }) && resumable.Resume(ctx, []byte(of))
}

// errNotResumed is the error of messages behind a mark, where what was read then is no longer
// what the conversation begins with.
var errNotResumed = errors.New("the conversation does not go on behind what is indexed")

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
// they end.
func (r *messageReader) all(ctx context.Context) func(func(*index.Message, error) bool) {
	return func(yield func(*index.Message, error) bool) {
		events, err := r.conversation.Events(ctx, r.buffer)
		if err != nil {
			r.failed, r.problem = true, unreadable(r.conversation.ID, err)
			yield(nil, err)
			return
		}
		defer events.Close()
		var at reading
		if len(r.mark) > 0 && !at.resume(ctx, events, r.mark) {
			yield(nil, errNotResumed)
			return
		}
		var extra []byte
		for events.Next(ctx) {
			e := events.Event()
			number := at.numbering.Next(e.Kind)
			tool := at.tools.of(e)
			if number > 0 {
				at.chars += countChars(e, r.buffer)
			}
			if e.Kind.Role() == transcript.NoRole && e.Kind.Scope() == 0 {
				continue
			}
			stored, form := e.Stored()
			decode(e, stored, form, r.buffer)
			unescapeCall(e, r.buffer)
			kind := uint8(e.Kind)
			if e.Kind == transcript.KindToolResult && e.IsError() {
				kind += failedKind
			}
			if e.Copied {
				kind += copiedKind
			}
			x := indexExtra{e.RoleName(), tool, e.Turn}
			extra = x.append(extra[:0], e.Kind)
			if !yield(&index.Message{Number: uint32(number), Kind: kind, Time: e.Time(), Text: r.buffer.Text, Extra: extra}, nil) { //nolint:gosec // a count
				return
			}
		}
		if err := events.Err(); err != nil {
			r.failed, r.problem = true, unreadable(r.conversation.ID, err)
			yield(nil, err)
			return
		}
		totals := events.Totals()
		r.problem = problemOf(r.conversation.ID, events)
		if r.problem != nil && totals.Uncounted == nil {
			totals.Uncounted = r.problem.Err // who searches it is told
		}
		if totals.Uncounted != nil {
			r.failed = true
			yield(nil, totals.Uncounted)
			return
		}
		if digested, ok := events.(store.DigestedEvents); ok && r.entry.Version == "" {
			r.entry.Version = indexVersionOf(digested.Version(), r.conversation)
		}
		r.entry.Mark = at.mark(ctx, events)
		r.entry.Facts = (&indexFacts{
			Read: true, Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime,
			Size:     [...]int{totals.Turns, at.numbering.Requests, at.numbering.Events, at.chars},
			NativeID: r.conversation.NativeID, Source: r.conversation.Source,
		}).encode()
		counted := counts{
			Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime,
			Size: &Size{Turns: totals.Turns, Requests: at.numbering.Requests, Numbered: at.numbering.Events, Chars: at.chars},
		}
		counted.keep(r.conversation)
	}
}
