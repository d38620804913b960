package recall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// reading is one call of conversation_read.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool // it reads the current conversation
	anyway  bool // too much is shortened further, and not refused
	source  conversations.Source
	// answers and others are the scopes that are asked for: of answers, and of all other events.
	answers, others transcript.Scopes

	conversations.Reading
	turns   []int                  // those that are asked for
	events  []event                // of these turns, requests and answers among them
	asked   []event                // those that are asked for
	chars   int                    // of the whole texts of asked
	ranking *conversations.Results // of events, where the call has about
}

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	return t.readAs(ctx, call, p, false)
}

// readAs reads what the parameters ask for from the project, or from all projects if the project has no such
// conversation. It returns the first of these errors: the parameters are wrong, they ask for the current conversation,
// the result is too large. If anyway is set, it shortens a result that is too large, and returns no error for it.
func (t *Tools) readAs(ctx context.Context, call contract.Call, p conversation.ReadParams, anyway bool) (e *conversation.ReadEnvelope, err error) {
	id, number := splitID(p.ID)
	hasRange := p.Event != nil || p.Turn != nil || p.Last != nil
	if p.ID = id; number > 0 && !hasRange {
		p.Event = &number
	}
	if len(p.Include) == 0 {
		p.Include = []string{"chat", "reasoning", "tool_calls", "tool_results"}
	}
	if n := cmp.Or(p.Around, p.Part); p.Event == nil && n != nil {
		name := either(p.Around != nil, "around", "part")
		return nil, contract.Fixable(fmt.Sprintf("%s=%d goes with event=N only: give the number of an event, or leave %s out.", name, *n, name))
	}
	ifCurrentUnknown := either(given(p.IncludeCurrent), "", "whether this is the current conversation is not known")
	read := func(ctx context.Context, source conversations.Source) (err error) {
		call, current := locate(ctx, source, call, ifCurrentUnknown)
		r := &reading{call: call, params: p, source: source, anyway: anyway}
		r.answers, r.others = included(p.Include)
		if r.current = current.is(p.ID); r.current && !given(p.IncludeCurrent) {
			return contract.Fixable(current.ids[0] + " is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.")
		}
		e, err = r.read(ctx)
		return err
	}
	err = t.ask(ctx, call, conversations.Options{}, read)
	if !isElsewhere(err) {
		return e, err
	}
	if errAll := t.ask(ctx, call, conversations.Options{AllProjects: true}, read); !isElsewhere(errAll) {
		return e, errAll
	}
	return e, err // no project has it: the error about this project says more
}

// splitID splits the id of a message, such as jp-c17648402467:12, into the id of its conversation and the number of its
// event. An id without such a number is returned whole, with 0.
func splitID(id string) (conversation string, number int) {
	conversation, event, _ := strings.Cut(id, ":")
	if n, err := strconv.ParseInt(event, 10, 32); err == nil && n > 0 {
		return conversation, int(n)
	}
	return id, 0
}

// isElsewhere reports whether another project may have the conversation that err says is not here.
func isElsewhere(err error) bool {
	var missing *conversations.NotFoundError
	var bad *conversations.BadIDError // the id may have the form of a store that only another project has
	var nowhere *conversations.NoWorkspaceError
	var excluded *conversations.ExcludedError
	return errors.As(err, &missing) || errors.As(err, &bad) || errors.As(err, &nowhere) || errors.As(err, &excluded)
}

// translateAlias translates the arguments of a call of a tool that conversation_read has replaced: the argument around
// takes the place of before and after. The name of the tool stays. Any other call is returned as it is.
func translateAlias(call contract.Call) contract.Call {
	var given map[string]json.RawMessage
	if !slices.Contains(conversation.ReadTool().Aliases, call.Tool) || json.Unmarshal(call.Arguments, &given) != nil {
		return call // the dispatcher refuses arguments that are not JSON
	}
	for _, name := range []string{"before", "after"} {
		if n, ok := given[name]; ok {
			given["around"] = n
			delete(given, name)
		}
	}
	call.Arguments = json.RawMessage(coerce.JSON(given))
	return call
}

