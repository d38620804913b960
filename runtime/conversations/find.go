package conversations

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// open sets the view of the source to the index as it is now, unless the source has a view, and returns the note in the
// view. It returns false if no view can be opened or the note cannot be read.
func (s *source) open() (note indexNote, ok bool) {
	if s.view == nil {
		view, err := s.index.View()
		if err != nil {
			return note, false
		}
		s.view = view
	}
	return noteOf(s.view)
}

// prepare updates and opens the indexes of the stores, and selects the conversations to search. It lists a store if
// listAll is set, or if its index may not have just these. It removes stores without an index from the query.
func (q *query) prepare(ctx context.Context, listAll bool) error {
	if err := q.refresh(ctx, q.omitted); err != nil {
		return err
	}
	for _, s := range q.sources {
		s.byIndex = !listAll && q.hasIndexed(ctx, s)
	}
	if err := q.selectConversations(ctx); err != nil {
		return err
	}
	q.sources = slices.DeleteFunc(q.sources, func(s *source) bool { return s.view == nil }) // refresh has added the problem
	for _, s := range q.sources {
		if !s.byIndex {
			q.selectListed(s)
		}
	}
	return ctx.Err()
}

// hasIndexed reports whether the index of a store has exactly the conversations that the filter selects, so that the
// store need not be listed. It returns false if the query has another store of the same kind, such as a copy of a home:
// both may have the same conversation.
func (q *query) hasIndexed(ctx context.Context, s *source) bool {
	note, ok := s.open()
	if needsList := len(q.ids)+len(q.filter.Labels) > 0 || q.filter.File != ""; needsList || !ok || note.Version == "" {
		return false // without a version the index may lack conversations
	}
	isCopy := func(other *source) bool { return other != s && other.Name() == s.Name() }
	isThere := func(id transcript.ID) bool { return s.view.Lookup(string(id)) != nil }
	// The index may have forgotten and excluded conversations, and relatives of these. A list is without them.
	isForgotten := slices.ContainsFunc(slices.Collect(maps.Keys(q.settings.forgotten)), isThere)
	if isForgotten || slices.ContainsFunc(q.sources, isCopy) || slices.ContainsFunc(q.exclude, isThere) {
		return false
	}
	version, err := s.Version(ctx)
	return err == nil && version == note.Version
}

// selectListed sets the wanted conversations of a source to those in its list. It adds the problems of reading them to
// the omitted, and counts the conversations that could not be read at all as missed.
func (q *query) selectListed(s *source) {
	s.wanted = map[string]*store.Conversation{}
	for i := range s.list {
		c := &s.list[i]
		s.wanted[string(c.ID)] = c
		problem := s.problem(c.ID)
		if problem == nil {
			continue
		}
		p := *problem
		p.Source = c.Source
		if p.Kind == store.Unreadable {
			s.missed++
		}
		q.omitted.Problems = append(q.omitted.Problems, p)
	}
}

// problem returns the problem of reading a listed conversation, now or when it was indexed; nil for none.
func (s *source) problem(id transcript.ID) *Problem {
	known := s.view.Lookup(string(id))
	if p := s.unread[id]; p != nil || known == nil {
		return cmp.Or(p, &Problem{ID: id, Kind: store.Unreadable, Err: errors.New("it cannot be read")}) // no other reason is known
	}
	f := readFacts(known)
	return f.problem()
}

// filter returns a function that reports by its key whether a conversation of the index is searched; nil if all are.
func (s *source) filter() func(key string) bool {
	if s.wanted == nil {
		return nil
	}
	return func(key string) bool { return s.wanted[key] != nil }
}

// matched returns the [Matched] of a conversation of the index, each time the same pointer. It describes the
// conversation as the store lists it, in s.wanted, or as the index has it if the store was not listed.
func (s *source) matched(c *index.Conversation) *Matched {
	m := s.found[c.Key]
	if m == nil {
		f := readFacts(c)
		m = &Matched{Listed: Listed{Conversation: f.Conversation, Events: f.Events, LastEventAt: f.LastAt, Size: &f.Size}, order: c.Order}
		if listed := s.wanted[c.Key]; listed != nil {
			m.Conversation = listed.Conversation
		}
		m.Title = s.library.shownTitle(m.Title)
		s.found[c.Key] = m
	}
	return m
}

// shown returns a message's text, without secrets if the library hides them and the message's extra data tells of any.
func (s *source) shown(text, extra []byte) []byte {
	if hasSecret(extra) {
		return s.library.shown(text)
	}
	return text
}

// newHit returns the hit for a message in the index. c is the message's conversation, and extra its encoded data.
func (s *source) newHit(c *index.Conversation, m index.Scored, extra []byte) Hit {
	kind := kindOf(m.Kind)
	x := parseExtra(extra, kind) // x.unnumbered is the number of events before the message that m.Number does not count
	return Hit{
		Conversation: s.matched(c), Number: int(m.Number), Index: int(m.Number) - 1 + x.unnumbered, Turn: x.turn, Scope: kind.Scope(), Kind: kind,
		Role: x.role, Failed: isFailed(m.Kind), Time: m.Time, in: s, at: m,
	}
}

