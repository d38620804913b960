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
	Extra        []byte // as [Message.Extra]; not to be changed

	scan    *scan
	message uint32
}

// Read returns the text of the message, which is valid until the next hit.
func (h *Hit) Read() (text []byte, err error) {
	err = h.scan.query.index.guard(func() error {
		text = h.scan.read(h.message)
		return nil
	})
	return text, err
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
	var read []*scan // the segments that are being read, each at its current hit
	for {
		var next *scan // the one with the newest hit
		for _, s := range read {
			if next == nil || s.hit.Compare(&next.hit.Position) < 0 {
				next = s
			}
		}
		// A segment is read once its newest message is at least as new as the next hit: compareTimes is then at most 0.
		isNew := len(unread) > 0 && (next == nil || compareTimes(unread[0].newest, next.hit.Time) <= 0)
		if isNew {
			next, unread = unread[0], unread[1:]
		} else if next == nil || !yield(&next.hit) {
			return nil // there are no more messages, or the caller wants no more
		}
		found, err := next.advance(ctx)
		switch {
		case err != nil:
			return err
		case found && isNew:
			read = append(read, next)
		case !found && !isNew: // a new segment without a hit is not in read
			read = slices.DeleteFunc(read, func(s *scan) bool { return s == next })
		}
	}
}
