package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

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
	// usualRead is about how many characters an answer with several events has: where it
	// has more, texts are shortened further, but none is left out.
	usualRead = 10_000
)

// reading is one call of conversation_read in the making.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool
	conversations.Reading

	turns     []int   // the numbers of those that were asked for and exist
	events    []event // that are asked for, and else requests and answers
	asked     int     // how many events are
	chars     int     // recorded in these
	isLong    bool    // events are shortened, as they are too much together
	latest    int     // where the last is that the assistant said, while it may be the answer, from 1; else 0
	announces bool    // it is an announcement, where the next request is in the same turn
	requests  outline
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
	err := t.ask(ctx, call, read)
	if isElsewhere(err) {
		everywhere := func(dir string) (conversations.Source, error) { return t.everywhere(dir, nil) }
		if found := t.askOf(ctx, everywhere, call, read); !isElsewhere(found) {
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
	return &reading{call: call, params: p, calls: toolCalls{}}
}

func (r *reading) read(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	if r.params.Event != nil {
		return r.readEvent(ctx, source)
	}
	return r.readTurns(ctx, source)
}

// readTurns reads turns: the answer is whole where it fits, a refusal where it has
// several turns and does not, and left short where it has one.
func (r *reading) readTurns(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	q := conversations.ReadQuery{ID: r.params.ID, Kinds: r.wants}
	switch {
	case r.params.Turn != nil:
		only := conversations.Bound{Kind: conversations.Turn, N: *r.params.Turn}
		q.Turns = conversations.Turns{First: only, Last: only}
	case r.params.Last != nil:
		q.Turns.First = conversations.Bound{Kind: conversations.CountBack, N: *r.params.Last}
	}
	q.Event = func(e *conversations.Event) error {
		r.add(e)
		return ctx.Err()
	}
	var err error
	if r.Reading, err = source.Read(ctx, q); err != nil {
		return nil, err
	}
	r.settle(true)
	r.countTurns()
	if r.params.About != nil {
		return r.readAbout(ctx, source)
	}
	if e := r.unshortened(); e != nil {
		return e, nil
	}
	r.shorten()
	asked := r.grouped(func(e *event) bool { return e.isAsked })
	switch {
	case len(r.turns) <= 1:
		return r.oneTurn(), nil
	case r.fits(asked):
		return r.several(asked), nil
	}
	return nil, r.refusal(asked)
}

// grouped are the turns, with some of their events.
func (r *reading) grouped(wanted func(*event) bool) []turn {
	turns, i := make([]turn, len(r.turns)), 0
	for i, number := range r.turns {
		turns[i].number = number
	}
	for _, e := range r.events {
		for turns[i].number < e.turn {
			i++
		}
		if wanted(&e) {
			turns[i].events = append(turns[i].events, e)
		}
	}
	return turns
}

// fits reports whether an answer has room for all texts of some turns, shortened to
// maxText.
func (r *reading) fits(turns []turn) bool {
	least := 0
	for i := range turns {
		if least += turns[i].cost(); least > conversation.ReadMaxChars {
			return false // which saves writing the answer
		}
	}
	return chars(r.envelope(turns, 0, 0)) <= conversation.ReadMaxChars
}

// several is the answer with turns that fit.
func (r *reading) several(turns []turn) *conversation.ReadEnvelope {
	e := r.envelope(turns, 0, 0)
	for _, limit := range levels()[1:] {
		if chars(e) <= usualRead {
			break
		}
		shorter := slices.Clone(turns)
		for i := range shorter {
			shorter[i].events = slices.Clone(shorter[i].events)
			for j, e := range shorter[i].events {
				shorter[i].events[j] = e.shortened(limit)
			}
		}
		e = r.envelope(shorter, 0, 0)
	}
	return e
}

// wants reports whether events of a kind are read: those that are asked for, those
// that begin a turn, and those that a refusal may offer.
func (r *reading) wants(kind transcript.Kind) bool {
	name := kindOf(kind)
	return kind == transcript.KindTurnStart || name == kindUser || isSaid(name) || includes(r.params.Include, name, false) ||
		name == kindToolCall && includes(r.params.Include, kindToolResult, false)
}

func (r *reading) add(recorded *conversations.Event) {
	if recorded.Turn < 1 {
		return // outside of all turns
	}
	if recorded.Turn > r.lastTurn() {
		r.settle(true)
		r.turns = append(r.turns, recorded.Turn)
	}
	kind := kindOf(recorded.Kind)
	if kind == kindUser {
		r.settle(!r.announces)
		r.requests.add(newRequest(recorded))
	}
	call := r.calls.match(recorded, kind)
	isSaid := isSaid(kind)
	if !isSaid && kind != kindUser && !includes(r.params.Include, kind, false) {
		return
	}
	e := newEvent(recorded, kind, readAhead)
	if e.call = call; e.isBlank() {
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
	e.isAsked = includes(r.params.Include, e.shown.EventKind, e.isAnswer)
	if !e.isAsked && !e.isResult() {
		r.events = slices.Delete(r.events, at, at+1)
		return
	}
	if e.isAsked {
		r.asked++
		r.chars += max(e.chars, 1)
	}
	switch {
	case r.params.About != nil:
		e.body = body{}
	case r.isLong:
		*e = e.shortened(maxText)
	case r.chars > maxWhole && r.asked > 1:
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

// unshortened is the answer with all texts whole; nil where they are too long. An event
// that is the only one of one turn has as much room as with its number.
func (r *reading) unshortened() *conversation.ReadEnvelope {
	if r.asked == 0 || r.isLong || len(r.turns) > 1 && r.chars > maxWhole {
		return nil
	}
	turns := r.grouped(func(e *event) bool { return e.isAsked })
	if r.chars > maxWhole {
		for i := range turns {
			for j, e := range turns[i].events {
				turns[i].events[j] = e.shortened(partChars)
			}
		}
	}
	if e := r.envelope(turns, 0, 0); chars(e) <= conversation.ReadMaxChars {
		return e
	}
	return nil
}

// oneTurn is the answer with one turn, or none: the longest form of it that fits.
func (r *reading) oneTurn() *conversation.ReadEnvelope {
	var d digest
	for _, e := range r.events {
		if e.isAsked {
			d[e.rank()] = append(d[e.rank()], e)
		}
	}
	omitted := 0
	form := func(k int) *conversation.ReadEnvelope {
		var events []event
		var first int
		events, omitted, first = d.form(k)
		var turns []turn
		for _, number := range r.turns {
			turns = append(turns, turn{number: number, events: events})
		}
		return r.envelope(turns, omitted, first)
	}
	within := func(limit int) *conversation.ReadEnvelope {
		return form(sort.Search(d.forms(), func(k int) bool {
			_, shown := d.plan(k)
			return shown*leastFrame <= limit && chars(form(k)) <= limit
		}))
	}
	if e := within(usualRead); omitted == 0 {
		return e
	}
	return within(conversation.ReadMaxChars)
}

// envelope shows turns. Of their events some may be omitted, the first of them by its
// number.
func (r *reading) envelope(turns []turn, omitted, first int) *conversation.ReadEnvelope {
	e := r.bare(turns, 0)
	switch {
	case r.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Turns > 0 && e.Events == 0 && omitted == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if note := shortNote(turns, e.Events, omitted, first); note != "" {
		e.Truncated = true
		e.Notes = append(e.Notes, note)
	}
	e.Notes = append(e.Notes, r.damageNotes()...)
	return e
}

// shortNote says what is missing of the events of an answer, and which calls show
// it; empty where nothing is.
func shortNote(turns []turn, shown, omitted, first int) string {
	shortened := 0
	var longest *event
	for i := range turns {
		for j := range turns[i].events {
			if e := &turns[i].events[j]; e.body.isShortened() {
				shortened++
				if longest == nil || e.chars > longest.chars {
					longest = e
				}
			}
		}
	}
	switch {
	case omitted > 0 && shortened > 0:
		return fmt.Sprintf("%d of %d events are left out, the first is event=%d; %d are shortened. event=N shows any of them in full.", omitted, shown+omitted, first, shortened)
	case omitted > 0:
		return fmt.Sprintf("%d of %d events are left out, the first is event=%d. event=N shows any of them.", omitted, shown+omitted, first)
	case shortened == 1:
		return fmt.Sprintf("1 text is shortened: event=%d shows it in full (%s).", longest.shown.Event, short(longest.chars))
	case shortened > 0:
		return fmt.Sprintf("%d texts are shortened: event=N shows one in full, the longest is event=%d (%s).", shortened, longest.shown.Event, short(longest.chars))
	default:
		return ""
	}
}

// bare shows turns, or one event and its neighbours where it has a number, with the
// notes of the call.
func (r *reading) bare(turns []turn, number int) *conversation.ReadEnvelope {
	var e conversation.ReadEnvelope
	e.ID, e.Title, e.TotalTurns = string(r.ID), clip(r.Title, maxTitle), r.Turns
	e.Archived, e.Hidden, e.Current = r.Archived, r.Hidden, r.current
	var at time.Time
	for i := range turns {
		shown := conversation.ReadTurn{Index: turns[i].number}
		events := turns[i].events
		several := len(events) > 0 && events[0].request != events[len(events)-1].request
		request := 0
		for j := range events {
			event := &events[j]
			line := event.render()
			if several && event.request != request {
				line.Request, request = event.request, event.request
			}
			isTimed := j == 0 || event.at.Sub(at).Abs() >= time.Minute
			if number > 0 {
				isTimed = event.shown.Event == number
			}
			if isTimed && !event.at.IsZero() {
				line.Timestamp, at = event.at, event.at
			}
			if event.call != event.shown.Event-1 {
				line.Call = event.call
			}
			if number == 0 {
				e.Events++
			}
			e.Truncated = e.Truncated || line.Truncated && (number == 0 || event.shown.Event == number)
			shown.Events = append(shown.Events, line)
		}
		e.Turns = append(e.Turns, shown)
	}
	if n := len(turns); n > 1 && number == 0 {
		e.TurnCount, e.FirstTurn, e.LastTurn = n, turns[0].number, turns[n-1].number
	}
	if notes := remarks(r.call); len(notes) > 0 {
		e.Notes = []string{clip(strings.Join(notes, " "), maxRemarks)}
	}
	return &e
}

// maxRemarks is how many characters the notes about a call have together.
const maxRemarks = 600

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

// errTooMuch is the cause of a refusal: a call for less works.
var errTooMuch = errors.New("more than an answer can have")