// read reads what the parameters select, and returns the answer: one event, the events on about, or all events.
func (r *reading) read(ctx context.Context) (*conversation.ReadEnvelope, error) {
	if r.params.Event != nil {
		return r.readEvent(ctx)
	}
	q := conversations.ReadQuery{ID: r.params.ID}
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
	for n := max(r.FirstTurn, 1); n <= r.LastTurn; n++ { // events of turn 0 are before the first turn
		r.turns = append(r.turns, n)
	}
	for _, e := range r.events {
		if scopes := either(e.isAnswer, r.answers, r.others); e.kind.Scope()&scopes != 0 {
			r.asked = append(r.asked, e)
			r.chars += max(e.chars, 1)
		}
	}
	if r.params.About != nil {
		return r.readAbout(ctx)
	}
	return r.fitted()
}

// readEvents returns the conversation of a query, and the events in its turns, without blank ones. The result of a tool
// call has the number of the call in shown.Call. The last statement before a request or the end of a turn has isAnswer.
func readEvents(ctx context.Context, source conversations.Source, q conversations.ReadQuery) (events []event, r conversations.Reading, err error) {
	r, all, err := source.Read(ctx, q)
	if err != nil {
		return nil, r, err
	}
	calls := map[string]int{}
	for recorded := range all {
		if recorded.Turn > 0 && !isBlank(recorded) {
			e := newEvent(recorded)
			e.linkCall(recorded, calls)
			events = append(events, e)
		}
	}
	markAnswers(events)
	return events, r, ctx.Err()
}

// linkCall joins calls of tools with their results. For a call, it sets calls[id] to the number of e, where id is the id
// that the program gave the call. For a result, it sets e.shown.Call to the number of the call, or to 0 if calls lacks it.
func (e *event) linkCall(recorded *conversations.Event, calls map[string]int) {
	id := recorded.CallID
	if id == "" {
		return
	}
	switch e.kind {
	case transcript.KindToolCall:
		calls[id] = e.shown.Event
	case transcript.KindToolResult:
		e.shown.Call = calls[id]
	}
}

// markAnswers sets isAnswer in the last statement of the assistant before each request and at the end of each turn.
func markAnswers(events []event) {
	isLast := true // whether a statement at this place would be the last before a request or the end of a turn
	next := 0      // the turn of the event after e
	for i, e := range slices.Backward(events) {
		isLast = isLast || e.turn != next || e.kind == transcript.KindUser
		next = e.turn
		if isLast && isSaid(e.kind) {
			events[i].isAnswer, isLast = true, false
		}
	}
}

// damageNotes returns a note if the conversation is damaged, or has an event that is too large; nil otherwise.
func (r *reading) damageNotes() []string {
	if r.Damage != nil {
		return []string{"This conversation is damaged and ends early: " + clip(text.Line(r.Damage.Err.Error()), maxReason) + ". What stands before the damage can be read."}
	}
	for _, p := range r.Problems {
		if p.Kind == store.TooLarge {
			return []string{"Not all of it is here: " + p.Err.Error() + "."}
		}
	}
	return nil
}

// chars returns how long a generated envelope is, in the characters that caps count.
func chars(e any) int { return envelope.Chars(envelope.Document(e)) }

// fit returns build(k) for the greatest k, at most n, with which the envelope has at most limit characters; build(0) if
// there is none.
func fit[E any](n, limit int, build func(int) E) E {
	omitted := sort.Search(n, func(k int) bool { return chars(build(n-k)) <= limit })
	return build(n - omitted)
}

const (
	eventChars = 1500 // of each of several events
	// Of each of more than fewEvents requests and answers, if nothing else is asked for: the reader looks for one of them.
	outcomeChars, fewEvents = 500, 6
	briefChars              = 300 // of an event where there is no room for more
	leastFrame              = 40  // that an event takes besides its text, at least
	maxRemarks              = 600 // of the notes of a call
)

// fitted returns the answer with all events that are asked for, each shortened to its usual length. If they do not fit,
// it shortens the events further. For several turns, unless r.anyway is set, it then returns an error instead.
func (r *reading) fitted() (*conversation.ReadEnvelope, error) {
	isWork := func(e event) bool { return e.rank() != outcome }
	most := eventChars
	switch {
	case len(r.turns) == 1 && len(r.asked) == 1:
		most = partChars
	case len(r.asked) > fewEvents && !slices.ContainsFunc(r.asked, isWork):
		most = outcomeChars
	}
	shown := shortened(r.asked, most)
	if !r.fits(r.turns, r.asked, shown) {
		if isRefused := len(r.turns) > 1 && !r.anyway; isRefused {
			return nil, r.refusal()
		}
		shown = r.shrunk()
	}
	return r.answer(r.turns, r.asked, shown), nil
}

