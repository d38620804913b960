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
	d := facts.Decode(data)
	c = counts{Events: int(d.Int()), LastAt: d.Time(), BadTime: d.Bool(), Uncounted: d.String()}
	if d.Bool() {
		c.Size = &Size{Turns: int(d.Int()), Requests: int(d.Int()), Numbered: int(d.Int()), Chars: int(d.Int())}
	}
	return c, d.OK()
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
	b := facts.AppendInt(nil, int64(c.Events))
	b = facts.AppendTime(b, c.LastAt)
	b = facts.AppendBool(b, c.BadTime)
	b = facts.AppendString(b, c.Uncounted)
	if b = facts.AppendBool(b, c.Size != nil); c.Size != nil {
		for _, n := range []int{c.Size.Turns, c.Size.Requests, c.Size.Numbered, c.Size.Chars} {
			b = facts.AppendInt(b, int64(n))
		}
	}
	k.Keep(b)
}
