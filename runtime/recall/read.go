package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	// pastedRequest is how many characters a paste in a request has at most that is shown
	// all the same: what the user said is wanted.
	pastedRequest = 400
)

// reading is one call of conversation_read in the making.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool
	conversations.Reading
	turns int // that were asked for and exist

	chars     int     // recorded in all that is asked for
	latest    *event  // what the assistant said last, while it may be the answer
	announces bool    // it is an announcement, where the next request is in the same turn
	asked     []turn  // the turns, with the events that are asked for
	results   []turn  // the same with requests and answers alone
	single    digest  // all events that are asked for
	whole     []event // all events so far, while there is one, or they have no more than maxWhole characters
	requests  outline // in what is asked for
	calls     toolCalls

	// Instead of all these, where the call says what it looks for: the events that are asked
	// for, and how they rank.
	numbers []int
	ranking *conversations.Ranking
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
	q := conversations.ReadQuery{ID: r.params.ID, Kinds: r.wants, MaxText: readAhead, MaxJSON: readAhead}
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
	r.release(true)
	r.countTurns()
	if r.params.About != nil {
		return r.readAbout(ctx, source)
	}
	if e := r.unshortened(); e != nil {
		return e, nil
	}
	if r.turns <= 1 {
		return r.oneTurn(), nil
	}
	if r.fits(r.asked) {
		return r.several(r.asked), nil
	}
	return nil, r.refusal()
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

// isUsual reports whether an answer with some turns is not shortened further.
func (r *reading) isUsual(turns []turn) bool { return chars(r.envelope(turns, 0, 0)) <= usualRead }

// several is the answer with turns that fit.
func (r *reading) several(turns []turn) *conversation.ReadEnvelope {
	e := r.envelope(turns, 0, 0)
	for _, limit := range levels()[1:] {
		if chars(e) <= usualRead {
			break
		}
		shorter := make([]turn, len(turns))
		for i, t := range turns {
			shorter[i] = turn{number: t.number}
			for _, event := range t.events {
				shorter[i].events = append(shorter[i].events, event.shortened(limit))
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
		r.release(true)
		r.begin(recorded.Turn)
	}
	kind := kindOf(recorded.Kind)
	if kind == "" {
		return
	}
	if kind == kindUser {
		r.release(r.latest == nil || r.latest.turn != recorded.Turn || !r.announces)
		r.requests.add(newRequest(recorded))
	}
	call := r.calls.match(recorded, kind)
	isSaid := isSaid(kind)
	if !isSaid && kind != kindUser && !includes(r.params.Include, kind, false) {
		return
	}
	e := newEvent(recorded, kind)
	e.call = call
	switch {
	case e.isBlank():
	case isSaid:
		r.release(false)
		r.latest, r.announces = &e, isAnnouncement(recorded.Text)
	default:
		r.keep(e, false)
	}
}

// release keeps what the assistant said last, of which it is known now whether it is
// the answer to a request.
func (r *reading) release(isAnswer bool) {
	if r.latest != nil {
		r.keep(*r.latest, isAnswer)
		r.latest = nil
	}
}

func (r *reading) keep(e event, isAnswer bool) {
	kind := e.shown.EventKind
	isAsked := includes(r.params.Include, kind, isAnswer)
	if r.params.About != nil {
		if isAsked {
			r.numbers = append(r.numbers, e.shown.Event)
		}
		return
	}
	if isAsked {
		isFirst := r.chars == 0
		// A program may say anything of how long a text is.
		r.chars += min(max(e.chars, 1), math.MaxInt-r.chars)
		switch {
		case r.chars <= maxWhole:
			r.whole = append(r.whole, e)
		case isFirst:
			r.whole = []event{e.shortened(partChars)}
		default:
			r.whole = nil
		}
	}
	if kind == kindUser {
		e = e.withoutPastes(pastedRequest)
	}
	e = e.shortened(maxText)
	if kind == kindUser || isAnswer {
		r.results[len(r.results)-1].add(e)
	}
	if isAsked {
		r.asked[len(r.asked)-1].add(e)
		rank := rankOf(kind, isAnswer)
		r.single[rank] = append(r.single[rank], e)
	}
}

// begin begins a turn.
func (r *reading) begin(number int) {
	r.turns++
	r.asked, r.results = append(r.asked, turn{number: number}), append(r.results, turn{number: number})
}

// lastTurn is the number of the last turn so far; 0 where there is none.
func (r *reading) lastTurn() int {
	if len(r.asked) == 0 {
		return 0
	}
	return r.asked[len(r.asked)-1].number
}

// countTurns adds the turns that have no events at all.
func (r *reading) countTurns() {
	if r.FirstTurn > 0 && r.turns > 0 && r.FirstTurn < r.asked[0].number {
		r.turns++
		first := turn{number: r.FirstTurn}
		r.asked, r.results = slices.Insert(r.asked, 0, first), slices.Insert(r.results, 0, first)
	}
	if r.LastTurn > r.lastTurn() {
		if r.turns == 0 && r.FirstTurn > 0 && r.FirstTurn < r.LastTurn {
			r.begin(r.FirstTurn)
		}
		r.begin(r.LastTurn)
	}
}

// unshortened is the answer with all texts whole; nil where they are too long. An event
// that is the only one of one turn has as much room as with its number.
func (r *reading) unshortened() *conversation.ReadEnvelope {
	if len(r.whole) == 0 || r.turns > 1 && r.chars > maxWhole {
		return nil
	}
	slices.SortFunc(r.whole, byNumber)
	turns, rest := slices.Clone(r.asked), r.whole
	for i := range turns {
		n := len(turns[i].events)
		turns[i].events, rest = rest[:n], rest[n:]
	}
	if e := r.envelope(turns, 0, 0); chars(e) <= conversation.ReadMaxChars {
		return e
	}
	return nil
}

// oneTurn is the answer with one turn, or none: the longest form of it that fits.
func (r *reading) oneTurn() *conversation.ReadEnvelope {
	omitted := 0
	form := func(k int) *conversation.ReadEnvelope {
		var events []event
		var first int
		events, omitted, first = r.single.form(k)
		var turns []turn
		if r.turns > 0 {
			turns = []turn{{number: r.asked[0].number, events: events}}
		}
		return r.envelope(turns, omitted, first)
	}
	within := func(limit int) *conversation.ReadEnvelope {
		return form(sort.Search(r.single.forms(), func(k int) bool { return r.single.least(k) <= limit && chars(form(k)) <= limit }))
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
