package conversations

import (
	"context"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/transcript"
)

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

// newest finds the newest events that match. Where it comes to the end of all indexes, they are
// counted.
func (s *searching) newest(ctx context.Context) error {
	q, r := s.query, s.result
	total, own := 0, 0
	all := q.After == nil
	for _, v := range r.opened {
		known := map[string]*Matched{}
		for hit, err := range v.index.Search(ctx, q.in(v)) {
			if err != nil {
				return err
			}
			place, _ := slices.BinarySearchFunc(r.Hits, &hit.Position, func(h Hit, at *index.Position) int {
				position := h.Position()
				return position.in().Compare(at)
			})
			if place > q.Limit {
				all = false
				break
			}
			_, extra, err := hit.Read()
			if err != nil {
				return err
			}
			if q.isOwn(hit.Kind, extra) {
				own++
				continue
			}
			total++
			if known[hit.Key] == nil {
				known[hit.Key] = v.matched(hit.Conversation)
			}
			r.Hits = slices.Insert(r.Hits, place, newHit(known[hit.Key], v, hit.Scored(), extra))
			r.Hits = r.Hits[:min(len(r.Hits), q.Limit+1)] // one more tells whether there are more
		}
	}
	if r.More = len(r.Hits) > q.Limit; r.More {
		r.Hits = r.Hits[:q.Limit]
	}
	if all {
		r.Total, r.Own = total, own
		return nil
	}
	return s.count(ctx)
}

// mostLooked and mostRead are how many messages are looked at, and read, to be counted: about five milliseconds.
const mostLooked, mostRead = 50_000, 3000

// count counts all messages that match.
func (s *searching) count(ctx context.Context) error {
	q, r := s.query, s.result
	unbounded := *q
	unbounded.After = nil
	var counting index.Counting
	if !q.CountAll {
		counting.MostLooked, counting.MostRead = mostLooked, mostRead
	}
	if q.Own != nil {
		counting.ApartKinds, counting.IsApart = q.kinds()&toolKinds, q.isOwn
	}
	for _, v := range r.opened {
		counted, err := v.index.Count(ctx, unbounded.in(v), counting)
		if err != nil {
			return err
		}
		r.Total += counted.Messages
		r.Own += counted.Apart
		r.AtLeast = r.AtLeast || !counted.All
	}
	if r.AtLeast {
		r.Total = max(r.Total, len(r.Hits))
	}
	return nil
}
