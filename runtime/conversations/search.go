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

// SearchQuery searches for events with a pattern, or ranks events for a question. It searches the text of an event:
// for a tool call its name and, on the next lines, its arguments with unescaped strings.
type SearchQuery struct {
	// Filter selects the conversations. Archived has an effect only with ByConversation: other orders search live and
	// archived ones.
	Filter
	Pattern *excerpt.Pattern // a literal text or a regular expression; nil matches every event
	// Question is the question in the user's words, in place of a pattern, with Relevance. Text in double quotes must
	// be in an event as it stands, in any case.
	Question string
	// Scopes are the kinds of text to search. With Errors, results of failed calls are searched too, and with Commands
	// calls that run a shell command. Without the three all are searched, unless OwnToo is set. With Relevance and
	// Commands alone, each command is found once.
	Scopes   transcript.Scopes
	Errors   bool
	Commands bool
	// Since and Until, if not zero, are the first and the last time of events. Events without a time are then left out.
	Since, Until time.Time
	Events       EventRange // if not zero, selects numbered events; only with Relevance
	// Own reports whether a recorded name is that of a tool of ours; nil if none is. With OwnToo the calls and results of
	// our tools are searched in any scope. Otherwise those in Scopes that match are only counted.
	Own    func(tool string) bool
	OwnToo bool

	Order Order
	// Sort and Ascending sort conversations, with ByConversation.
	Sort      Sort
	Ascending bool
	// Limit bounds the number of events, except with ByConversation. With Newest, After skips events up to a position.
	Limit int
	After *Position
	// MaxText is the most bytes of a passage, and MaxWide those of the passage with more around it; with Relevance.
	MaxText, MaxWide int
}

// Order is the order of events.
type Order uint8

// The orders. With ByConversation a matching title is a hit; with Newest it matches all events of its conversation;
// with Relevance the best event is first.
const (
	ByConversation Order = iota
	Newest
	Relevance
)

// Results is the result of a [SearchQuery].
type Results struct {
	Hits []Hit
	More bool // whether more events match after the last one, with Newest
	// Total counts matching lines with ByConversation, events with Newest, the hits with Relevance, and with Commands
	// alone all commands that were found. With AtLeast there may be more. Own, which is not in it, counts the matches in
	// calls and results of our tools that were left out, as far as they were counted.
	Total, Own int
	AtLeast    bool
	// Conversations are the conversations with a match, in order, and Searched is the number of searched ones;
	// neither with Newest. With Relevance there are also others with a high rank, the best first.
	Conversations []*Matched
	Searched      int
	Words         []Word // the words of the question without function words
	Omitted

	query   *query // nil if nothing is searched
	terms   *terms.Reader
	weights excerpt.Weights
}

// Matched is a conversation with a match.
type Matched struct {
	Listed
	Matches int     // lines
	Score   float64 // with Relevance
	// Latest is the last statement in the conversation with nearly the best score; nil for none, and without Relevance.
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
	Failed       bool      // the result of a failed call
	Time         time.Time // zero where there is none that can be used
	Lines        int       // matching lines, with ByConversation
	*Passage               // nil without Relevance

	in *source
	at index.Scored
	// The text and the extra data, if the search has read them and the text is short; nil otherwise.
	text, extra []byte
}

// Passage is the best part of an event for a question.
type Passage struct {
	excerpt.Excerpt
	Wide    excerpt.Excerpt // the same passage with more around it
	Score   float64
	Answer  int             // for a request, the number of its answer's event; 0 for none
	Outcome bool            // set for a request, and for a statement that no work of the assistant follows
	Also    []transcript.ID // other conversations with the same passage
	// Runs counts the runs of a command, and Failures those that failed, with [SearchQuery.Commands] alone.
	Runs, Failures int
}

// Word is a word of a question.
type Word struct {
	Word   string // as in the question
	Term   string // the common beginning of its forms, in lower case
	Events int    // the number of events that have a form of the word
	Rare   bool   // few events have a form of the word
}

// Position is the position of an event among all: the newest first, events without a time last, and events with equal
// times in the order of their store. It does not change when events are recorded.
type Position struct {
	Time  time.Time // zero where there is none that can be used
	Order int64     // [store.Conversation.Order]
	ID    transcript.ID
	Event int // as [Event.Number]
}

// inIndex returns the position as indexes have and compare it.
func (p *Position) inIndex() *index.Position {
	return &index.Position{Time: p.Time, Order: p.Order, Key: string(p.ID), Number: uint32(p.Event)} //nolint:gosec // a count
}

// Position returns the position of the event.
func (h *Hit) Position() Position {
	return Position{Time: h.Time, Order: h.Conversation.order, ID: h.Conversation.ID, Event: h.Number}
}

