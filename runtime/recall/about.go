package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// What of a text is shown where the call names what it looks for, in
// characters.
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
	// mostRelevant is how many events on a subject are returned at once,
	// and readRelevant how many are ranked to choose them from.
	mostRelevant, readRelevant = 12, 48
	// leastRelevant is the share of the score of the best event, in
	// percent, that others have.
	leastRelevant = 40
)

// rank ranks events of the conversation by what the call looks for.
func (r *reading) rank(ctx context.Context, events conversations.EventRange) error {
	ranking, err := r.source.Search(ctx, conversations.SearchQuery{
		Filter:   conversations.Filter{IDs: []string{r.params.ID}},
		Question: *r.params.About, Order: conversations.Relevance,
		Scopes: r.answers, Events: events, Own: isRecallTool(),
		Limit: readRelevant, MaxText: aboutPassage, MaxWide: aboutPassage,
	})
	if err == nil {
		r.ranking = ranking
	}
	return err
}

// passages returns the passages of a text that the call looks for, of
// at most limit characters.
func (r *reading) passages(s string, limit int) []excerpt.Span {
	first, _, _ := text.Ends(s, aboutAhead, 0)
	return r.ranking.Passages(first, aboutPassage, limit)
}

// hasWord reports whether an event has a word of what the call looks
// for.
func (r *reading) hasWord(e event) bool {
	return len(r.passages(e.text, aboutPassage)) > 0
}

// about returns a whole event with the passages that the call looks
// for, of at most about limit characters, where it is too long to be
// shown whole.
func (r *reading) about(e event, limit int) event {
	if utf8.RuneCountInString(e.text) <= aboutWhole {
		return e
	}
	spans := r.passages(e.text, limit)
	if len(spans) == 0 {
		return e.shortened(aboutNothing)
	}
	e.text, e.isCut = only(e.text, spans), true
	return e
}

// telling returns the events that were asked for and tell most, the
// best one first.
func (r *reading) telling(ctx context.Context) ([]event, error) {
	if len(r.asked) == 0 {
		r.ranking = &conversations.Results{}
		return nil, nil
	}
	place := map[int]int{}
	for i := range r.asked {
		place[r.asked[i].shown.Event] = math.MaxInt
	}
	all := conversations.EventRange{First: r.asked[0].shown.Event, Last: r.asked[len(r.asked)-1].shown.Event}
	if err := r.rank(ctx, all); err != nil {
		return nil, err
	}
	for i := range r.ranking.Hits {
		h := &r.ranking.Hits[i]
		if place[h.Number] > 0 && h.Score*100 >= r.ranking.Hits[0].Score*leastRelevant {
			place[h.Number] = i + 1
		}
	}
	var events []event
	_, err := r.source.Read(ctx, conversations.ReadQuery{
		ID: r.params.ID, Events: all,
		Event: func(recorded *conversations.Event) error {
			if at := place[recorded.Number]; at == 0 || at == math.MaxInt {
				return ctx.Err()
			}
			if e := newEvent(recorded, math.MaxInt); r.hasWord(e) {
				events = append(events, r.about(e, aboutOne))
			}
			return ctx.Err()
		},
	})
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Compare(place[a.shown.Event], place[b.shown.Event])
	})
	return events, err
}

// readAbout returns the answer with the events that tell most of what
// the call looks for, one at least.
func (r *reading) readAbout(ctx context.Context) (*conversation.ReadEnvelope, error) {
	telling, err := r.telling(ctx)
	if err != nil {
		return nil, err
	}
	least := min(len(telling), 1)
	most := min(len(telling), mostRelevant)
	return fit(most-least, aboutRead, func(n int) *conversation.ReadEnvelope {
		n += least
		var left []string
		for i := range telling[n:] {
			left = append(left, fmt.Sprint(telling[n+i].shown.Event))
		}
		events := slices.Clone(telling[:n])
		slices.SortFunc(events, func(a, b event) int { return a.shown.Event - b.shown.Event })
		e := r.page(turnsOf(events), events)
		e.Truncated = e.Truncated || n < len(r.asked)
		e.Notes = append(append(e.Notes, r.aboutNote(n, left)), r.damageNotes()...)
		return e
	}), nil
}

// aboutNote says which events are shown of those that were asked for,
// and names the best of the others.
func (r *reading) aboutNote(shown int, left []string) string {
	asked := text.Count(len(r.asked), "event", "events")
	if shown == 0 {
		return strings.TrimSpace("No event holds a word of about; " + asked + " looked at. " + nowhere(r.ranking.Words))
	}
	note := fmt.Sprintf("%d of %s, what tells most of about; event=N shows one whole, with about its passages.", shown, asked)
	if len(left) > 0 {
		note += " Next best: event=" + bounded(left, ", ", maxNames) + "."
	}
	return note
}

// nowhere names the words that occur nowhere; it is empty where there
// are none.
func nowhere(words []conversations.Word) string {
	var missing []string
	for _, w := range words {
		if w.Events > 0 {
			continue
		}
		word := text.Quote(w.Word)
		if w.Near != "" {
			word += " (near: " + text.Quote(w.Near) + ")"
		}
		missing = append(missing, word)
	}
	if len(missing) == 0 {
		return ""
	}
	return "Nowhere: " + bounded(missing, ", ", maxNames) + "."
}

// subjectNote says what is shown of events that are not whole.
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
