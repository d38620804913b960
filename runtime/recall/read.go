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
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxText is how many characters of a text are shown where several events are
// returned that have more than maxWhole together, and readAhead how many are looked
// at to choose them.
const (
	maxText   = 1500
	maxWhole  = 6000
	readAhead = 12_000
)

// reading is one call of conversation_read in the making.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool
	conversations.Reading

	turns     []int             // the numbers of those that were asked for and exist
	events    []event           // that are asked for, and else requests and answers
	asked     int               // how many events are
	chars     int               // recorded in these
	isLong    bool              // events are shortened, as they are too much together
	latest    int               // where the last is that the assistant said, while it may be the answer, from 1; else 0
	announces bool              // it is an announcement, where the next request is in the same turn
	scopes    transcript.Scopes // that are asked for, but for answers
	answers   transcript.Scopes // that are asked for of answers
	ahead     int               // how many characters of a text are looked at
	calls     toolCalls

	ranking *conversations.Results // of events, where the call says what it looks for
}

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	id, number := splitID(p.ID)
	if p.ID = id; number > 0 && p.Event == nil && p.Turn == nil && p.Last == nil {
		p.Event = &number
	}
	if len(p.Include) == 0 {
		p.Include = []string{"chat", "reasoning", "tool_calls", "tool_results"}
	}
	undone := "whether this is the current conversation is not known"
	if p.IncludeCurrent {
		undone = ""
	}
	if p.Event == nil {
		for _, given := range []struct {
			name  string
			value *int
		}{{"around", p.Around}, {"part", p.Part}} {
			if given.value != nil {
				return nil, contract.Fixable(fmt.Sprintf("%s=%d goes with event=N only: give the number of an event, or leave %s out.", given.name, *given.value, given.name))
			}
		}
	}
	var e *conversation.ReadEnvelope
	read := func(ctx context.Context, source conversations.Source) (err error) {
		call, current := located(ctx, source, call, undone)
		r := newReading(call, p)
		if r.current = current.is(p.ID); r.current && !p.IncludeCurrent {
			return contract.Fixable(fmt.Sprintf("%s is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.", current.ids[0]))
		}
		e, err = r.read(ctx, source)
		return err
	}
	err := ask(ctx, t.open, call, read)
	if isElsewhere(err) {
		everywhere := func(dir string) (conversations.Source, error) { return t.everywhere(dir, nil) }
		if found := ask(ctx, everywhere, call, read); !isElsewhere(found) {
			err = found
		}
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// isElsewhere reports whether a conversation that is not found may be one of another project.
func isElsewhere(err error) bool {
	var missing *conversations.NotFoundError
	var bad *conversations.BadIDError // of a kind of store that this project has none of
	var nowhere *conversations.NoWorkspaceError
	var excluded *conversations.ExcludedError
	return errors.As(err, &missing) || errors.As(err, &bad) || errors.As(err, &nowhere) || errors.As(err, &excluded)
}

// former is a call with its arguments as conversation_read has them, where it is one of the tool
// whose work that does now: its messages before and after one are the neighbours.
func former(call contract.Call) contract.Call {
	var given map[string]json.RawMessage
	if !slices.Contains(conversation.ReadTool().Aliases, call.Tool) || json.Unmarshal(call.Arguments, &given) != nil {
		return call // the dispatcher refuses it
	}
	around := -1
	for _, name := range []string{"before", "after"} {
		if n, err := strconv.Atoi(strings.Trim(string(given[name]), `"`)); err == nil {
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

func newReading(call contract.Call, p conversation.ReadParams) *reading {
	r := &reading{call: call, params: p, calls: toolCalls{}, ahead: readAhead}
	r.scopes, r.answers = included(p.Include, false), included(p.Include, true)
	if p.About != nil && p.Event == nil {
		r.ahead = 0 // what tells most is read again
	}
	return r
}

func (r *reading) read(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	if r.params.Event != nil {
		return r.readEvent(ctx, source)
	}
	q := conversations.ReadQuery{ID: r.params.ID, Kinds: r.wants}
	switch {
	case r.params.Turn != nil:
		q.Turns = func(int) (first, last int) { return *r.params.Turn, *r.params.Turn }
	case r.params.Last != nil:
		q.Turns = func(turns int) (first, last int) { return max(turns-*r.params.Last+1, 1), turns }
	}
	if err := r.collect(ctx, source, q); err != nil {
		return nil, err
	}
	r.countTurns()
	if r.params.About != nil {
		return r.readAbout(ctx, source)
	}
	asked := r.view(func(e *event) bool { return e.isAsked })
	if e := r.whole(asked); e != nil {
		return e, nil
	}
	r.shorten()
	asked = r.view(func(e *event) bool { return e.isAsked })
	if len(r.turns) > 1 && !r.fits(asked) {
		return nil, r.refusal(asked)
	}
	return r.fitted(asked), nil
}

// wants reports whether events of a kind are read: those that are asked for, those
// that begin a turn, and those that a refusal may offer.
func (r *reading) wants(kind transcript.Kind) bool {
	return kind == transcript.KindTurnStart || kind == transcript.KindUser || isSaid(kind) || r.includes(kind, false) ||
		kind == transcript.KindToolCall && r.includes(transcript.KindToolResult, false)
}

// includes reports whether the call asks for events of a kind, which are answers or not.
func (r *reading) includes(kind transcript.Kind, isAnswer bool) bool {
	if isAnswer {
		return kindOf(kind).Scope()&r.answers != 0
	}
	return kindOf(kind).Scope()&r.scopes != 0
}

// collect reads the events of a query.
func (r *reading) collect(ctx context.Context, source conversations.Source, q conversations.ReadQuery) (err error) {
	q.Event = func(e *conversations.Event) error {
		r.add(e)
		return ctx.Err()
	}
	r.Reading, err = source.Read(ctx, q)
	r.settle(true)
	return err
}

func (r *reading) add(recorded *conversations.Event) {
	if recorded.Turn < 1 {
		return // outside of all turns
	}
	if recorded.Turn > r.lastTurn() {
		r.settle(true)
		r.turns = append(r.turns, recorded.Turn)
	}
	isRequest, isSaid := recorded.Kind == transcript.KindUser, isSaid(recorded.Kind)
	if isRequest {
		r.settle(!r.announces)
	}
	e := newEvent(recorded, r.ahead)
	e.call = r.calls.match(recorded)
	if e.isBlank || !isSaid && !isRequest && !r.includes(e.kind, false) {
		return
	}
	if isSaid {
		r.settle(false)
	}
	r.events = append(r.events, e)
	if isSaid {
		r.latest, r.announces = len(r.events), isAnnouncement(recorded.Text)
	} else {
		r.keep(len(r.events) - 1)
	}
}

// settle keeps what the assistant said last, of which it is known now whether it is
// the answer to a request.
func (r *reading) settle(isAnswer bool) {
	if at := r.latest - 1; at >= 0 {
		r.latest = 0
		r.events[at].isAnswer = isAnswer
		r.keep(at)
	}
}

// keep keeps an event, if it is asked for or a request or an answer. Where events are too much
// together, their texts are shortened.
func (r *reading) keep(at int) {
	e := &r.events[at]
	e.isAsked = r.includes(e.kind, e.isAnswer)
	if !e.isAsked && !e.isResult() {
		r.events = slices.Delete(r.events, at, at+1)
		return
	}
	if e.isAsked {
		r.asked++
		r.chars += max(e.chars, 1)
	}
	if r.isLong {
		*e = e.shortened(maxText)
	} else if r.chars > maxWhole && r.asked > 1 {
		r.shorten()
	}
}

// shorten shortens all events that are not.
func (r *reading) shorten() {
	if r.isLong {
		return
	}
	r.isLong = true
	for i, e := range r.events {
		r.events[i] = e.shortened(maxText)
	}
}

// lastTurn is the number of the last turn so far; 0 where there is none.
func (r *reading) lastTurn() int {
	if len(r.turns) == 0 {
		return 0
	}
	return r.turns[len(r.turns)-1]
}

// countTurns adds the turns that have no events at all.
func (r *reading) countTurns() {
	if r.FirstTurn > 0 && r.FirstTurn < r.LastTurn && (len(r.turns) == 0 || r.FirstTurn < r.turns[0]) {
		r.turns = slices.Insert(r.turns, 0, r.FirstTurn)
	}
	if r.LastTurn > r.lastTurn() {
		r.turns = append(r.turns, r.LastTurn)
	}
}

// damageNotes say why what is read is not all that was recorded.
func (r *reading) damageNotes() []string {
	if r.Damage == nil {
		for i := range r.Aside.Problems {
			if p := &r.Aside.Problems[i]; p.Kind == conversations.TooLarge {
				return []string{"Not all of it is here: " + reason(p) + "."}
			}
		}
		return nil
	}
	note := "This conversation is damaged and ends early"
	if why := reason(r.Damage); why != "" {
		note += ": " + why
	}
	return []string{note + ". What stands before the damage can be read."}
}
