package conversations

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
	"github.com/convtools/convtools/runtime/transcript"
)

// SearchQuery asks which events hold a pattern, or answer a question. What is searched of an event is
// its text: of a tool call the name and, on the next lines, the arguments with the escapes in strings
// undone.
type SearchQuery struct {
	// Filter says which conversations are searched. Only a search by conversation heeds Archived: others
	// have live and archived ones alike.
	Filter
	// Pattern, a literal text or a regular expression, is searched for; nil is in every event.
	Pattern *excerpt.Pattern
	// Question is ranked for with Relevance, in the words of whoever asks, in place of a pattern. What is
	// between double quotes has to be in an event as it stands, in any case.
	Question string
	// Scopes are the kinds of text that are searched, and with Errors the results of calls that
	// failed too; neither is all, and with OwnToo none. Roles, if not 0, are those of messages.
	Scopes transcript.Scopes
	Errors bool
	Roles  transcript.Roles
	// Since and Until bound the times of events, both inclusive. With either, events without a
	// time are left out. Nil is no bound.
	Since, Until *time.Time
	// Events, where it is not zero, selects events by their numbers; with Relevance alone.
	Events EventRange
	// Own reports whether a tool, by its recorded name, is one whose calls and results are
	// searched, whatever Scopes has, with OwnToo, and else are only counted, as far as Scopes
	// has them. Nil is for no tool.
	Own    func(tool string) bool
	OwnToo bool

	Order Order
	// Sort and Ascending order conversations, where they are what events are ordered by.
	Sort      Sort
	Ascending bool
	// Limit bounds how many events there are, but by conversation. With Newest, After leaves out
	// events up to a position, and CountAll has [Results.Total] count all that match, also where these
	// are so many that it takes more than a few milliseconds.
	Limit    int
	After    *Position
	CountAll bool
	// MaxText is how many bytes a passage has at the most, and MaxWide how many it has with more
	// around it, with Relevance.
	MaxText, MaxWide int
}

// Order is what events are ordered by.
type Order uint8

// The orders. By conversation, a title that matches is a hit of its own; with Newest it stands for all
// events of its conversation; with Relevance the event that answers best comes first.
const (
	ByConversation Order = iota
	Newest
	Relevance
)

// Results is the answer to a [SearchQuery].
type Results struct {
	Hits []Hit
	// More reports whether more events match behind the last one, with Newest.
	More bool
	// Total counts what matches, beside Own: lines, or events with Newest. With AtLeast there may
	// be more. Own counts what was left out as calls and results of own tools, as far as it was
	// counted.
	Total, Own int
	AtLeast    bool
	// Conversations are those with a match, in order, and Searched is how many were searched;
	// neither is there with Newest. With Relevance others that rank high are there too, the best one
	// first.
	Conversations []*Matched
	Searched      int
	// Words are those of the question that say what it is about.
	Words []Word
	Aside Aside

	asked   *asking // nil where nothing is searched
	terms   *terms.Reader
	weights excerpt.Weights
}

// Matched is a conversation with a match.
type Matched struct {
	Listed
	Matches int     // lines
	Score   float64 // with Relevance
	// Latest is the last thing said in it that answers nearly as well as the best; nil where there is
	// none, and without Relevance.
	Latest *Hit

	order int64 // [store.Conversation.Order]
}

// Hit is an event that matches, or a title.
type Hit struct {
	Conversation *Matched
	Number       int               // as [Event.Number]; 0 for a title
	Index        int               // as [Event.Index]; -1 for a title
	Turn         int               // from 1; 0 for a title
	Scope        transcript.Scopes // exactly one
	Kind         transcript.Kind
	Role         string    // as [transcript.Event.RoleName]
	Tool         string    // that is called, or has the result
	Failed       bool      // it is the result of a call that failed
	Time         time.Time // zero where there is none that can be used
	Lines        int       // that match, by conversation
	*Passage               // with Relevance; else nil

	in *source
	at index.Scored
}

// Passage is the part of an event that answers a question best.
type Passage struct {
	excerpt.Excerpt
	Wide   excerpt.Excerpt // the same with more around it
	Score  float64
	Answer int             // of a request, the number of the event that answers it; 0 where there is none
	Also   []transcript.ID // other conversations that have the same passage
}

// Word is a word of a question.
type Word struct {
	Word   string // as it was asked
	Term   string // the beginning that its forms have in common, in small letters
	Events int    // that have it, or another form of it
	Rare   bool   // few events have it, so that it tells much
	Near   string // of a word that no event has, the spelling one edit away that most have; empty where there is none
}

// Position is where an event is among all: the newest first, those without a time last;
// those of equal times as their store has them. It stays where it was when events are recorded.
type Position struct {
	Time  time.Time // zero where there is none that can be used
	Order int64     // [store.Conversation.Order]
	ID    transcript.ID
	Event int // as [Event.Number]
}

// in is the position as an index has it, which orders them.
func (p *Position) in() *index.Position {
	return &index.Position{Time: p.Time, Order: p.Order, Key: string(p.ID), Number: uint32(p.Event)} //nolint:gosec // a count
}

