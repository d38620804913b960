package conversations

import (
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/kept"
)

// counts is what is counted by reading all events of a conversation, which is kept until they
// change.
type counts struct {
	Events    int
	LastAt    time.Time
	BadTime   bool
	Uncounted string // why the events cannot be counted; empty where they can
	Size      *Size  // nil where it was not asked for
}

// counted returns where counts of a conversation of a version are kept.
func (l *Library) counted(s store.Store, c *store.Conversation, version string) kept.Sheet {
	return l.indexes.lists().Of(s.Name(), s.Place()).Versioned("e"+string(c.ID), version)
}

// perEvent is about how many bytes an event has.
const perEvent = 1 << 10

// keep has what was counted kept.
func (c *counts) keep(sheet kept.Sheet) { sheet.PutFor(c, int64(c.Events)*perEvent) }

// countsOf returns what is counted of events that were read.
func countsOf(totals *store.Totals, size *Size) *counts {
	c := &counts{Events: totals.Events, LastAt: totals.LastAt, BadTime: totals.BadTime, Size: size}
	if totals.Uncounted != nil {
		c.Uncounted = totals.Uncounted.Error()
	}
	return c
}
