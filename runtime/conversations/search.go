package conversations

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// SearchQuery asks which events hold a pattern. What is searched of an event is its text: of a
// tool call the name and, on the next lines, the arguments with the escapes in strings undone.
type SearchQuery struct {
	// Filter says which conversations are searched, with Newest live and archived ones alike,
	// whatever Archived says.
	Filter
	// Pattern is searched for; nil is in every event.
	Pattern *excerpt.Pattern
	// Scopes are the kinds of text that are searched, and with Errors the results of calls that
	// failed too; neither is all, and with OwnToo none. Roles, if not 0, are those of messages.
	Scopes transcript.Scopes
	Errors bool
	Roles  transcript.Roles
	// Since and Until bound the times of events, both inclusive. With either, events without a
	// time are left out. Nil is no bound.
	Since, Until *time.Time
	// Own reports whether a tool, by its recorded name, is one whose calls and results are
	// searched, whatever Scopes has, with OwnToo, and else are only counted, as far as Scopes
	// has them. Nil is for no tool.
	Own    func(tool string) bool
	OwnToo bool

	// Newest orders events by their times, the newest first. A title that matches stands for all
	// events of its conversation. Else events are ordered by conversation, as Sort and Ascending
	// have it, and in that by number; a title that matches is a hit of its own.
	Newest    bool
	Sort      Sort
	Ascending bool

	// With Newest, After leaves out events up to a position, Limit bounds how many there are, and
	// Counting, if not nil, is asked whether to go on for the sake of [Results.Total].
	After    *MessagePosition
	Limit    int
	Counting func() bool
}

// Results is the answer to a [SearchQuery]. It is closed after use.
type Results struct {
	Hits []Hit
	// More reports whether more events match behind the last one, with a limit.
	More bool
	// Total counts what matches, beside Own: lines, or events with Newest. With AtLeast there may
	// be more. Own counts what was left out as calls and results of own tools, as far as it was
	// counted.
	Total, Own int
	AtLeast    bool
	// Conversations are those with a match, in order, and Searched is how many were searched;
	// neither is there with Newest.
	Conversations []*Matched
	Searched      int
	Aside         Aside

	opened views
}

// Matched is a conversation with a match.
type Matched struct {
	Listed
	Matches int // lines
}

// Hit is an event that matches, or a title.
type Hit struct {
	Conversation *Matched
	Number       int               // as [Event.Number]; 0 for a title
	Index        int               // as [Event.Index]; -1 for a title
	Turn         int               // from 1; 0 for a title
	Scope        transcript.Scopes // exactly one
	Kind         transcript.Kind
	Failed       bool      // it is the result of a call that failed
	Time         time.Time // zero where there is none that can be used
	Lines        int       // that match; not counted with Newest

	in    *view
	at    index.Scored
	order int64 // [store.Conversation.Order]
}

// Position returns where the event is among all that are ordered by time.
func (h *Hit) Position() MessagePosition {
	return MessagePosition{Time: h.Time, Order: h.order, ID: h.Conversation.ID, Event: h.Number}
}

// Content is the text of a [Hit], and what is recorded beside it.
type Content struct {
	Text []byte // valid until the next one is read
	Role string // as [transcript.Event.RoleName]
	Tool string // that is called, or has the result
}

// Read returns the text of a hit.
func (r *Results) Read(h *Hit) (Content, error) {
	if h.in == nil {
		return Content{Text: []byte(h.Conversation.Title)}, nil
	}
	text, extra, err := h.in.texts.Read(h.at)
	x := parseExtra(extra, h.Kind)
	return Content{text, x.role, x.tool}, err
}

// Close ends the use of the results.
func (r *Results) Close() { r.opened.close() }

// Search returns the events that match. What has changed since it was last asked is read first.
func (l *Library) Search(ctx context.Context, q SearchQuery) (*Results, error) {
	r, err := l.search(ctx, &q, false)
	var damage *index.DamageError
	if errors.As(err, &damage) { // it is made anew
		r.Close()
		r, err = l.search(ctx, &q, true)
	}
	if err != nil {
		r.Close()
		return &Results{Aside: r.Aside}, err
	}
	return r, nil
}

// search answers a query; the results are there also with an error.
func (l *Library) search(ctx context.Context, q *SearchQuery, anew bool) (*Results, error) {
	s := &searching{query: q, result: &Results{}}
	how := viewing{set: store.Live | store.Archived, anew: anew}
	if !q.Newest {
		how.set, how.listed = q.Filter.set(), true
	}
	var err error
	if s.result.opened, err = l.views(ctx, &q.Filter, how, &s.result.Aside); err != nil {
		return s.result, err
	}
	if q.Newest {
		err = s.newest(ctx)
	} else {
		err = s.byConversation(ctx)
	}
	return s.result, cmp.Or(err, ctx.Err())
}

