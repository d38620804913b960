package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// reading is one call of conversation_read.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool
	anyway  bool // too much is not refused
	source  conversations.Source
	// answers and others are the scopes that are asked for: of answers, and of
	// all other events.
	answers, others transcript.Scopes

	conversations.Reading
	turns   []int                  // those that are asked for
	events  []event                // of these turns, requests and answers among them
	asked   []event                // those that are asked for
	chars   int                    // recorded in these
	ranking *conversations.Results // of events, where the call has about
}

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	return t.readAs(ctx, call, p, false)
}

// readAs reads as the parameters say. Where what they ask for is too
// much, it is refused, unless anyway is true.
func (t *Tools) readAs(ctx context.Context, call contract.Call, p conversation.ReadParams, anyway bool) (e *conversation.ReadEnvelope, err error) {
	id, number := splitID(p.ID)
	if p.ID = id; number > 0 && p.Event == nil && p.Turn == nil && p.Last == nil {
		p.Event = &number
	}
	if len(p.Include) == 0 {
		p.Include = []string{"chat", "reasoning", "tool_calls", "tool_results"}
	}
	if p.Event == nil && p.Around != nil {
		return nil, withoutEvent("around", *p.Around)
	}
	if p.Event == nil && p.Part != nil {
		return nil, withoutEvent("part", *p.Part)
	}
	undone := "whether this is the current conversation is not known"
	if p.IncludeCurrent {
		undone = ""
	}
	read := func(ctx context.Context, source conversations.Source) (err error) {
		call, current := locate(ctx, source, call, undone)
		r := &reading{call: call, params: p, source: source, anyway: anyway}
		r.answers, r.others = included(p.Include)
		if r.current = current.is(p.ID); r.current && !p.IncludeCurrent {
			return contract.Fixable(current.ids[0] + " is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.")
		}
		e, err = r.read(ctx)
		return err
	}
	if err = t.ask(ctx, call, conversations.Options{}, read); isElsewhere(err) {
		found := t.ask(ctx, call, conversations.Options{AllProjects: true}, read)
		if !isElsewhere(found) {
			err = found
		}
	}
	return e, err
}

func withoutEvent(name string, value int) error {
	return contract.Fixable(fmt.Sprintf("%s=%d goes with event=N only: give the number of an event, or leave %s out.", name, value, name))
}

// isElsewhere reports whether a conversation that is not found may be
// one of another project.
func isElsewhere(err error) bool {
	var missing *conversations.NotFoundError
	var bad *conversations.BadIDError // of a store that this project has none of
	var nowhere *conversations.NoWorkspaceError
	var excluded *conversations.ExcludedError
	return errors.As(err, &missing) || errors.As(err, &bad) || errors.As(err, &nowhere) || errors.As(err, &excluded)
}

// former returns a call with its arguments as conversation_read has
// them, where it is one of the tool whose work that does now: its
// messages before and after one are the neighbours.
func former(call contract.Call) contract.Call {
	var given map[string]json.RawMessage
	if !slices.Contains(conversation.ReadTool().Aliases, call.Tool) || json.Unmarshal(call.Arguments, &given) != nil {
		return call // the dispatcher refuses it
	}
	around := -1
	for _, name := range []string{"before", "after"} {
		n, err := strconv.Atoi(strings.Trim(string(given[name]), `"`))
		if err == nil {
			around = max(around, n, 0)
		}
		delete(given, name)
	}
	if around >= 0 {
		given["around"] = json.RawMessage(strconv.Itoa(around))
	}
	if arguments, err := json.Marshal(given); err == nil {
		call.Arguments = arguments
	}
	return call
}

func (r *reading) read(ctx context.Context) (*conversation.ReadEnvelope, error) {
	if r.params.Event != nil {
		return r.readEvent(ctx)
	}
	q := conversations.ReadQuery{ID: r.params.ID, Kinds: r.wants}
	switch {
	case r.params.Turn != nil:
		q.Turns = func(int) (first, last int) { return *r.params.Turn, *r.params.Turn }
	case r.params.Last != nil:
		q.Turns = func(turns int) (first, last int) { return max(turns-*r.params.Last+1, 1), turns }
	}
	var err error
	if r.events, r.Reading, err = readEvents(ctx, r.source, q); err != nil {
		return nil, err
	}
	for n := max(r.FirstTurn, 1); n <= r.LastTurn; n++ {
		r.turns = append(r.turns, n)
	}
	for _, e := range r.events {
		if r.includes(e.kind, e.isAnswer) {
			r.asked = append(r.asked, e)
			r.chars += max(e.chars, 1)
		}
	}
	if r.params.About != nil {
		return r.readAbout(ctx)
	}
	return r.fitted()
}

// wants reports whether events of a kind are read: those that are asked
// for, and those that a refusal may name.
func (r *reading) wants(kind transcript.Kind) bool {
	return kind == transcript.KindUser || isSaid(kind) || r.includes(kind, false) ||
		kind == transcript.KindToolCall && r.includes(transcript.KindToolResult, false)
}

// includes reports whether the call asks for events of a kind, which
// are answers or not.
func (r *reading) includes(kind transcript.Kind, isAnswer bool) bool {
	if kind == transcript.KindInquiryResponse {
		kind = transcript.KindInquiry
	}
	if isAnswer {
		return kind.Scope()&r.answers != 0
	}
	return kind.Scope()&r.others != 0
}

// readEvents reads the events of a query that have a text.
func readEvents(ctx context.Context, source conversations.Source, q conversations.ReadQuery) (events []event, r conversations.Reading, err error) {
	calls := map[string]int{}
	q.Event = func(recorded *conversations.Event) error {
		if recorded.Turn > 0 && !isBlank(recorded) {
			e := newEvent(recorded)
			e.joinCall(recorded, calls)
			events = append(events, e)
		}
		return ctx.Err()
	}
	r, err = source.Read(ctx, q)
	markAnswers(events)
	return events, r, err
}

// joinCall names the event of the call that an event is the result of.
func (e *event) joinCall(recorded *conversations.Event, calls map[string]int) {
	switch id := recorded.CallID; {
	case id == "":
	case e.kind == transcript.KindToolCall:
		calls[id] = e.shown.Event
	case e.kind == transcript.KindToolResult:
		e.shown.Call = calls[id]
	}
}

// markAnswers marks the last that the assistant said before each next
// request, or before the next turn.
func markAnswers(events []event) {
	isNext, turn := true, 0
	for i, e := range slices.Backward(events) {
		isNext = isNext || e.turn != turn || e.kind == transcript.KindUser
		turn = e.turn
		if isNext && isSaid(e.kind) {
			events[i].isAnswer, isNext = true, false
		}
	}
}

// damageNotes returns a note where the conversation has more than can be read.
func (r *reading) damageNotes() []string {
	if r.Damage != nil {
		return []string{"This conversation is damaged and ends early: " + clip(text.Line(r.Damage.Err.Error()), maxReason) + ". What stands before the damage can be read."}
	}
	for _, p := range r.Aside.Problems {
		if p.Kind == conversations.TooLarge {
			return []string{"Not all of it is here: " + p.Err.Error() + "."}
		}
	}
	return nil
}