// Read returns the text of a hit: the whole text of a message in an index, or else the passage, or else the title of
// the conversation. The text is valid until the next call.
func (r *Results) Read(h *Hit) ([]byte, error) {
	switch {
	case h.text != nil: // a short message in an index, which the search has read
		return h.in.shown(h.text, h.extra), nil
	case h.in != nil: // another message in an index
		text, extra, err := h.in.view.Read(h.at)
		return h.in.shown(text, extra), err
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

// Search implements [Source]. It first updates the indexes. If it returns an error, the results have only Omitted.
func (l *Library) Search(ctx context.Context, q SearchQuery) (*Results, error) {
	q.Both = q.Both || q.Order != ByConversation // the other orders search both live and archived conversations
	r, err := twiceIfDamaged(func() (*Results, error) { return l.search(ctx, &q) })
	if err != nil {
		return &Results{Omitted: r.Omitted}, err
	}
	return r, nil
}

// twiceIfDamaged returns the answer of ask. If an index is damaged it asks again, because the index is then made anew.
func twiceIfDamaged[T any](ask func() (T, error)) (T, error) {
	answer, err := ask()
	if _, isDamaged := errors.AsType[*index.DamageError](err); isDamaged {
		return ask()
	}
	return answer, err
}

// search answers a query once. It returns results also with an error. A question without words has no results.
func (l *Library) search(ctx context.Context, q *SearchQuery) (r *Results, err error) {
	r = &Results{}
	var question *ranking // if the order is relevance
	if q.Order == Relevance {
		if question = l.newRanking(q, r); len(question.words) == 0 {
			return r, ctx.Err()
		}
	}
	if r.query, err = l.newQuery(&q.Filter, &r.Omitted); err == nil {
		err = r.query.prepare(ctx, q.Order == ByConversation)
	}
	r.query.closeLists()
	if err != nil {
		return r, err
	}
	switch q.Order {
	case Relevance:
		err = question.rank(ctx)
	case Newest:
		err = r.findNewest(ctx, q)
	default:
		err = r.byConversation(ctx, q)
	}
	return r, cmp.Or(err, ctx.Err())
}

// kinds returns the kinds of messages that may match, as a set with the bit 1<<k for each kind k. A kind in an index is
// that of an event, plus markedKind for a failed result or a call of a command, plus copiedKind for a copy.
func (q *SearchQuery) kinds() uint64 {
	set := uint64(0)
	for k := range transcript.Kind(markedKind) {
		switch {
		case k.Scope() == 0: // events of the kind have no text
		case q.isAsked(k):
			set |= 1<<k | 1<<(k+markedKind) // a message with and without a mark
		case q.Errors && k == transcript.KindToolResult:
			set |= failedKinds
		case q.Commands && k == transcript.KindToolCall:
			set |= commandKinds
		}
	}
	if q.OwnToo {
		set |= toolKinds
	}
	if len(q.IDs) > 0 {
		set |= set << copiedKind // copies too; other searches find the message in the conversation that it was copied from
	}
	return set
}

// isAsked reports whether all events of a kind are searched: the scopes have it, or nothing is selected.
func (q *SearchQuery) isAsked(k transcript.Kind) bool {
	return q.Scopes&k.Scope() != 0 || q.Scopes == 0 && !q.Errors && !q.OwnToo && !q.Commands
}

// isOwn reports whether a message in an index, with a kind and extra data, is of a tool of ours.
func (q *SearchQuery) isOwn(kind uint8, extra []byte) bool {
	if q.Own == nil || !isOfTool(kind) {
		return false
	}
	tool := parseExtra(extra, kindOf(kind)).tool
	return tool != "" && q.Own(tool)
}

// forIndex returns the query for the index of a source.
func (q *SearchQuery) forIndex(s *source) index.Query {
	iq := index.Query{Filter: q.indexFilter(s), TextOnly: q.Order != Newest}
	if q.Pattern != nil && q.Pattern.Required() != "" {
		iq.Text, iq.Has = q.Pattern.Required(), q.Pattern.HasRequired
	}
	if q.After != nil {
		iq.After = q.After.inIndex()
	}
	return iq
}

// indexFilter returns the filter for the index of a source.
func (q *SearchQuery) indexFilter(s *source) index.Filter {
	return index.Filter{Kinds: q.kinds(), Since: q.Since, Until: q.Until, Wanted: s.filter()}
}

// isIn reports whether a time is within the bounds of the query, Since and Until. A zero bound sets no limit. The zero
// time stands for an unknown time: it is within the bounds only if both bounds are zero.
func (q *SearchQuery) isIn(t time.Time) bool {
	if q.Since.IsZero() && q.Until.IsZero() {
		return true
	}
	return !t.IsZero() && !t.Before(q.Since) && (q.Until.IsZero() || !t.After(q.Until))
}