// fits reports whether r.answer(turns, all, shown) is at most as long as an answer may be.
func (r *reading) fits(turns []int, all, shown []event) bool {
	mayFit := cost(shown) <= conversation.ReadMaxChars // saves making most of the answers that are too long
	return mayFit && chars(r.answer(turns, all, shown)) <= conversation.ReadMaxChars
}

// cost returns the least number of characters that events take in an answer: leastFrame and the text of each event.
func cost(events []event) (n int) {
	for i := range events {
		n += leastFrame + utf8.RuneCountInString(events[i].text)
	}
	return n
}

// shrunk returns as much of the events that are asked for as an answer has room for. First it shortens events of the
// rank work, such as tool calls, to briefChars, and leaves out as many of the earliest as necessary. If the answer is
// too long without any of them, it does the same with statements on the way, and last with requests and answers.
func (r *reading) shrunk() (shown []event) {
	for least := work; least <= outcome; least++ { // the ranks are work, said and outcome
		// without returns the events of rank least and above, but leaves out the first omitted events of rank least.
		without := func(omitted int) (kept []event) {
			for _, e := range r.asked {
				switch rank := e.rank(); {
				case rank > least:
					kept = append(kept, e.shortened(eventChars))
				case rank == least && omitted > 0:
					omitted--
				case rank == least:
					kept = append(kept, e.shortened(briefChars))
				}
			}
			return kept
		}
		omitted := sort.Search(len(r.asked), func(n int) bool { return r.fits(r.turns, r.asked, without(n)) })
		if shown = without(omitted); omitted < len(r.asked) { // it fits
			break
		}
	}
	return shown
}

// latest returns the last n turns of r.turns, and the events of these turns. For n = 0 it returns no turn and no event.
func (r *reading) latest(n int, events []event) ([]int, []event) {
	turns := r.turns[len(r.turns)-n:]
	from := sort.Search(len(events), func(i int) bool { return events[i].turn > r.LastTurn-n }) // the last of r.turns is r.LastTurn
	return turns, events[from:]
}

// refusal returns the error for several turns that an answer has no room for. The error has arguments for calls whose
// answers fit: one event, one turn, or as many of the last turns as refusal has found to fit. It also has an outline.
func (r *reading) refusal() error {
	message := fmt.Sprintf("Conversation %s is %s,", r.ID, text.Count(len(r.turns), "turn", "turns"))
	if len(r.turns) < r.Reading.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are", text.Count(len(r.turns), "turn", "turns"), r.ID)
	}
	// mostTurns returns how many of the last turns fit if only events are shown of them, and the size of that answer.
	mostTurns := func(events []event) (n int, size string) {
		events = shortened(events, eventChars)
		n = sort.Search(len(r.turns), func(k int) bool { // n turns fit, and n+1 do not
			turns, latest := r.latest(k+1, events)
			return !r.fits(turns, latest, latest)
		})
		turns, latest := r.latest(n, events)
		return n, short(chars(r.answer(turns, latest, latest)))
	}
	ways := []string{"event=N", "turn=N", "last=1"} // these always fit: readEvent and shrunk shorten what they show
	n, size := mostTurns(r.asked)
	if n > 0 {
		ways[2] = fmt.Sprintf("last=%d (%s)", n, size)
	}
	outcomes := slices.DeleteFunc(slices.Clone(r.events), func(e event) bool { return e.rank() != outcome })
	if more, size := mostTurns(outcomes); more > n {
		ways = append(ways, fmt.Sprintf(`last=%d, include=["requests","answers"] (%s)`, more, size))
	}
	sizes := map[int]int{} // by turn
	for _, e := range shortened(r.asked, eventChars) {
		sizes[e.turn] += cost([]event{e})
	}
	return contract.Fixable(fmt.Sprintf("%s %s characters: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
		message, short(r.chars), conversation.ReadMaxChars, strings.Join(ways, "; "), outlineOf(r.events).lines(sizes)))
}

