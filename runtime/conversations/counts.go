package conversations

import (
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
)

// counts is what is counted by reading all events of a conversation, which its store keeps
// until they change.
type counts struct {
	Events    int
	LastAt    time.Time
	BadTime   bool
	Uncounted string // why the events cannot be counted; empty where they can
	Size      *Size  // nil where it was not asked for
}

// keptCounts returns what is kept of a conversation, if anything.
func keptCounts(of *store.Conversation) (c counts, ok bool) {
	k, ok := of.Record.(store.Keeper)
	if !ok {
		return c, false
	}
	data, ok := k.Kept()
	if !ok {
		return c, false
	}
	return c, facts.Decode(data, c.walk)
}

func (c *counts) walk(kept *facts.Coder) {
	facts.Int(kept, &c.Events)
	kept.Time(&c.LastAt)
	kept.Bool(&c.BadTime)
	facts.Text(kept, &c.Uncounted)
	sized := c.Size != nil
	if kept.Bool(&sized); !sized {
		return
	}
	if c.Size == nil {
		c.Size = &Size{}
	}
	facts.Int(kept, &c.Size.Turns, &c.Size.Requests, &c.Size.Numbered, &c.Size.Chars)
}

// keep has what was counted kept.
func (c *counts) keep(of *store.Conversation) {
	k, ok := of.Record.(store.Keeper)
	if !ok {
		return
	}
	if old, ok := keptCounts(of); ok && c.Size == nil && old.Size != nil {
		return
	}
	k.Keep(facts.Encode(c.walk))
}
