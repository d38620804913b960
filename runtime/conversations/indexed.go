package conversations

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// indexed is what the index of a store has for a query.
type indexed struct {
	store store.Store
	view  *index.View
	note  indexNote
	// whole is set where the index has all that the store has.
	whole bool
	// fresh are the conversations that are as the index has them, by key; nil where whole.
	fresh map[string]*store.Conversation
}

// inIndexes is what indexes have for a query.
type inIndexes []*indexed

func (in inIndexes) close() {
	for _, i := range in {
		i.view.Close()
	}
}

// whole reports whether an index has all of a store.
func (in inIndexes) whole(s store.Store) bool {
	return slices.ContainsFunc(in, func(i *indexed) bool { return i.whole && i.store == s })
}

// inIndexes returns the indexes of the stores that a filter lets through.
func (l *Library) inIndexes(ctx context.Context, f *Filter) (in inIndexes) {
	if l.indexes == nil || len(f.IDs) > 0 {
		return nil
	}
	for _, s := range l.stores {
		if !f.asks(s.Name()) {
			continue
		}
		i := &indexed{store: s}
		var err error
		if i.view, err = l.indexes.of(s).View(); err != nil {
			continue // there is none, or it cannot be used: the store is read
		}
		if json.Unmarshal([]byte(i.view.State().Note), &i.note) != nil {
			i.view.Close()
			continue
		}
		if versioned, ok := s.(store.Versioned); ok && i.note.Version != "" && len(f.Labels) == 0 && !l.hasAny(i.view, f) {
			version, err := versioned.Version(ctx)
			i.whole = err == nil && version == i.note.Version
		}
		in = append(in, i)
	}
	return in
}

// hasAny reports whether an index has one of the conversations that are left out, or may be
// next of kin to these.
func (l *Library) hasAny(view *index.View, f *Filter) bool {
	ids, err := l.parseIDs(slices.Concat(f.Exclude, f.KinOf))
	return err != nil || slices.ContainsFunc(ids, func(id transcript.ID) bool {
		c, err := view.Lookup(string(id))
		return c != nil || err != nil
	})
}

// know finds out which of some conversations, which are of stores, the indexes have as they
// are now.
func (in inIndexes) know(ctx context.Context, l *Library, found []store.Conversation, from map[transcript.ID]store.Store) error {
	for _, i := range in {
		var of []*store.Conversation
		for n := range found {
			if from[found[n].ID] == i.store {
				of = append(of, &found[n])
			}
		}
		if err := i.know(ctx, l, of); err != nil {
			return err
		}
	}
	return nil
}

// knows returns the index that has a conversation as it is now, or nil.
func (in inIndexes) knows(id transcript.ID) *indexed {
	for _, i := range in {
		if i.fresh[string(id)] != nil {
			return i
		}
	}
	return nil
}

// unindexed returns the conversations that a filter lets through and no index has as they
// are now, and of these at least all that have a match of a pattern, if that is not nil. What
// indexes have of them is set.
func (l *Library) unindexed(ctx context.Context, f *Filter, in inIndexes, p *pattern, aside *Aside) (left []store.Conversation, closeAll func(), err error) {
	o, err := l.openExcept(ctx, f, in.whole)
	if err != nil {
		return nil, nil, err
	}
	if len(o.sessions) == 0 && len(in) > 0 {
		aside.Problems = append(aside.Problems, o.unread...)
		return nil, o.close, nil
	}
	if p != nil {
		o.may = narrows(p)
	}
	if len(in) > 0 {
		o.from = map[transcript.ID]store.Store{}
		l.some.Store(true)
	}
	found, err := o.pickOf(ctx, store.Live|store.Archived, *f, aside)
	if err == nil {
		err = cmp.Or(in.know(ctx, l, found, o.from), ctx.Err())
	}
	if err != nil {
		o.close()
		return nil, nil, err
	}
	if len(in) == 0 {
		return found, o.close, nil
	}
	left = slices.DeleteFunc(slices.Clone(found), func(c store.Conversation) bool { return in.knows(c.ID) != nil })
	return left, o.close, nil
}

// pickForMatches is pick for a search for patterns.
func (l *Library) pickForMatches(ctx context.Context, o *opened, f *Filter, aside *Aside, patterns []*pattern) ([]store.Conversation, error) {
	in := l.inIndexes(ctx, f)
	defer in.close()
	o.from = map[transcript.ID]store.Store{}
	found, err := o.pick(ctx, *f, aside)
	if err == nil {
		err = l.withoutMatch(ctx, in, found, o.from, patterns)
	}
	if err == nil && len(f.IDs) == 0 {
		err = o.withoutMatch(ctx, in, found, patterns)
	}
	return found, err
}