// searching is a search in progress.
type searching struct {
	query  *SearchQuery
	result *Results
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

// in returns the query of an index.
func (q *SearchQuery) in(v *view) index.Query {
	iq := index.Query{Kinds: q.kinds(), TextOnly: !q.Newest, Wanted: v.filter()}
	if q.Pattern != nil && q.Pattern.Required() != "" {
		iq.Text, iq.Find = q.Pattern.Required(), q.Pattern.Find
	}
	// The zero time is no bound there, and no message has it.
	if q.Since != nil {
		if iq.Since = *q.Since; iq.Since.IsZero() {
			iq.Since = iq.Since.Add(1)
		}
	}
	if q.Until != nil {
		if iq.Until = *q.Until; iq.Until.IsZero() {
			iq.Until = iq.Until.Add(-1)
		}
	}
	if after := q.After; after != nil {
		iq.After = &index.Position{Time: after.Time, Order: after.Order, Key: string(after.ID), Number: uint32(after.Event)} //nolint:gosec // a count
	}
	return iq
}

// isOwn reports whether a message of a kind is one of an own tool.
func (q *SearchQuery) isOwn(kind uint8, extra []byte) bool {
	if q.Own == nil || !isOfTool(kind) {
		return false
	}
	tool := parseExtra(extra, kindOf(kind)).tool
	return tool != "" && q.Own(tool)
}

// byConversation finds all events that match, and counts their lines.
func (s *searching) byConversation(ctx context.Context) error {
	q, r := s.query, s.result
	found := map[string]*Matched{}
	of := func(v *view, key string) (*Matched, error) {
		if found[key] == nil {
			c, err := v.index.Lookup(key)
			if err != nil {
				return nil, err
			}
			if c == nil {
				c = &index.Conversation{Key: key}
			}
			found[key] = &Matched{Listed: *v.conversation(c)}
			r.Conversations = append(r.Conversations, found[key])
		}
		return found[key], nil
	}
	for _, v := range r.opened {
		r.Searched += len(v.wanted) - v.unread
		if err := s.titles(v, of); err != nil {
			return err
		}
		for hit, err := range v.index.Search(ctx, q.in(v)) {
			if err != nil {
				return err
			}
			text, extra, err := hit.Read()
			if err != nil {
				return err
			}
			lines := 1
			if q.Pattern != nil {
				lines = q.Pattern.Count(text)
			}
			isOwn := q.isOwn(hit.Kind, extra)
			switch asked := q.isAsked(kindOf(hit.Kind)) || q.Errors && isFailed(hit.Kind); {
			case lines == 0, !asked && !(isOwn && q.OwnToo):
				continue
			case isOwn && !q.OwnToo:
				r.Own += lines
				continue
			}
			c, err := of(v, hit.Key)
			if err != nil {
				return err
			}
			c.Matches += lines
			r.Total += lines
			h := newHit(c, v, hit, extra)
			h.Lines = lines
			r.Hits = append(r.Hits, h)
		}
	}
	sortBy(r.Conversations, q.Sort, q.Ascending, func(m *Matched) *Listed { return &m.Listed })
	place := map[*Matched]int{}
	for i, c := range r.Conversations {
		place[c] = i
	}
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(place[a.Conversation], place[b.Conversation]), cmp.Compare(a.Index, b.Index))
	})
	return nil
}

// titles finds the titles that match.
func (s *searching) titles(v *view, of func(*view, string) (*Matched, error)) error {
	q := s.query
	if q.Pattern == nil || q.Roles != 0 || q.Scopes&transcript.ScopeTitle == 0 && (q.Scopes != 0 || q.Errors || q.OwnToo) {
		return nil
	}
	for key, c := range v.wanted {
		lines := q.Pattern.Count([]byte(c.Title))
		if lines == 0 {
			continue
		}
		m, err := of(v, key)
		if err != nil {
			return err
		}
		m.Matches += lines
		s.result.Total += lines
		s.result.Hits = append(s.result.Hits, Hit{Conversation: m, Index: -1, Scope: transcript.ScopeTitle, Lines: lines})
	}
	return nil
}

func newHit(c *Matched, v *view, hit *index.Hit, extra []byte) Hit {
	kind := kindOf(hit.Kind)
	x := parseExtra(extra, kind)
	return Hit{
		Conversation: c, Number: int(hit.Number), Index: int(hit.Number) - 1 + x.unnumbered, Turn: x.turn, Scope: kind.Scope(), Kind: kind,
		Failed: isFailed(hit.Kind), Time: hit.Time, in: v, at: hit.Scored(), order: hit.Order,
	}
}
