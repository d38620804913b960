package conversations

import (
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
)

// counts is what is counted by reading all events of a conversation, which is kept until they
// change.
type counts struct {
	Events    int
	LastAt    time.Time
	BadTime   bool
	Uncounted string // why the events cannot be counted; empty where they can
	sized     bool   // Size was asked for
	Size      Size
}

// Fields implements [filecache.Fielder].
func (c *counts) Fields() []any {
	s := &c.Size
	return []any{&c.Events, &c.LastAt, &c.BadTime, &c.Uncounted, &c.sized, &s.Turns, &s.Requests, &s.Numbered, &s.Chars}
}

// counted returns where counts of a conversation of a version are kept.
func counted(book *filecache.Book, c *store.Conversation, version string) filecache.Sheet {
	return book.Versioned("e"+string(c.ID), version)
}

// perEvent is about how many bytes an event has.
const perEvent = 1 << 10

// keep has what was counted kept.
func (c *counts) keep(sheet filecache.Sheet) { sheet.PutFor(c, int64(c.Events)*perEvent) }

// countsOf returns what is counted of events that were read.
func countsOf(totals *store.Totals, size *Size) *counts {
	c := &counts{Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime}
	if size != nil {
		c.sized, c.Size = true, *size
	}
	if totals.Uncounted != nil {
		c.Uncounted = totals.Uncounted.Error()
	}
	return c
}
