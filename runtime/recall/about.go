package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// What is shown of a text where the call has about, in characters.
const (
	aboutWhole    = 3000    // a text of no more is never cut
	aboutEvent    = 1600    // of a longer one that is asked for, or of its answer
	aboutOne      = 600     // of each of several longer ones
	aboutPassage  = 500     // one passage
	aboutRead     = 6000    // several events together, with their tags
	aboutAhead    = 200_000 // of a text, looked at
	aboutHeadings = 400     // headings outside of the passages, with their marks
)

// So many events are ranked, and those with leastRelevant percent of the score
// of the best one are shown.
const mostRelevant, leastRelevant = 48, 40

// rank ranks events of the conversation by about.
func (r *reading) rank(ctx context.Context, events conversations.EventRange) error {
	ranking, err := r.source.Search(ctx, conversations.SearchQuery{
		Filter:   conversations.Filter{IDs: []string{r.params.ID}},
		Question: *r.params.About, Order: conversations.Relevance,
		Scopes: r.answers, Events: events, Own: isRecallTool(),
		Limit: mostRelevant, MaxText: aboutPassage, MaxWide: aboutPassage,
	})
	if err == nil {
		r.ranking = ranking
	}
	return err
}

// passages returns the passages of a text on about, of at most limit characters.
func (r *reading) passages(s string, limit int) []excerpt.Span {
	first, _, _ := text.Ends(s, aboutAhead, 0)
	return r.ranking.Passages(first, aboutPassage, limit)
}

// hasWord reports whether an event has a word of about.
func (r *reading) hasWord(e event) bool {
	return len(r.passages(e.text, aboutPassage)) > 0
}

// about returns an event with passages of about limit characters in place of a
// text that is too long, or with its ends where there is no passage.
func (r *reading) about(e event, limit int) event {
	if utf8.RuneCountInString(e.text) <= aboutWhole {
		return e
	}
	spans := r.passages(e.text, limit)
	if len(spans) == 0 {
		return e.shortened(limit)
	}
	e.text, e.isCut = only(e.text, spans), true
	return e
}

// relevant returns the events that are asked for and say most on about, the
// best one first.
func (r *reading) relevant(ctx context.Context) (events []event, err error) {
	if len(r.asked) == 0 {
		r.ranking = &conversations.Results{}
		return nil, nil
	}
	asked := map[int]event{}
	for _, e := range r.asked {
		asked[e.shown.Event] = e
	}
	err = r.rank(ctx, conversations.EventRange{First: r.asked[0].shown.Event, Last: r.asked[len(r.asked)-1].shown.Event})
	if err != nil {
		return nil, err
	}
	for _, h := range r.ranking.Hits {
		e, isAsked := asked[h.Number]
		if isAsked && h.Score*100 >= r.ranking.Hits[0].Score*leastRelevant && r.hasWord(e) {
			events = append(events, r.about(e, aboutOne))
		}
	}
	return events, nil
}

// readAbout returns the answer with the events that say most on about, one at
// least.
func (r *reading) readAbout(ctx context.Context) (*conversation.ReadEnvelope, error) {
	relevant, err := r.relevant(ctx)
	if err != nil {
		return nil, err
	}
	least := min(len(relevant), 1)
	return fit(len(relevant)-least, aboutRead, func(n int) *conversation.ReadEnvelope {
		n += least
		events := slices.Clone(relevant[:n])
		slices.SortFunc(events, func(a, b event) int { return a.shown.Event - b.shown.Event })
		e := r.page(turnsOf(events), events)
		e.Truncated = e.Truncated || n < len(r.asked)
		e.Notes = append(append(e.Notes, r.aboutNote(n, relevant[n:])), r.damageNotes()...)
		return e
	}), nil
}

// aboutNote says how many of the events that were asked for are shown, and
// names the best of the others.
func (r *reading) aboutNote(shown int, others []event) string {
	asked := text.Count(len(r.asked), "event", "events")
	if shown == 0 {
		return strings.TrimSpace("No event holds a word of about; " + asked + " looked at. " + nowhere(r.ranking.Words))
	}
	note := fmt.Sprintf("%d of %s, what tells most of about; event=N shows one whole, with about its passages.", shown, asked)
	var next []string
	for _, e := range others {
		next = append(next, fmt.Sprint(e.shown.Event))
	}
	if len(next) > 0 {
		note += " Next best: event=" + bounded(next, ", ", maxNames) + "."
	}
	return note
}

// nowhere names the words that occur nowhere; it is empty where there are none.
func nowhere(words []conversations.Word) string {
	var missing []string
	for _, w := range words {
		if w.Events == 0 {
			missing = append(missing, text.Quote(w.Word)+either(w.Near == "", "", " (near: "+text.Quote(w.Near)+")"))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Nowhere: " + bounded(missing, ", ", maxNames) + "."
}

// subjectNote says which parts of events are shown.
func (r *reading) subjectNote(events []event) []string {
	isCut := func(e event) bool { return e.isCut }
	switch {
	case !slices.ContainsFunc(events, r.hasWord):
		return []string{"No word of about is here; without about an event is whole."}
	case slices.ContainsFunc(events, isCut):
		return []string{"Shown are the passages on about; without it an event is whole."}
	}
	return nil
}
