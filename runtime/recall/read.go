package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

type readSummary struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Turns     *int    `json:"turns"`
	FirstTurn *int    `json:"first_turn"`
	LastTurn  *int    `json:"last_turn"`
	Archived  bool    `json:"archived"`
	Hidden    bool    `json:"hidden"`
	Damaged   *string `json:"damaged"`
}

// reading is one call of conversation_read in the making.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	summary readSummary
	id      string
	current bool
	total   int     // turns of the conversation
	turns   []int   // turns that were asked for and exist
	events  []event // of every kind
	records int     // that were printed, events or not
	typed   bool    // one of them at least has the type of an event
}

// errNoEvents refuses records of something else, such as a listing: without a
// type they would pass for a conversation in which nothing was said.
var errNoEvents = errors.New("its records are no events: none has a type")

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	undone := "whether this is the current conversation is not known"
	if p.IncludeCurrent {
		undone = ""
	}
	r := &reading{call: located(call, undone), params: p, id: p.ID}
	r.current = isCurrent(r.call, p.ID)
	if r.current && !p.IncludeCurrent {
		return nil, contract.Fixable(fmt.Sprintf("%s is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.", r.call.Context.ConversationID))
	}
	args := conversation.ReadArgs(p, r.call.Context)
	if err := t.run(ctx, r.call, conversation.ReadCLI, args, conversation.ReadExitOK, &r.summary, r.add); err != nil {
		return nil, err
	}
	if r.records > 0 && !r.typed && valueOr(r.summary.Turns, 1) != 0 {
		return nil, t.source(conversation.ReadCLI).unreadable(errNoEvents, nil, nil)
	}
	r.countTurns()
	if isIdentifier(r.summary.ID) {
		r.id = r.summary.ID
	}
	return r.answer()
}

func (r *reading) add(raw json.RawMessage) error {
	var record printRecord
	if err := json.Unmarshal(raw, &record); err != nil {
		return err
	}
	r.records++
	r.typed = r.typed || record.Type != ""
	if n := len(r.turns); record.Turn > 0 && (n == 0 || r.turns[n-1] < record.Turn) {
		r.turns = append(r.turns, record.Turn)
	}
	if e, ok := newEvent(&record); ok {
		r.events = append(r.events, e)
	}
	return nil
}

// countTurns adds the turns that have no events to show. Without a summary the
// turns are those that were seen.
func (r *reading) countTurns() {
	first, last := valueOr(r.summary.FirstTurn, 0), valueOr(r.summary.LastTurn, 0)
	total := valueOr(r.summary.Turns, 0)
	if 0 < first && first <= last && last <= total {
		for _, turn := range []int{first, last} {
			if !slices.Contains(r.turns, turn) {
				r.turns = append(r.turns, turn)
			}
		}
		slices.Sort(r.turns)
	}
	r.total = total
	for _, turn := range r.turns {
		r.total = max(r.total, turn)
	}
}

// answer builds the envelope: whole where it fits, refused where it holds
// several turns and does not, shortened where it holds one.
func (r *reading) answer() (*conversation.ReadEnvelope, error) {
	events := r.selection(r.turns, r.params.Include)
	if estimate(events) <= conversation.ReadMaxChars {
		e := r.envelope(r.turns, events, r.cutNotes(events))
		if chars(e) <= conversation.ReadMaxChars {
			return e, nil
		}
	}
	if len(r.turns) > 1 {
		return nil, r.refusal()
	}
	return r.shortened(events), nil
}

// selection is the events that are shown: of turns, the last ones of those that
// were asked for, and of some kinds.
func (r *reading) selection(turns []int, include []string) []event {
	var out []event
	for _, e := range r.events {
		if len(turns) > 0 && e.turn >= turns[0] && slices.Contains(include, includeOf(e.shown.EventKind)) {
			out = append(out, e)
		}
	}
	return out
}

// leastFrame is less than an event takes besides its text, in characters.
const leastFrame = 40

// estimate is a lower bound on the length of an envelope, for not rendering
// what is far too long.
func estimate(events []event) int {
	n := leastFrame * len(events)
	for i := range events {
		n += events[i].body.length
	}
	return n
}

// envelope puts events into turns. notes come after those of the call.
func (r *reading) envelope(turns []int, events []event, notes []string) *conversation.ReadEnvelope {
	var e conversation.ReadEnvelope
	e.ID, e.Title = r.id, clip(r.summary.Title, maxTitle)
	e.TurnCount, e.TotalTurns, e.Events = len(turns), r.total, len(events)
	e.Archived, e.Hidden, e.Current = r.summary.Archived, r.summary.Hidden, r.current
	if len(turns) > 0 {
		e.FirstTurn, e.LastTurn = turns[0], turns[len(turns)-1]
	}
	for _, turn := range turns {
		e.Turns = append(e.Turns, conversation.ReadTurn{Index: turn})
	}
	at, nameless, undated := 0, 0, 0
	for i := range events {
		if events[i].nameless {
			nameless++
		}
		if events[i].shown.Timestamp.IsZero() {
			undated++
		}
		for at < len(turns)-1 && turns[at] < events[i].turn {
			at++
		}
		shown := events[i].render()
		e.Chars += events[i].body.length
		e.Truncated = e.Truncated || shown.Truncated
		e.Turns[at].Events = append(e.Turns[at].Events, shown)
	}
	e.Notes = append(remarks(r.call), notes...)
	switch {
	case r.total == 0 && r.summary.Damaged == nil:
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	case r.total > 0 && len(events) == 0 && len(notes) == 0:
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if nameless > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s no call_id: what was recorded there is not a plain identifier.", count(nameless, "event has", "events have")))
	}
	if undated > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s no timestamp: none was recorded, or none that can be read.", count(undated, "event has", "events have")))
	}
	if r.summary.Damaged != nil {
		e.Notes = append(e.Notes, "This conversation is damaged and ends early: "+clip(contract.WithoutPaths(envelope.SanitizeLine(*r.summary.Damaged)), maxReason)+". What stands before the damage can be read.")
	}
	return &e
}
