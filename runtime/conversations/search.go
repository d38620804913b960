package conversations

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Search implements [Source]. It works in two steps where it has to sort by
// something that only the events tell: first all conversations, in any order and
// several at a time, keeping lines as far as memory allows; then, in order, what
// is handed over. Where the order is known at once, both go hand in hand and end
// as soon as possible.
func (l *Library) Search(ctx context.Context, q SearchQuery) (Matches, error) {
	var result Matches
	p, err := parsePattern(q.Pattern, q.Regexp, q.IgnoreCase)
	if err != nil {
		return result, err
	}
	if q.ByEvent {
		p.unescaped()
	}
	if q.Scopes == 0 && !q.OwnToo {
		q.Scopes = transcript.ScopeAll
	}
	o, err := l.open(ctx, &q.Filter)
	if err != nil {
		return result, err
	}
	defer o.close()
	found, err := l.pickForMatches(ctx, o, &q.Filter, &result.Aside, []*pattern{p})
	if err != nil {
		return result, err
	}
	s := &searching{
		library: l, result: &result, left: -1, again: store.NewBuffer(l.memory),
		query: query{SearchQuery: q, pattern: p, toEnd: q.CountAll || q.Sort.needsEvents() && len(found) > 1},
	}
	s.spans = s.eachSpan
	defer s.again.Release()
	if q.MaxMatches > 0 {
		s.left = q.MaxMatches
	}
	return result, s.run(ctx, found)
}

// query is what a search looks for.
type query struct {
	SearchQuery
	pattern *pattern
	toEnd   bool // events are read to the end even when no more lines are wanted
}

// searching is a search in progress.
type searching struct {
	query
	library *Library
	result  *Matches
	kept    atomic.Int64   // bytes of lines that wait for their turn
	again   *store.Buffer  // for conversations that are searched a second time
	left    int            // how many more matches to hand over; negative means all
	shown   *Line          // what is handed over
	spans   iter.Seq[Span] // its matches
}

// finding is what the search of one conversation found.
type finding struct {
	Listed
	stored  *store.Conversation
	matches int // matching lines
	own     int // matching lines that were left out as those of own tools
	turns   int // in the conversation
	lines   []Line
	size    int64 // of the lines kept in memory
	dropped bool  // lines were found but there was no room to keep them
	problem *Problem
}

// room returns how many matches of a conversation are wanted; -1 means all.
func (s *searching) room() int {
	if s.MaxMatchesOfEach == 0 || 0 <= s.left && s.left < s.MaxMatchesOfEach {
		return s.left
	}
	return s.MaxMatchesOfEach
}

func (s *searching) run(ctx context.Context, found []store.Conversation) error {
	findings := make([]finding, len(found))
	byMetadata := s.Sort
	if byMetadata.needsEvents() {
		byMetadata = ByCreation
	}
	order := make([]*finding, len(found))
	for i := range found {
		findings[i].Listed.Conversation, findings[i].stored = found[i].Conversation, &found[i]
		order[i] = &findings[i]
	}
	listed := func(f *finding) *Listed { return &f.Listed }
	sortBy(order, byMetadata, s.Ascending, listed)
	list := make([]store.Conversation, len(found))
	for i, f := range order {
		list[i] = *f.stored
	}
	room, needEvents := s.room(), s.toEnd || s.Scopes != transcript.ScopeTitle
	sorted := byMetadata == s.Sort || len(found) < 2
	var deferred []*finding
	err := s.library.readAll(ctx, list,
		func(ctx context.Context, i int, buffer *store.Buffer) {
			k := keeper{kept: &s.kept}
			one := search{query: &s.query, room: room, buffer: buffer}
			if s.Line != nil {
				one.emit = k.add
			}
			f := order[i]
			_ = one.run(ctx, f, needEvents) // keeping lines cannot fail
			f.lines, f.dropped, f.size = k.lines, k.dropped, k.size
		},
		func(i int) error {
			f := order[i]
			s.account(f)
			switch {
			case f.matches == 0:
				return nil
			case !sorted:
				deferred = append(deferred, f)
				return nil
			}
			return s.handOver(ctx, f)
		})
	if err != nil {
		return err
	}
	sortBy(deferred, s.Sort, s.Ascending, listed)
	for _, f := range deferred {
		if err := s.handOver(ctx, f); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
	}
	return nil
}