// withoutMatch marks the conversations that have no match of any of some patterns, as far as
// the stores that have no index tell, so that they are not read for that.
func (o *opened) withoutMatch(ctx context.Context, in inIndexes, found []store.Conversation, patterns []*pattern) error {
	may := narrows(patterns...)
	for i, s := range o.sessions {
		of := o.stores[i]
		narrower, ok := s.(store.Narrower)
		if !ok || may == nil || slices.ContainsFunc(in, func(i *indexed) bool { return i.store == of }) {
			continue
		}
		list, ok, err := narrower.ListHolding(ctx, store.Live|store.Archived, may)
		if !ok || err != nil {
			continue // the conversations are read
		}
		holding := map[transcript.ID]bool{}
		for n := range list {
			holding[list[n].ID] = true
		}
		for n := range found {
			if id := found[n].ID; o.from[id] == of && !holding[id] {
				found[n].Record = matchless{found[n].Record}
			}
		}
	}
	return ctx.Err()
}

// withoutMatch marks the conversations that have no match of any of some patterns, as far as
// indexes tell, so that they are not read for that.
func (l *Library) withoutMatch(ctx context.Context, in inIndexes, found []store.Conversation, from map[transcript.ID]store.Store, patterns []*pattern) error {
	if len(in) == 0 || slices.ContainsFunc(patterns, func(p *pattern) bool { return p.part == nil }) {
		return nil
	}
	if err := in.know(ctx, l, found, from); err != nil {
		return err
	}
	for _, i := range in {
		may := map[string]bool{}
		var err error
		for _, p := range patterns {
			q := index.Query{Text: p.partText, Find: p.part.Find, TextOnly: true}
			q.Wanted = func(c *index.Conversation) bool { return i.fresh[c.Key] != nil && !may[c.Key] }
			if e := i.view.Keys(ctx, q, func(key string) bool { may[key] = true; return true }); e != nil {
				err = e
			}
		}
		if err != nil {
			continue // the conversations are read
		}
		for n := range found {
			if key := string(found[n].ID); i.fresh[key] != nil && !may[key] {
				found[n].Record = matchless{found[n].Record}
			}
		}
	}
	return ctx.Err()
}

// matchless is a conversation without a match. It is read only where somebody wants to
// know something else.
type matchless struct{ store.Record }

// Events implements [store.Record].
func (m matchless) Events(_ context.Context, buffer *store.Buffer) (store.Events, error) {
	return &matchlessEvents{record: m.Record, buffer: buffer}, nil
}

type matchlessEvents struct {
	store.Events // nil before they are read
	record       store.Record
	buffer       *store.Buffer
	err          error
}

// Sift implements [store.Sifter].
func (e *matchlessEvents) Sift(context.Context, func([]byte) bool) (bool, error) { return false, nil }

func (e *matchlessEvents) Next(ctx context.Context) bool {
	if e.Events == nil && e.err == nil {
		e.Events, e.err = e.record.Events(ctx, e.buffer)
	}
	return e.err == nil && e.Events.Next(ctx)
}

func (e *matchlessEvents) Err() error {
	if e.err != nil || e.Events == nil {
		return e.err
	}
	return e.Events.Err()
}

func (e *matchlessEvents) Totals() store.Totals {
	if e.Events == nil {
		return store.Totals{Uncounted: e.err}
	}
	return e.Events.Totals()
}

func (e *matchlessEvents) Restart() {
	if e.Events != nil {
		e.Events.Restart()
	}
}

func (e *matchlessEvents) Close() {
	if e.Events != nil {
		e.Events.Close()
	}
}

// know finds out which conversations of a store are as the index has them.
func (i *indexed) know(ctx context.Context, l *Library, found []*store.Conversation) error {
	i.fresh = map[string]*store.Conversation{}
	list := make([]store.Conversation, len(found))
	for n, c := range found {
		list[n] = *c
	}
	isFresh := make([]bool, len(found))
	return l.readAll(ctx, list, func(ctx context.Context, n int, _ *store.Buffer) {
		entry, err := i.view.Lookup(string(list[n].ID))
		if err != nil || entry == nil {
			return
		}
		if !i.whole {
			version, err := indexVersion(ctx, &list[n])
			if err != nil || version != entry.Version {
				return
			}
		}
		isFresh[n] = readFacts(entry).Read
	}, func(n int) error {
		if isFresh[n] {
			i.fresh[string(list[n].ID)] = found[n]
		}
		return nil
	})
}

