package conversations

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// open opens the index as it is, and returns its note; false if there is no usable index.
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

// prepare updates and opens the indexes of the stores, and selects the conversations to search. Without listAll, it
// does not list a store that has not changed since it was indexed.
func (q *query) prepare(ctx context.Context, listAll bool) error {
	if err := q.refresh(ctx, q.omitted); err != nil {
		return err
	}
	for _, s := range q.sources {
		s.isWhole = !listAll && q.hasIndexed(ctx, s)
	}
	if err := q.pick(ctx); err != nil {
		return err
	}
	q.sources = slices.DeleteFunc(q.sources, func(s *source) bool { return s.view == nil }) // the error is among the problems
	for _, s := range q.sources {
		if !s.isWhole {
			q.choose(s)
		}
	}
	return ctx.Err()
}

// hasIndexed reports whether the index of a store has exactly the conversations that the filter selects, so that the
// store need not be listed. Of two stores of one kind, as a home and a copy of it, both are listed: they may have the
// same conversation.
func (q *query) hasIndexed(ctx context.Context, s *source) bool {
	note, ok := s.open()
	if !ok || note.Version == "" || len(q.ids)+len(q.filter.Labels) > 0 || q.filter.File != "" {
		return false
	}
	isCopy := func(other *source) bool { return other != s && other.Name() == s.Name() }
	isThere := func(id transcript.ID) bool { return s.view.Lookup(string(id)) != nil } // relatives are found by listing
	isForgotten := slices.ContainsFunc(slices.Collect(maps.Keys(q.settings.forgotten)), isThere)
	if isForgotten || slices.ContainsFunc(q.sources, isCopy) || slices.ContainsFunc(slices.Concat(q.exclude, q.relatives), isThere) {
		return false
	}
	version, err := s.Version(ctx)
	return err == nil && version == note.Version
}

// errUnread is the reason for a conversation without messages in an index if no other is known.
var errUnread = errors.New("it cannot be read")

// choose selects the listed conversations of a source, and adds the problems of those that could not be read.
func (q *query) choose(s *source) {
	s.wanted = map[string]*store.Conversation{}
	for i := range s.list {
		c := &s.list[i]
		s.wanted[string(c.ID)] = c
		problem := s.unread[c.ID]
		if known := s.view.Lookup(string(c.ID)); problem == nil && known != nil {
			f := readFacts(known)
			if problem = f.problem(); problem == nil {
				continue
			}
		}
		p := *cmp.Or(problem, &Problem{ID: c.ID, Kind: Unreadable, Err: errUnread})
		p.Source = c.Source
		if p.Kind == Unreadable {
			s.missed++
		}
		q.omitted.Problems = append(q.omitted.Problems, p)
	}
}

// filter returns a function that reports whether a conversation of the index, by its key, is searched; nil for all.
func (s *source) filter() func(key string) bool {
	if s.wanted == nil {
		return nil
	}
	return func(key string) bool { return s.wanted[key] != nil }
}

// matched returns a searched conversation of the index: as listed, or as far as the index describes it.
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

// shown returns the text of a message, with the data of it, as [Library.shown] does.
func (s *source) shown(text, extra []byte) []byte {
	if hasSecret(extra) {
		return s.library.shown(text)
	}
	return text
}

func (s *source) hit(in *index.Conversation, at index.Scored, extra []byte) Hit {
	kind := kindOf(at.Kind)
	x := parseExtra(extra, kind)
	return Hit{
		Conversation: s.matched(in), Number: int(at.Number), Index: int(at.Number) - 1 + x.unnumbered, Turn: x.turn, Scope: kind.Scope(), Kind: kind,
		Role: x.role, Tool: x.tool, Failed: isFailed(at.Kind), Time: at.Time, in: s, at: at,
	}
}

// byConversation finds all matching events, and counts their matching lines.
func (r *Results) byConversation(ctx context.Context, q *SearchQuery) error {
	for _, in := range r.query.sources {
		r.Searched += len(in.wanted) - in.missed
		r.titles(q, in)
		for hit, err := range in.view.Search(ctx, q.in(in)) {
			if err != nil {
				return err
			}
			text, extra, err := hit.Read()
			if err != nil {
				return err
			}
			text = in.shown(text, extra)
			lines := 1
			if q.Pattern != nil {
				lines = q.Pattern.Count(text)
			}
			isOwn := q.isOwn(hit.Kind, extra)
			switch isAsked := q.isAsked(kindOf(hit.Kind)) || q.Errors && isFailed(hit.Kind); {
			case lines == 0, !isAsked && !(isOwn && q.OwnToo):
			case isOwn && !q.OwnToo:
				r.Own += lines
			default:
				r.add(in.hit(hit.Conversation, hit.Scored(), extra), lines)
			}
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

// titles finds the matching titles.
func (r *Results) titles(q *SearchQuery, in *source) {
	if q.Pattern == nil || q.Roles != 0 || q.Scopes&transcript.ScopeTitle == 0 && (q.Scopes != 0 || q.Errors || q.OwnToo || q.Commands) {
		return
	}
	for key, listed := range in.wanted {
		if lines := q.Pattern.Count(r.query.shown([]byte(listed.Title))); lines > 0 {
			c := cmp.Or(in.view.Lookup(key), &index.Conversation{Key: key})
			r.add(Hit{Conversation: in.matched(c), Index: -1, Scope: transcript.ScopeTitle}, lines)
		}
	}
}

// add adds a hit with matching lines.
func (r *Results) add(h Hit, lines int) {
	if h.Conversation.Matches == 0 {
		r.Conversations = append(r.Conversations, h.Conversation)
	}
	h.Lines = lines
	h.Conversation.Matches += lines
	r.Total += lines
	r.Hits = append(r.Hits, h)
}

// newest finds the newest matching events. It counts all matches if it reaches the end of the indexes.
func (r *Results) newest(ctx context.Context, q *SearchQuery) error {
	isAll := q.After == nil
	for _, in := range r.query.sources {
		found := 0
		for hit, err := range in.view.Search(ctx, q.in(in)) {
			if err != nil {
				return err
			}
			if found > q.Limit { // one more than the limit shows that there are more
				isAll = false
				break
			}
			_, extra, err := hit.Read()
			if err != nil {
				return err
			}
			if q.isOwn(hit.Kind, extra) {
				r.Own++
				continue
			}
			found++
			r.Hits = append(r.Hits, in.hit(hit.Conversation, hit.Scored(), extra))
		}
	}
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		p, q := a.Position(), b.Position()
		return p.in().Compare(q.in())
	})
	r.Total, r.More = len(r.Hits), len(r.Hits) > q.Limit
	r.Hits = r.Hits[:min(len(r.Hits), q.Limit)]
	if isAll {
		return nil
	}
	return r.count(ctx, *q)
}

// mostCounted is the number of matches in an index that are counted: about five milliseconds.
const mostCounted = 3000

// count counts the matching messages, from the newest one on, up to mostCounted in each index.
func (r *Results) count(ctx context.Context, q SearchQuery) error {
	q.After, r.Total, r.Own = nil, 0, 0
	for _, in := range r.query.sources {
		counted := 0
		for hit, err := range in.view.Search(ctx, q.in(in)) {
			if err != nil {
				return err
			}
			if counted == mostCounted {
				r.AtLeast = true
				break
			}
			counted++
			var extra []byte
			if isOfTool(hit.Kind) {
				if _, extra, err = hit.Read(); err != nil {
					return err
				}
			}
			if q.isOwn(hit.Kind, extra) {
				r.Own++
			} else {
				r.Total++
			}
		}
	}
	return nil
}
