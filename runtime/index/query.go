package index

import (
	"context"
	"iter"
	"time"

	"github.com/convtools/convtools/runtime/base/fold"
)

// Query asks for messages.
type Query struct {
	// Text is what the text or the title of a message holds, in any case by simple folding.
	// Empty stands for every message.
	Text string
	// Find returns where Text first occurs in a text, which may hold bytes that are not UTF-8,
	// or -1 and -1. It decides which messages match, and is not called where Text is empty.
	Find func(text []byte) (start, end int)
	// TextOnly leaves titles out.
	TextOnly bool
	// Kinds has a bit for each kind that is looked for; 0 stands for all.
	Kinds uint64
	// Since and Until, where they are not zero, are the first and the last time of messages.
	// Those without a time match only where both are zero.
	Since, Until time.Time
	// Wanted reports whether the messages of a conversation are looked for. Nil stands for
	// all. It is called at most once for each conversation and segment.
	Wanted func(*Conversation) bool
	// After, where it is not nil, leaves out the message there and all before.
	After *Position
}

// mostGrams is how many grams of a text are looked up.
const mostGrams = 96

// prepared is a query as segments are searched for it.
type prepared struct {
	*Query
	view   *View
	folded []byte
	grams  []grams // those that few documents have first, once they are ordered
	// ordered is set once a segment was asked how many documents have the grams.
	ordered bool
	others  set // of documents that have a gram
	spare   set
}

func (v *View) prepare(q *Query) *prepared {
	p := &prepared{Query: q, view: v, folded: fold.Append(nil, []byte(q.Text))}
	if len(p.folded) >= 3 {
		p.grams = gramsOf(p.folded, mostGrams)
	}
	return p
}

// exact reports whether the lists alone tell which messages match.
func (p *prepared) exact() bool { return len(p.folded) <= 3 }

// Hit is a message that was found. It is valid until the next one is.
type Hit struct {
	Position
	Kind         uint8
	Conversation *Conversation

	scan    *scan
	message uint32
}

// Read returns the text and what else is stored of a message, which are valid until the next
// hit.
func (h *Hit) Read() (text, extra []byte, err error) {
	stored, err := h.scan.texts.stored(h.message)
	if err != nil {
		return nil, nil, err
	}
	extra, text, err = h.scan.split(stored)
	return text, extra, err
}

// Scored returns what [Texts.Read] reads the message by, for as long as the view is open.
func (h *Hit) Scored() Scored {
	return Scored{Number: h.Number, Kind: h.Kind, Time: h.Time, segment: h.scan.number, message: h.message}
}

// Search returns the messages that match, in the order of their positions. The error is a
// [*DamageError], or that of a context that is done; it is the last thing that is returned.
func (v *View) Search(ctx context.Context, q Query) iter.Seq2[*Hit, error] {
	return func(yield func(*Hit, error) bool) {
		err := guard(func(ctx context.Context) error { return v.search(ctx, &q, func(h *Hit) bool { return yield(h, nil) }) }, ctx)
		if err != nil {
			yield(nil, err)
		}
	}
}

// search merges the messages of all segments. A segment is looked at once its newest message
// could be the next one.
func (v *View) search(ctx context.Context, q *Query, yield func(*Hit) bool) error {
	scans, err := v.scans(q)
	if err != nil {
		return err
	}
	for {
		var first *scan
		for _, s := range scans {
			if s.done {
				continue
			}
			before := first == nil
			if !before {
				if before, err = s.before(first); err != nil {
					return err
				}
			}
			if before {
				first = s
			}
		}
		switch {
		case first == nil:
			return nil
		case !first.opened:
			if err := first.open(ctx); err != nil {
				return err
			}
		default:
			hit, err := first.hit()
			if err != nil {
				return err
			}
			if !yield(hit) {
				return nil
			}
			first.next++
		}
		if err := first.advance(ctx); err != nil {
			return err
		}
	}
}

// Candidates returns how many messages at the most have to be looked at for those that match,
// and how many of these have to be read.
func (v *View) Candidates(q Query) (looked, read int, err error) {
	err = guard(func(q *Query) error {
		scans, err := v.scans(q)
		if err != nil {
			return err
		}
		for _, s := range scans {
			if s.done {
				continue
			}
			n, err := s.fewest()
			if err != nil {
				return err
			}
			looked += int(min(n, s.to-s.next))
		}
		return nil
	}, &q)
	if len(fold.Append(nil, []byte(q.Text))) > 3 {
		read = looked
	}
	return looked, read, err
}

// Counting is how messages are counted.
type Counting struct {
	// Stop is asked now and then whether to stop.
	Stop func() bool
	// IsApart reports whether a message is counted apart, by what else is stored of it. It is
	// asked about those of the kinds in ApartKinds.
	IsApart    func(kind uint8, extra []byte) bool
	ApartKinds uint64
}

// Counted is how many messages match.
type Counted struct {
	Messages int
	Apart    int  // others
	All      bool // all were counted
}

// Count counts the messages that match.
func (v *View) Count(ctx context.Context, q Query, c Counting) (n Counted, err error) {
	err = guard(func(ctx context.Context) error { return v.count(ctx, &q, &c, &n) }, ctx)
	return n, err
}

func (v *View) count(ctx context.Context, q *Query, c *Counting, n *Counted) error {
	scans, err := v.scans(q)
	if err != nil {
		return err
	}
	for _, s := range scans {
		if s.done {
			continue
		}
		if c.Stop() {
			return nil
		}
		if err := s.open(ctx); err != nil {
			return err
		}
		if s.everything() && c.ApartKinds == 0 {
			n.Messages += int(s.found.count())
			continue
		}
		if all, err := s.count(ctx, c, n); !all {
			return err
		}
	}
	n.All = true
	return nil
}
