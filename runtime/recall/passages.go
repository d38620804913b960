package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// What of a text is shown where the call names what it looks for, in characters.
const (
	aboutWhole    = 3000    // a text of no more is never cut
	aboutNothing  = 800     // of a longer one without a word of it
	aboutEvent    = 1600    // passages of a longer one that is asked for, or of its answer
	aboutOne      = 600     // passages of each of several events
	aboutRead     = 6000    // several events together, with their tags
	aboutAhead    = 200_000 // of a text, looked at
	aboutPassage  = 500     // one passage
	aboutHeadings = 400     // headings of the text left out of one, with their marks
)

const (
	// mostRelevant is how many events on a subject are returned at once, and readRelevant how
	// many are ranked to choose them from.
	mostRelevant, readRelevant = 12, 48
	// leastRelevant is the share of the score of the best event, in percent, that others have.
	leastRelevant = 40
)

// rank ranks the events of the conversation, those of some numbers, by what the call looks for.
func (r *reading) rank(ctx context.Context, source conversations.Source, events conversations.EventRange) error {
	ranking, err := source.Search(ctx, conversations.SearchQuery{
		Filter: conversations.Filter{IDs: []string{r.params.ID}}, Question: *r.params.About, Order: conversations.Relevance, Scopes: r.answers, Events: events,
		Own: isRecallTool(), Limit: readRelevant, MaxText: aboutPassage, MaxWide: aboutPassage,
	})
	if err != nil {
		return err
	}
	r.ranking = ranking
	return nil
}

// hasWord reports whether a text has a word of what the call looks for.
func (r *reading) hasWord(t *body) bool {
	return len(r.passagesOf(t.String(), aboutPassage)) > 0
}

// passagesOf are the passages of a text that the call looks for, of at most limit characters.
func (r *reading) passagesOf(s string, limit int) []excerpt.Span {
	first, _, _ := text.Ends(s, aboutAhead, 0)
	return r.ranking.Passages(first, aboutPassage, limit)
}

// about is an event with the passages of its text that the call looks for, of at most about
// limit characters, where it is too long to be shown whole.
func (r *reading) about(e event, limit int) event {
	if e.body.length() <= aboutWhole {
		return e
	}
	said := e.body.parts[0] // which is whole
	spans := r.passagesOf(said, limit)
	if len(spans) == 0 {
		return e.shortened(aboutNothing)
	}
	e.body = only(said, spans)
	return e
}

// tellingEvents are the events that were asked for and tell most, the best one first.
func (r *reading) tellingEvents(ctx context.Context, source conversations.Source) ([]event, error) {
	asked := map[int]bool{}
	all := conversations.EventRange{}
	for _, e := range r.events {
		if e.isAsked {
			asked[e.shown.Event] = true
			all = conversations.EventRange{First: cmp.Or(all.First, e.shown.Event), Last: e.shown.Event}
		}
	}
	r.ranking = &conversations.Results{}
	if len(asked) == 0 {
		return nil, nil
	}
	if err := r.rank(ctx, source, all); err != nil {
		return nil, err
	}
	place := map[int]int{}
	for i := range r.ranking.Hits {
		h := &r.ranking.Hits[i]
		if asked[h.Number] && h.Score*100 >= r.ranking.Hits[0].Score*leastRelevant {
			place[h.Number] = len(place)
		}
	}
	if len(place) == 0 {
		return nil, nil
	}
	var events []event
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: r.params.ID, Events: all,
		Event: func(e *conversations.Event) error {
			if _, ok := place[e.Number]; ok {
				if made := newEvent(e, math.MaxInt); r.hasWord(&made.body) {
					events = append(events, r.about(made, aboutOne))
				}
			}
			return ctx.Err()
		},
	})
	slices.SortFunc(events, func(a, b event) int { return place[a.shown.Event] - place[b.shown.Event] })
	return events, err
}

// readAbout is the answer with the events that tell most of what the call looks for.
func (r *reading) readAbout(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	telling, err := r.tellingEvents(ctx, source)
	if err != nil {
		return nil, err
	}
	var shown []event
	var left []string
	build := func() *conversation.ReadEnvelope {
		events := slices.Clone(shown)
		slices.SortFunc(events, byNumber)
		e := r.bare(inTurns(events), 0)
		e.Truncated = e.Truncated || len(shown) < r.asked
		e.Notes = append(append(e.Notes, r.aboutNote(len(shown), left)), r.damageNotes()...)
		return e
	}
	for _, e := range telling {
		shown = append(shown, e)
		if len(shown) > 1 && (len(shown) > mostRelevant || chars(build()) > aboutRead) {
			shown = shown[:len(shown)-1]
			left = append(left, fmt.Sprint(e.shown.Event))
		}
	}
	return build(), nil
}

// aboutNote says which events are shown of those that were asked for, and names the best of
// the others.
func (r *reading) aboutNote(shown int, left []string) string {
	asked := text.Count(r.asked, "event", "events")
	if shown == 0 {
		return strings.TrimSpace("No event holds a word of about; " + asked + " looked at. " + nowhere(r.ranking.Words))
	}
	note := fmt.Sprintf("%d of %s, what tells most of about; event=N shows one whole, with about its passages.", shown, asked)
	if len(left) > 0 {
		note += " Next best: event=" + bounded(left, ", ", maxNames) + "."
	}
	return note
}

// nowhere names the words that occur nowhere; empty where there are none.
func nowhere(words []conversations.Word) string {
	var missing []string
	for _, w := range words {
		if w.Events == 0 {
			word := text.Quote(w.Word)
			if w.Near != "" {
				word += " (near: " + text.Quote(w.Near) + ")"
			}
			missing = append(missing, word)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Nowhere: " + bounded(missing, ", ", maxNames) + "."
}

// subjectNote says what is shown of events that are not whole.
func (r *reading) subjectNote(events []event) []string {
	switch {
	case !slices.ContainsFunc(events, func(e event) bool { return r.hasWord(&e.body) }):
		return []string{"No word of about is here; without about an event is whole."}
	case slices.ContainsFunc(events, func(e event) bool { return e.body.isShortened() }):
		return []string{"Shown are the passages on about; without it an event is whole."}
	}
	return nil
}