// answer returns the answer with the events in shown, which are in turns. Notes say how many of all, the events in
// turns that are asked for, are missing or shortened, and what of the conversation is damaged.
func (r *reading) answer(turns []int, all, shown []event) *conversation.ReadEnvelope {
	e := r.page(turns, shown)
	switch {
	case r.Reading.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Reading.Turns > 0 && len(all) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", coerce.JSON(r.params.Include)))
	}
	if note := shortNote(all, shown); note != "" {
		e.Truncated = true
		e.Notes = append(e.Notes, note)
	}
	e.Notes = append(e.Notes, r.damageNotes()...)
	return e
}

// shortNote returns a note on how many of all events are not shown, how many shown events are shortened, and which calls
// show events whole. It is empty if all are shown whole.
func shortNote(all, shown []event) string {
	cut := slices.DeleteFunc(slices.Clone(shown), func(e event) bool { return !e.isCut })
	if omitted := len(all) - len(shown); omitted > 0 {
		i := 0 // the index of the first event that is not shown
		for i < len(shown) && all[i].shown.Event == shown[i].shown.Event {
			i++
		}
		note := fmt.Sprintf("%d of %d events are left out, the first is event=%d", omitted, len(all), all[i].shown.Event)
		if len(cut) > 0 {
			note += fmt.Sprintf("; %d are shortened", len(cut))
		}
		return note + ". event=N shows any of them in full."
	}
	if len(cut) == 0 {
		return ""
	}
	longest := slices.MaxFunc(cut, func(a, b event) int { return a.chars - b.chars })
	return fmt.Sprintf("%s shortened: event=N shows one in full, the longest is event=%d (%s).", text.Count(len(cut), "text is", "texts are"), longest.shown.Event, short(longest.chars))
}

// page returns an answer with turns and the events in them, which are in order, and with the remarks on the call.
func (r *reading) page(turns []int, events []event) *conversation.ReadEnvelope {
	e := &conversation.ReadEnvelope{
		ID: string(r.ID), Title: clip(r.Title, maxTitle), TotalTurns: r.Reading.Turns,
		Archived: r.Archived, Hidden: r.Hidden, Current: r.current,
		Truncated: slices.ContainsFunc(events, func(e event) bool { return e.isCut && r.isSubject(&e) }),
	}
	if r.params.Event == nil {
		e.Events = len(events)
		if n := len(turns); n > 1 {
			e.TurnCount, e.FirstTurn, e.LastTurn = n, turns[0], turns[n-1]
		}
	}
	for _, turn := range turns {
		n := 0
		for n < len(events) && events[n].turn == turn {
			n++
		}
		e.Turns = append(e.Turns, conversation.ReadTurn{Index: turn, Events: r.lines(events[:n])})
		events = events[n:]
	}
	if notes := remarks(r.call); len(notes) > 0 {
		e.Notes = []string{clip(strings.Join(notes, " "), maxRemarks)}
	}
	return e
}

// isSubject reports whether an event is asked for. Others are shown beside the one event that is.
func (r *reading) isSubject(e *event) bool {
	return r.params.Event == nil || e.shown.Event == *r.params.Event
}

// lines returns the events of a turn as they are shown. If the turn has several requests, the first event of each has the
// number of the request. An event that is asked for has its time if the last shown time is a minute away or more, and in
// any case if it is asked for by its number. A result right after its tool call does not have the number of the call.
func (r *reading) lines(events []event) (lines []conversation.ReadEvent) {
	var last time.Time // shown
	request := 0       // shown last
	for i := range events {
		e := &events[i]
		line := e.shown
		if e.kind == transcript.KindToolCall {
			line.Arguments = e.text
		} else {
			line.Content = e.text
		}
		if e.isCut {
			line.Truncated, line.Chars = true, e.chars
		}
		hasSeveral := events[0].request != events[len(events)-1].request // the turn has events of several requests
		if hasSeveral && e.request != request {
			line.Request, request = e.request, e.request
		}
		isLater := i == 0 || e.at.Sub(last).Abs() >= time.Minute
		if r.isSubject(e) && !e.at.IsZero() && (isLater || r.params.Event != nil) {
			line.Timestamp, last = e.at, e.at
		}
		if i > 0 && line.Call == line.Event-1 && line.Call == events[i-1].shown.Event { // the call is the event shown above
			line.Call = 0
		}
		lines = append(lines, line)
	}
	return lines
}

// turnsOf returns the turns of events, which are in order, each turn once.
func turnsOf(events []event) (turns []int) {
	for i := range events {
		turns = append(turns, events[i].turn)
	}
	return slices.Compact(turns)
}