// Position returns where the event is among all that are ordered by time.
func (h *Hit) Position() Position {
	return Position{Time: h.Time, Order: h.Conversation.order, ID: h.Conversation.ID, Event: h.Number}
}

// Read returns the text of a hit, which is valid until the next one is read.
func (r *Results) Read(h *Hit) ([]byte, error) {
	switch {
	case h.in != nil:
		text, _, err := h.in.view.Read(h.at)
		return text, err
	case h.Passage != nil:
		return []byte(h.Text), nil
	}
	return []byte(h.Conversation.Title), nil
}

// Of returns the hits in a conversation, in the order of their events.
func (r *Results) Of(c *Matched) (hits []*Hit) {
	for i := range r.Hits {
		if r.Hits[i].Conversation == c {
			hits = append(hits, &r.Hits[i])
		}
	}
	slices.SortStableFunc(hits, func(a, b *Hit) int { return cmp.Compare(a.Index, b.Index) })
	return hits
}

// Search returns the events that match. What has changed since it was last asked is read first.
func (l *Library) Search(ctx context.Context, q SearchQuery) (*Results, error) {
	q.Both = q.Both || q.Order != ByConversation
	r, err := l.search(ctx, &q)
	var damage *index.DamageError
	if errors.As(err, &damage) { // it is made anew
		r, err = l.search(ctx, &q)
	}
	if err != nil {
		return &Results{Aside: r.Aside}, err
	}
	return r, nil
}

// search answers a query; the results are there also with an error.
func (l *Library) search(ctx context.Context, q *SearchQuery) (r *Results, err error) {
	r = &Results{}
	var ranking *ranking
	if q.Order == Relevance {
		if ranking = l.newRanking(q, r); len(ranking.words) == 0 {
			return r, ctx.Err()
		}
	}
	if r.asked, err = l.ask(&q.Filter, &r.Aside); err == nil {
		err = r.asked.prepare(ctx, q.Order == ByConversation)
	}
	r.asked.done()
	if err != nil {
		return r, err
	}
	switch q.Order {
	case Relevance:
		err = ranking.rank(ctx)
	case Newest:
		err = r.newest(ctx, q)
	default:
		err = r.byConversation(ctx, q)
	}
	return r, cmp.Or(err, ctx.Err())
}

// kinds are the kinds of messages that may match.
func (q *SearchQuery) kinds() uint64 {
	set := uint64(0)
	for k := range transcript.Kind(failedKind) {
		role := k.Role()
		switch {
		case q.Roles != 0 && (role == transcript.NoRole || !q.Roles.Has(role)), k.Scope() == 0:
		case q.isAsked(k):
			set |= 1<<k | 1<<(k+failedKind)
		case q.Errors && k == transcript.KindToolResult:
			set |= failedKinds
		}
	}
	if q.OwnToo {
		set |= toolKinds
	}
	if len(q.IDs) > 0 {
		set |= set << copiedKind // a search over all finds these in the other conversation
	}
	return set
}

// isAsked reports whether events of a kind are searched.
func (q *SearchQuery) isAsked(k transcript.Kind) bool {
	return q.Scopes&k.Scope() != 0 || q.Scopes == 0 && !q.Errors && !q.OwnToo
}

// isOwn reports whether a message of a kind is one of an own tool.
func (q *SearchQuery) isOwn(kind uint8, extra []byte) bool {
	if q.Own == nil || !isOfTool(kind) {
		return false
	}
	tool := parseExtra(extra, kindOf(kind)).tool
	return tool != "" && q.Own(tool)
}

// in returns the query of an index.
func (q *SearchQuery) in(s *source) index.Query {
	iq := index.Query{Filter: q.inIndex(s), TextOnly: q.Order != Newest}
	if q.Pattern != nil && q.Pattern.Required() != "" {
		iq.Text, iq.Find = q.Pattern.Required(), q.Pattern.Find
	}
	if q.After != nil {
		iq.After = q.After.in()
	}
	return iq
}

// inIndex returns the filter of an index.
func (q *SearchQuery) inIndex(s *source) index.Filter {
	f := index.Filter{Kinds: q.kinds(), Wanted: s.filter(), ApartKinds: toolKinds | toolKinds<<copiedKind}
	f.Since, f.Until = q.between()
	if q.Own != nil {
		f.IsApart = q.isOwn
	}
	return f
}

// between returns the bounds of times as an index has them: the zero time is no bound there, and no
// message has it.
func (q *SearchQuery) between() (since, until time.Time) {
	if q.Since != nil {
		if since = *q.Since; since.IsZero() {
			since = since.Add(1)
		}
	}
	if q.Until != nil {
		if until = *q.Until; until.IsZero() {
			until = until.Add(-1)
		}
	}
	return since, until
}

// isIn reports whether a time is between the bounds.
func (q *SearchQuery) isIn(t time.Time) bool {
	since, until := q.between()
	return q.Since == nil && q.Until == nil || !t.IsZero() && !t.Before(since) && (q.Until == nil || !t.After(until))
}
