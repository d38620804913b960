package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// errBusy is the error where requests take up all the memory they may.
var errBusy = errors.New("too many requests")

// bodyBudget is what the bodies of requests take up, in bytes, up to [maxBodies].
// The first [smallBody] bytes of each are free: large bodies that are sent slowly
// must not keep out the small ones that most requests have.
type bodyBudget struct{ taken atomic.Int64 }

// budgetReader reads a body that keeps within the budget, and keeps coming.
type budgetReader struct {
	r      io.Reader
	budget *bodyBudget
	conn   *http.ResponseController
	until  time.Time // when all of it has to be there

	free, taken int64 // bytes
}

func (b *budgetReader) Read(p []byte) (int, error) {
	deadline := time.Now().Add(stallTime)
	if b.until.Before(deadline) {
		deadline = b.until
	}
	// A recorder has no connection, and no client that could be slow.
	_ = b.conn.SetReadDeadline(deadline)
	n, err := b.r.Read(p) // at the end of the body, net/http takes the deadline off
	free := min(int64(n), smallBody-b.free)
	b.free += free
	if more := int64(n) - free; more > 0 {
		b.taken += more
		if b.budget.taken.Add(more) > maxBodies {
			return n, errBusy
		}
	}
	return n, err
}

func (b *budgetReader) release() { b.budget.taken.Add(-b.taken) }
