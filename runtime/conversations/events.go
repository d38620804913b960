package conversations

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/convtools/convtools/runtime/store"
)

// SearchEvents implements [Source]. It works in two steps, because only the events
// tell in which order conversations stand: first all of them, several at a time,
// keeping what is found as far as memory allows; then, in order, what is handed
// over. A conversation for whose events there was no room is searched again when
// its turn has come.
func (l *Library) SearchEvents(ctx context.Context, q EventQuery) (EventMatches, error) {
	var result EventMatches
	words, err := parseWords(&q)
	if err != nil {
		return result, err
	}
	o, err := l.open(ctx, &q.Filter)
	if err != nil {
		return result, err
	}
	defer o.close()
	found, err := l.pickForMatches(ctx, o, &q.Filter, &result.Aside, words)
	if err != nil {
		return result, err
	}
	s := &eventSearching{library: l, result: &result, query: eventQuery{EventQuery: q, words: words}}
	if len(q.Words) > 0 {
		result.Words = make([]int, len(words))
	}
	if err := s.run(ctx, found); err != nil {
		return result, err
	}
	return result, ctx.Err()
}

// MaxWords is how many words an [EventQuery] may have.
const MaxWords = 16

// parseWords checks and compiles the words of a query, or its pattern. The error
// is a [*PatternError].
func parseWords(q *EventQuery) ([]*pattern, error) {
	texts := q.Words
	if len(texts) == 0 {
		texts = []string{q.Pattern}
	}
	if len(texts) > MaxWords {
		return nil, &PatternError{Reason: PatternTooLarge}
	}
	words := make([]*pattern, len(texts))
	for i, text := range texts {
		var err error
		if words[i], err = parseWord(text, q.IgnoreCase); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// eventQuery is what a search for events looks for.
type eventQuery struct {
	EventQuery
	words []*pattern // the pattern alone where there are no words
}

// eventSearching is a search for events in progress.
type eventSearching struct {
	library *Library
	query   eventQuery
	result  *EventMatches
	kept    atomic.Int64 // bytes of events that wait for their turn
}

// eventFinding is what the search of one conversation for events found.
type eventFinding struct {
	Listed
	stored *store.Conversation
	eventCounts
	turns   int
	events  []EventMatch
	dropped bool // there was no room to keep the events
	problem *Problem
}

func (s *eventSearching) run(ctx context.Context, found []store.Conversation) error {
	findings := make([]eventFinding, len(found))
	order := make([]*eventFinding, len(found))
	for i := range found {
		findings[i].Conversation, findings[i].stored = found[i].Conversation, &found[i]
		order[i] = &findings[i]
	}
	listed := func(f *eventFinding) *Listed { return &f.Listed }
	// About in the order in which they are handed over, so that what is handed over
	// first is most likely kept.
	sortBy(order, ByCreation, false, listed)
	list := make([]store.Conversation, len(found))
	for i, f := range order {
		list[i] = *f.stored
	}
	err := s.library.readAll(ctx, list,
		func(ctx context.Context, i int, buffer *store.Buffer) {
			k := eventKeeper{kept: &s.kept}
			one := eventSearch{eventQuery: &s.query, buffer: buffer}
			if s.query.Event != nil {
				one.found = func(m *EventMatch) error {
					if !k.add(m) {
						one.found = nil // the others are only counted
					}
					return nil
				}
			}
			_ = one.run(ctx, order[i]) // keeping events cannot fail, and a context that is done is seen outside
			order[i].events, order[i].dropped = k.events, k.dropped
		},
		func(i int) error {
			s.account(order[i])
			return nil
		})
	if err != nil {
		return err
	}
	sortBy(order, ByActivity, false, listed)
	s.together(order)
	if err := s.inRange(order); err != nil {
		return err
	}
	for _, f := range order {
		if err := s.handOver(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// account adds a finding to the totals.
func (s *eventSearching) account(f *eventFinding) {
	r := s.result
	if f.problem != nil {
		r.Aside.Problems = append(r.Aside.Problems, *f.problem)
	}
	if f.problem == nil || f.problem.Kind != Unreadable {
		r.Searched++
	}
	r.Total += f.matches
	r.Own += f.own
	for i, n := range f.holding {
		r.Words[i] += n
	}
}

// maxTogether bounds [EventMatches.Together].
const maxTogether = 8

// together names the conversations that hold all words, if no event does.
func (s *eventSearching) together(order []*eventFinding) {
	if !s.query.Apart() || s.result.Total > 0 {
		return
	}
	for _, f := range order {
		if len(s.result.Together) < maxTogether && !slices.Contains(f.holding, 0) {
			s.result.Together = append(s.result.Together, f.ID)
		}
	}
}

// inRange demands that the conversation, where there is one alone, has the event
// that is asked for.
func (s *eventSearching) inRange(order []*eventFinding) error {
	n := s.query.Number
	if n == 0 || len(s.query.IDs) == 0 || len(order) != 1 {
		return nil
	}
	f := order[0]
	if 0 < n && n <= f.numbered || f.problem != nil && f.problem.Kind == Unreadable {
		return nil
	}
	return &EventRangeError{ID: f.ID, Number: n, Events: f.numbered}
}

// handOver hands over the events of a conversation.
func (s *eventSearching) handOver(ctx context.Context, f *eventFinding) error {
	if f.matches == 0 {
		return nil
	}
	c := MatchedConversation{Conversation: f.Conversation, Matches: f.matches, Turns: f.turns}
	s.result.Conversations = append(s.result.Conversations, c)
	emit := func(m *EventMatch) error {
		m.Conversation = &c.Conversation
		return s.query.Event(m)
	}
	if f.dropped {
		buffer := store.NewBuffer(s.library.memory)
		defer buffer.Release()
		again := eventSearch{eventQuery: &s.query, buffer: buffer, found: emit}
		if err := again.run(ctx, &eventFinding{Listed: f.Listed, stored: f.stored}); err != nil {
			return err
		}
	}
	for i := range f.events {
		if err := emit(&f.events[i]); err != nil {
			return err
		}
	}
	f.events = nil
	return ctx.Err()
}

// maxKeptEvents is how many bytes of events may wait for their turn to be handed
// over: some 70,000 events, less with their lines.
const maxKeptEvents = 8 << 20

// eventKeeper keeps events for later, within a budget that all searches share.
type eventKeeper struct {
	kept    *atomic.Int64
	events  []EventMatch
	size    int64
	dropped bool
}

// add keeps an event, and reports whether there was room for it.
func (k *eventKeeper) add(m *EventMatch) bool {
	room := cap(k.events)
	k.events = append(k.events, *m)
	size := int64(cap(k.events)-room) * int64(unsafe.Sizeof(*m))
	for i := range m.Lines {
		size += int64(unsafe.Sizeof(m.Lines[i])) + int64(len(m.Lines[i].Text))
	}
	k.size += size
	if k.kept.Add(size) <= maxKeptEvents {
		return true
	}
	k.kept.Add(-k.size)
	k.events, k.size, k.dropped = nil, 0, true
	return false
}
