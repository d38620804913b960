package index

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Filter selects messages.
type Filter struct {
	Kinds uint64 // has the bit 1<<k for each kind k of messages to select
	// Since and Until, if not zero, are the first and the last time of messages. If one is set, messages without a
	// time do not match.
	Since, Until time.Time
	// Wanted reports whether to search the conversation with the key. Nil means all conversations.
	Wanted func(key string) bool
}

// Query asks for messages.
type Query struct {
	Filter
	// Text occurs in the text or the title of a message, in any case by simple folding. Empty matches every message.
	Text string
	// Has reports whether Text is in a text, which may have bytes that are not UTF-8. It decides which messages match. It
	// is not called if Text is empty.
	Has      func(text []byte) bool
	TextOnly bool      // omits titles
	After    *Position // if not nil, omits the message at this position and all messages before it
}

// prepared is a query with what all segments need for it.
type prepared struct {
	*Query
	index  *Index
	folded []byte // the text
	grams  []gramRange
	exact  bool // the text has at most three bytes: the lists alone decide which messages have it
}

// Hit is a message that was found. It is valid until the next one is returned.
type Hit struct {
	Position
	Kind         uint8
	Conversation *Conversation

	scan    *scan
	message uint32
}

// hit returns the current message, valid until the next call.
func (s *scan) hit() *Hit {
	s.found = Hit{s.position(s.current), s.rows.kind(s.current), s.conversation(s.current), s, s.current}
	return &s.found
}

// Read returns the text and the extra data of the message, which are valid until the next hit.
func (h *Hit) Read() (text, extra []byte, err error) {
	err = h.scan.query.index.guard(func() error {
		text, extra = h.scan.read(h.message), h.scan.extra(h.message)
		return nil
	})
	return text, extra, err
}

// Scored returns the message for [View.Read], without a score.
func (h *Hit) Scored() Scored { return h.scan.scored(h.message) }

// Search yields the messages that match, in the order of their positions. An error is the last that it yields: a
// [*DamageError], or that of the context.
func (v *View) Search(ctx context.Context, q Query) iter.Seq2[*Hit, error] {
	return func(yield func(*Hit, error) bool) {
		err := v.index.guard(func() error { return v.search(ctx, &q, func(h *Hit) bool { return yield(h, nil) }) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// search calls yield with the matching messages of all segments in the order of their positions, the newest first, until
// yield returns false. It begins to read a segment only when the newest message of the segment can be the next.
func (v *View) search(ctx context.Context, q *Query, yield func(*Hit) bool) error {
	unread := v.scans(q)
	slices.SortFunc(unread, func(a, b *scan) int { return compareTimes(a.newest, b.newest) })
	var heads []*Hit // the current message of each segment that is being read
	for {
		var next *Hit
		for _, h := range heads {
			if next == nil || h.Compare(&next.Position) < 0 {
				next = h
			}
		}
		var s *scan
		switch {
		case len(unread) > 0 && (next == nil || compareTimes(unread[0].newest, next.Time) <= 0):
			s, unread = unread[0], unread[1:] // this segment may have a message that comes before next
		case next == nil || !yield(next):
			return nil // there are no more messages, or the caller wants no more
		default: // the case before has yielded next: go on in the segment of next
			s = next.scan
			heads = slices.DeleteFunc(heads, func(h *Hit) bool { return h == next })
		}
		found, err := s.advance(ctx)
		if err != nil {
			return err
		}
		if found {
			heads = append(heads, s.hit())
		}
	}
}