// byConversation adds all matching events and titles to the results, with the numbers of their matching lines, and
// sorts them by conversation. Matches of our tools are only counted, in r.Own, unless the query asks for our tools.
func (r *Results) byConversation(ctx context.Context, q *SearchQuery) error {
	for _, s := range r.query.sources {
		r.Searched += len(s.wanted) - s.missed
		r.addTitles(q, s)
		for hit, err := range s.view.Search(ctx, q.forIndex(s)) {
			if err != nil {
				return err
			}
			text, err := hit.Read()
			if err != nil {
				return err
			}
			text = s.shown(text, hit.Extra)
			lines := 1
			if q.Pattern != nil {
				lines = q.Pattern.Count(text)
			}
			isOwn := q.isOwn(hit.Kind, hit.Extra)
			isAsked := q.isAsked(kindOf(hit.Kind)) || (q.Errors && isFailed(hit.Kind)) || (q.OwnToo && isOwn)
			if lines == 0 || !isAsked {
				continue
			}
			if isOwn && !q.OwnToo {
				r.Own += lines
			} else {
				r.addHit(s.newHit(hit.Conversation, hit.Scored(), hit.Extra), lines)
			}
		}
	}
	sortBy(r.Conversations, q.Sort, q.Ascending, func(m *Matched) *Listed { return &m.Listed })
	place := map[*Matched]int{} // in the sorted conversations
	for i, c := range r.Conversations {
		place[c] = i
	}
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(place[a.Conversation], place[b.Conversation]), cmp.Compare(a.Index, b.Index))
	})
	return nil
}

// addTitles adds the hits for the titles of a source that match the pattern. Without a pattern it adds nothing. Titles
// are searched if the query selects them, or if it selects no kind of text and so searches every kind.
func (r *Results) addTitles(q *SearchQuery, s *source) {
	selectsAny := q.Scopes != 0 || q.Errors || q.OwnToo || q.Commands // each of these fields selects kinds of text
	if skipsTitles := selectsAny && q.Scopes&transcript.ScopeTitle == 0; skipsTitles || q.Pattern == nil {
		return
	}
	for key, listed := range s.wanted {
		if lines := q.Pattern.Count(r.query.shown([]byte(listed.Title))); lines > 0 {
			c := cmp.Or(s.view.Lookup(key), &index.Conversation{Key: key})
			r.addHit(Hit{Conversation: s.matched(c), Index: -1, Scope: transcript.ScopeTitle}, lines)
		}
	}
}

// addHit adds a hit to the results, with its conversation if that is new there, and counts its matching lines in both.
func (r *Results) addHit(h Hit, lines int) {
	if h.Conversation.Matches == 0 {
		r.Conversations = append(r.Conversations, h.Conversation)
	}
	h.Lines = lines
	h.Conversation.Matches += lines
	r.Total += lines
	r.Hits = append(r.Hits, h)
}

// findNewest adds the newest matching events to the results, up to the limit and newest first. It counts all matches,
// also those up to q.After, the position after which these results begin.
func (r *Results) findNewest(ctx context.Context, q *SearchQuery) error {
	err := r.addNewest(ctx, q)
	if err == nil && q.After != nil { // addNewest has passed over the matches before After: it counts once more
		counted := *q
		counted.After, counted.Limit = nil, -1 // with this limit it adds no event
		err = r.addNewest(ctx, &counted)
	}
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		positionA, positionB := a.Position(), b.Position()
		return positionA.inIndex().Compare(positionB.inIndex()) // newer positions are less
	})
	r.More = len(r.Hits) > q.Limit
	r.Hits = r.Hits[:min(len(r.Hits), q.Limit)]
	return err
}

const (
	mostCounted = 3000 // matches in an index are counted: about a millisecond
	shortText   = 4000 // bytes of a text that a hit keeps, so that the text is read once
)

// addNewest adds the newest matching events of each index to the results: at most one more than the limit, which shows
// that there are more. It sets Total and Own to the numbers of all matches. But it stops in an index after mostCounted
// matches, once it has added enough, and sets AtLeast. With q.After it stops as soon as it has added enough.
func (r *Results) addNewest(ctx context.Context, q *SearchQuery) error {
	r.Total, r.Own, r.AtLeast = 0, 0, false
	for _, s := range r.query.sources {
		found, counted := 0, 0
		for hit, err := range s.view.Search(ctx, q.forIndex(s)) {
			if err != nil {
				return err
			}
			isFull := found > q.Limit
			if isFull && (counted >= mostCounted || q.After != nil) {
				r.AtLeast = true
				break
			}
			counted++
			if q.isOwn(hit.Kind, hit.Extra) {
				r.Own++
				continue
			}
			r.Total++
			if isFull {
				continue
			}
			found++
			text, err := hit.Read()
			if err != nil {
				return err
			}
			h := s.newHit(hit.Conversation, hit.Scored(), hit.Extra)
			if len(text) <= shortText {
				h.text, h.extra = bytes.Clone(text), hit.Extra
			}
			r.Hits = append(r.Hits, h)
		}
	}
	return nil
}