// query returns what an index is asked for the messages that a query asks for, of kinds.
// indexes before it have the same conversation first.
func (i *indexed) query(q *messageQuery, before inIndexes, kinds uint64) index.Query {
	iq := index.Query{Text: q.Text, Kinds: kinds}
	if q.pattern != nil {
		iq.Text, iq.Find = q.pattern.text, q.pattern.finder.Find
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
	if !i.whole {
		iq.Wanted = func(c *index.Conversation) bool { return i.fresh[c.Key] != nil }
		return iq
	}
	before = slices.DeleteFunc(slices.Clone(before), func(b *indexed) bool { return !b.whole || b.store.Name() != i.store.Name() })
	if len(before) > 0 {
		iq.Wanted = func(c *index.Conversation) bool {
			return !slices.ContainsFunc(before, func(b *indexed) bool {
				same, err := b.view.Lookup(c.Key)
				return same != nil || err != nil
			})
		}
	}
	return iq
}

// inIndexes searches indexes for the newest messages. Where it comes to their end, all are
// counted.
func (s *messageSearching) inIndexes(ctx context.Context, in inIndexes) error {
	total, own := 0, 0
	s.counted = s.query.After == nil
	defer func() {
		if s.counted {
			s.result.Total, s.result.Own = total, own
		}
	}()
	for n, i := range in {
		q := i.query(&s.query, in[:n], kindsOf(s.query.Roles))
		if after := s.query.After; after != nil {
			q.After = &index.Position{Time: after.Time, Order: after.Order, Key: string(after.ID), Number: uint32(after.Event)} //nolint:gosec // a count
		}
		conversations := map[string]*transcript.Conversation{}
		for hit, err := range i.view.Search(ctx, q) {
			if err != nil {
				return err
			}
			m := &Message{
				Kind:     kindOf(hit.Kind),
				Position: MessagePosition{Time: hit.Time, Order: hit.Order, ID: transcript.ID(hit.Key), Event: int(hit.Number)},
			}
			if !s.newest.wants(&m.Position) {
				s.counted = false
				break
			}
			text, extra, err := hit.Read()
			if err != nil {
				return err
			}
			x := parseExtra(extra, m.Kind)
			if s.query.isOwn(x.tool) {
				own++
				continue
			}
			total++
			m.Role = x.role
			if m.Conversation = conversations[hit.Key]; m.Conversation == nil {
				if c := i.fresh[hit.Key]; c != nil {
					m.Conversation = &c.Conversation
				} else {
					facts := readFacts(hit.Conversation)
					m.Conversation = facts.conversation(hit.Conversation)
				}
				conversations[hit.Key] = m.Conversation
			}
			s.newest.add(m, text, s.query.MaxText)
		}
	}
	return nil
}

func (q *messageQuery) isOwn(tool string) bool { return tool != "" && q.Own != nil && q.Own(tool) }

// hopeless reports whether to count the messages in indexes takes longer than anybody waits
// for it, where that is bounded.
func (s *messageSearching) hopeless(in inIndexes) (bool, error) {
	const mostLooked, mostRead = 200_000, 3000 // about five milliseconds
	if s.query.Counting == nil {
		return false, nil
	}
	sumLooked, sumRead := 0, 0
	for n, i := range in {
		looked, read, err := i.view.Candidates(i.query(&s.query, in[:n], kindsOf(s.query.Roles)))
		if err != nil {
			return false, err
		}
		sumLooked, sumRead = sumLooked+looked, sumRead+read
	}
	return sumLooked > mostLooked || sumRead > mostRead, nil
}

// countIndexed counts all messages in indexes, while there is time.
func (s *messageSearching) countIndexed(ctx context.Context, in inIndexes) error {
	if s.counted {
		return nil
	}
	hopeless, err := s.hopeless(in)
	if hopeless || err != nil {
		s.result.AtLeast = true
		return err
	}
	kinds := kindsOf(s.query.Roles)
	counting := index.Counting{Stop: func() bool { return s.query.Counting != nil && !s.query.Counting() }}
	if s.query.Own != nil {
		counting.ApartKinds = kinds & toolKinds
		counting.IsApart = func(kind uint8, extra []byte) bool {
			return s.query.isOwn(parseExtra(extra, kindOf(kind)).tool)
		}
	}
	for n, i := range in {
		counted, err := i.view.Count(ctx, i.query(&s.query, in[:n], kinds), counting)
		if err != nil {
			return err
		}
		s.result.Total += counted.Messages
		s.result.Own += counted.Apart
		s.result.AtLeast = s.result.AtLeast || !counted.All
	}
	return nil
}

// fillKnown fills in what indexes tell of conversations, and returns the others.
func (in inIndexes) fillKnown(entries []*entry, sizes bool) (left []*entry) {
	for _, e := range entries {
		i := in.knows(e.ID)
		if i == nil {
			left = append(left, e)
			continue
		}
		c, err := i.view.Lookup(string(e.ID))
		if err != nil || c == nil {
			left = append(left, e)
			continue
		}
		f := readFacts(c)
		e.filled, e.Events, e.LastEventAt, e.badTime, e.Damage = true, f.Events, f.LastAt, f.BadTime, nil
		if sizes {
			e.Size = &Size{Turns: f.Size[0], Requests: f.Size[1], Numbered: f.Size[2], Chars: f.Size[3]}
		}
	}
	return left
}