// account adds a finding to the totals.
func (s *searching) account(f *finding) {
	r := s.result
	if f.problem != nil {
		r.Aside.Problems = append(r.Aside.Problems, *f.problem)
	}
	if f.problem == nil || f.problem.Kind != Unreadable {
		r.Searched++
	}
	r.Total += f.matches
	r.Own += f.own
	if f.matches > 0 {
		r.Matched++
	}
}

// handOver hands over the lines of a conversation, as far as more are wanted. It
// returns errEnough when nothing that follows can matter.
func (s *searching) handOver(ctx context.Context, f *finding) error {
	defer s.kept.Add(-f.size)
	if s.enough() {
		return s.rest()
	}
	room := s.room()
	m := Match{Conversation: f.Listed.Conversation, Matches: f.matches, Shown: f.matches, Turns: f.turns}
	if room >= 0 {
		m.Shown = min(m.Shown, room)
	}
	if s.Found != nil {
		if err := s.Found(&m); err != nil {
			return err
		}
	}
	emit := func(l *Line) error {
		s.shown, l.Conversation = l, &m.Conversation
		if l.Chars == 0 || !l.IsMatch { // else it has those of its window
			l.Spans = s.spans
		}
		return s.Line(l)
	}
	if f.dropped {
		q := s.query
		q.toEnd, q.CountAll = false, false
		one := search{query: &q, room: room, emit: emit, buffer: s.again}
		again := finding{stored: f.stored}
		if err := one.run(ctx, &again, true); err != nil {
			return err
		}
	} else if err := eachWithin(f.lines, room, s.Context, emit); err != nil {
		return err
	}
	f.lines = nil
	s.result.Returned += m.Shown
	s.result.Conversations = append(s.result.Conversations, m)
	if s.left > 0 {
		s.left -= m.Shown
	}
	if s.enough() {
		return s.rest()
	}
	return nil
}

// enough reports whether no further conversation is handed over.
func (s *searching) enough() bool {
	return s.MaxConversations > 0 && len(s.result.Conversations) == s.MaxConversations || s.left == 0
}

// rest ends the search, unless everything is to be counted.
func (s *searching) rest() error {
	if s.CountAll {
		return nil
	}
	return errEnough
}

// eachSpan is [Line.Spans] of the line that is handed over, where it is whole.
func (s *searching) eachSpan(yield func(Span) bool) {
	if s.shown.IsMatch {
		s.pattern.each(s.shown.Text, -1, yield)
	}
}

// eachWithin calls emit with the lines up to the match number room and its lines
// of context, as a search with that room would. A negative room means all.
func eachWithin(lines []Line, room, context int, emit func(*Line) error) error {
	var last *Line // the last match that is wanted
	for i := range lines {
		l := &lines[i]
		if last != nil {
			if l.Event != last.Event || l.Number > last.Number+context {
				return nil
			}
			l.IsMatch = false
		}
		if err := emit(l); err != nil {
			return err
		}
		if l.IsMatch {
			if room--; room == 0 {
				last = l
			}
		}
	}
	return nil
}

// problemOf is what is wrong with a conversation whose events were read, an error of which is
// why that ended; nil for nothing.
func problemOf(id transcript.ID, events store.Events) *Problem {
	if err := events.Err(); err != nil {
		return unreadable(id, err)
	}
	var left []string
	totals := events.Totals()
	switch n := totals.TooLarge; n {
	case 0:
	case 1:
		left = append(left, "an event is too large to be read, and left out")
	default:
		left = append(left, fmt.Sprintf("%d events are too large to be read, and left out", n))
	}
	if totals.Cut {
		left = append(left, "it is far larger than the file that it is compressed to, and its end left out")
	}
	if len(left) == 0 {
		return nil
	}
	return &Problem{ID: id, Kind: TooLarge, Err: errors.New(strings.Join(left, "; "))}
}

// unreadable is the problem of a conversation whose events cannot be read, or not
// to the end.
func unreadable(id transcript.ID, err error) *Problem {
	var damage *store.DamageError
	if errors.As(err, &damage) {
		return &Problem{ID: id, Kind: DamagedEvents, Event: damage.Event, Err: damage}
	}
	return &Problem{ID: id, Kind: Unreadable, Err: err}
}
