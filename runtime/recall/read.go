package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// reading is one call of conversation_read in the making. Of what is read it keeps
// what an answer can show or count, however much there is.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	current bool
	conversations.Reading
	turns int // that were asked for and exist

	recent  window             // the last turns, as far as an answer can have them
	chat    window             // the same, with what was said alone
	single  map[string]*sample // the only turn so far: by include, and "" for all that is asked for
	size    int                // of all that is asked for, as by estimate
	missing int                // characters that are not part of what was handed over
	largest largest
}

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	undone := "whether this is the current conversation is not known"
	if p.IncludeCurrent {
		undone = ""
	}
	r := newReading(located(call, undone), p)
	if r.current && !p.IncludeCurrent {
		return nil, contract.Fixable(fmt.Sprintf("%s is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.", r.call.Context.ConversationID))
	}
	q := conversations.ReadQuery{ID: p.ID, Kinds: r.wants, MaxText: conversation.ReadMaxChars, MaxJSON: conversation.ReadMaxChars}
	switch {
	case p.Turn != nil:
		only := conversations.Bound{Kind: conversations.Turn, N: *p.Turn}
		q.Turns = conversations.Turns{First: only, Last: only}
	case p.Last != nil:
		q.Turns.First = conversations.Bound{Kind: conversations.CountBack, N: *p.Last}
	}
	err := t.ask(ctx, call, func(ctx context.Context, source conversations.Source) (err error) {
		q.Event = func(e *conversations.Event) error {
			r.add(e)
			return ctx.Err()
		}
		r.Reading, err = source.Read(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.countTurns()
	return r.answer()
}

func newReading(call contract.Call, p conversation.ReadParams) *reading {
	const limit = conversation.ReadMaxChars
	return &reading{
		call: call, params: p, current: isCurrent(call, p.ID),
		recent: window{limit: 5 * limit}, chat: window{limit: limit},
		single: map[string]*sample{"": {}},
	}
}

// wants reports whether events of a kind are asked for. Those that begin a turn
// are wanted in any case, so that turns can be counted.
func (r *reading) wants(kind transcript.Kind) bool {
	return kind == transcript.KindTurnStart || kind == transcript.KindUser || r.shows(kindOf(kind))
}

func (r *reading) shows(kind string) bool {
	return kind != "" && slices.Contains(r.params.Include, includeOf(kind))
}

func (r *reading) add(recorded *conversations.Event) {
	if recorded.Turn < 1 {
		return // outside of all turns
	}
	if recorded.Turn > r.recent.last() {
		r.begin(recorded.Turn)
	}
	kind := kindOf(recorded.Kind)
	if !r.shows(kind) {
		return
	}
	e, include := newEvent(recorded, kind), includeOf(kind)
	r.size += leastFrame + e.body.length
	r.missing += e.body.missing()
	r.largest.add(e.body.chars)
	r.recent.add(e)
	if include == conversation.ReadIncludeChat {
		r.chat.add(e)
	}
	if r.single != nil {
		r.single[""].add(e)
		if r.single[include] == nil {
			r.single[include] = &sample{}
		}
		r.single[include].add(e)
	}
}

// begin begins a turn.
func (r *reading) begin(turn int) {
	if r.turns++; r.turns > 1 {
		r.single = nil
	}
	r.recent.begin(turn)
	r.chat.begin(turn)
	r.largest.begin(turn)
}

// countTurns adds the turns that have no events at all.
func (r *reading) countTurns() {
	if r.FirstTurn > 0 && r.turns > 0 && r.FirstTurn < r.recent.first {
		r.turns++
		r.recent.precede(r.FirstTurn)
		r.chat.precede(r.FirstTurn)
		r.largest.begin(r.FirstTurn)
	}
	if r.LastTurn > r.recent.last() {
		if r.turns == 0 && r.FirstTurn > 0 && r.FirstTurn < r.LastTurn {
			r.begin(r.FirstTurn)
		}
		r.begin(r.LastTurn)
	}
	r.largest.end()
}

// answer builds the envelope: whole where it fits, refused where it holds
// several turns and does not, shortened where it holds one.
func (r *reading) answer() (*conversation.ReadEnvelope, error) {
	if !r.recent.partial && r.size <= conversation.ReadMaxChars {
		e := r.envelope(r.recent.turns, cutNotes(r, r.recent.turns))
		if chars(e) <= conversation.ReadMaxChars {
			return e, nil
		}
	}
	if r.turns > 1 {
		return nil, r.refusal()
	}
	return r.shortened(), nil
}

// envelope shows turns. notes come after those of the call.
func (r *reading) envelope(turns []turn, notes []string) *conversation.ReadEnvelope {
	var e conversation.ReadEnvelope
	e.ID, e.Title = string(r.ID), clip(r.Title, maxTitle)
	e.TurnCount, e.TotalTurns = len(turns), r.Turns
	e.Archived, e.Hidden, e.Current = r.Archived, r.Hidden, r.current
	nameless, undated := 0, 0
	for i := range turns {
		shown := conversation.ReadTurn{Index: turns[i].number}
		for j := range turns[i].events {
			event := &turns[i].events[j]
			if event.nameless {
				nameless++
			}
			if event.shown.Timestamp.IsZero() {
				undated++
			}
			e.Events++
			e.Chars += event.body.length
			line := event.render()
			e.Truncated = e.Truncated || line.Truncated
			shown.Events = append(shown.Events, line)
		}
		e.Turns = append(e.Turns, shown)
	}
	if len(turns) > 0 {
		e.FirstTurn, e.LastTurn = turns[0].number, turns[len(turns)-1].number
	}
	e.Notes = append(remarks(r.call), notes...)
	switch {
	case r.Turns == 0 && r.Damage == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.Turns > 0 && e.Events == 0 && len(notes) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if nameless > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s no call_id: what was recorded there is not a plain identifier.", count(nameless, "event has", "events have")))
	}
	if undated > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s no timestamp: none was recorded, or none that can be read.", count(undated, "event has", "events have")))
	}
	if r.Damage != nil {
		note := "This conversation is damaged and ends early"
		if why := reason(r.Damage); why != "" {
			note += ": " + why
		}
		e.Notes = append(e.Notes, note+". What stands before the damage can be read.")
	}
	return &e
}
