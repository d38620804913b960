package conversations

import (
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// findable searches the conversations in which their store finds messages by itself, and
// returns the others. What a store hands over is looked at as if it had been read.
func (s *messageSearching) findable(ctx context.Context, found []store.Conversation) (left []store.Conversation, err error) {
	finderOf := func(c store.Conversation) store.MessageFinder {
		record, ok := c.Record.(store.Findable)
		if !ok {
			return nil
		}
		return record.Finder()
	}
	if s.query.Events != (EventRange{}) || len(s.query.IDs) > 0 || !slices.ContainsFunc(found, func(c store.Conversation) bool { return finderOf(c) != nil }) {
		return found, nil
	}
	var finders []store.MessageFinder
	of := map[store.MessageFinder][]*store.Conversation{}
	for i := range found {
		finder := finderOf(found[i])
		if finder == nil {
			left = append(left, found[i])
			continue
		}
		if of[finder] == nil {
			finders = append(finders, finder)
		}
		of[finder] = append(of[finder], &found[i])
	}
	for _, finder := range finders {
		read, err := s.find(ctx, finder, of[finder])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.result.Aside.Problems = append(s.result.Aside.Problems, Problem{Source: of[finder][0].Source, Path: s.library.placeOf(of[finder][0].Source), Err: err})
		}
		left = append(left, read...)
	}
	return left, nil
}

// find has a store search some of its conversations, and returns those that are left to be
// read.
func (s *messageSearching) find(ctx context.Context, finder store.MessageFinder, list []*store.Conversation) (left []store.Conversation, err error) {
	q := store.MessageSearch{
		Conversations: list, Since: s.query.Since, Until: s.query.Until,
		Limit: s.newest.most, Own: s.query.Own, Counting: s.query.Counting,
	}
	for k := transcript.Kind(0); s.query.Roles != 0 && k <= transcript.KindSystem; k++ {
		if role := k.Role(); role != transcript.NoRole && s.query.Roles.Has(role) {
			q.Kinds = append(q.Kinds, k)
		}
	}
	if s.query.pattern != nil {
		q.Text = s.query.pattern.text
	}
	if after := s.query.After; after != nil {
		q.After = &store.MessagePlace{Time: after.Time, Order: after.Order, Event: after.Event}
	}
	searches := make([]*messageSearch, len(list))
	buffer := store.NewBuffer(s.library.memory)
	defer buffer.Release()
	for i, c := range list {
		m := &messageSearch{messageQuery: &s.query, newest: &s.newest, conversation: c, buffer: buffer}
		if s.query.pattern != nil && s.query.pattern.isIn(ctx, []byte(c.Title)) {
			m.all = true
			q.Every = append(q.Every, i)
		}
		m.all = m.all || s.query.pattern == nil
		searches[i] = m
		// Among messages of equal times, those of conversations with other ids of an equal
		// order stand before or behind the place.
		if q.After != nil && c.Order == q.After.Order {
			switch order := c.ID.Compare(s.query.After.ID); {
			case order < 0:
				q.After.Event = int(^uint32(0) >> 1)
			case order > 0:
				q.After.Event = 0
			}
		}
	}
	result, err := finder.FindMessages(ctx, q, func(i, number int, e *transcript.Event) { searches[i].numbered(ctx, e, number, false) })
	s.result.Total += result.Total
	s.result.AtLeast = s.result.AtLeast || result.AtLeast
	for _, i := range result.Left {
		left = append(left, *list[i])
	}
	return left, err
}

// placeOf returns where the first store of a kind is.
func (l *Library) placeOf(source string) string {
	for _, s := range l.stores {
		if s.Name() == source {
			return s.Place()
		}
	}
	return ""
}
