package process

import (
	"fmt"
	"sync/atomic"
)

// A Budget bounds the standard output that several runs hold at the same time,
// where the limits of each alone would add up to too much. A run that would go
// beyond it is ended: one that waited for the others could wait for one that
// waits for it.
//
// The first [Uncounted] bytes of every run are free, so that a run of ordinary
// size does not fail because of larger ones next to it. What a run held is given
// back when it ends; the [Result] is the caller's to account for.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// Uncounted is how many bytes of each run's output no [Budget] counts.
const Uncounted = chunkSize

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// take reserves n bytes, and reports whether there were as many. A nil budget has
// no end.
func (b *Budget) take(n int64) bool {
	if b == nil {
		return true
	}
	for {
		used := b.used.Load()
		if used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

func (b *Budget) giveBack(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

func (b *Budget) exhausted() string {
	return fmt.Sprintf("stopped because the commands running at the same time printed more than %s together", byteCount(b.limit))
}
