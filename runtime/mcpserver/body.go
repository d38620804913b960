package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// errBusy is the error where requests take up all the memory they may.
var errBusy = errors.New("too many requests")

// bodyBudget is what the bodies of requests take up, in bytes, up to [maxBodies], and those
// that are half sent, up to [maxComing]. The first [smallBody] bytes of each are free: large
// bodies that are sent slowly must not keep out the small ones that most requests have.
type bodyBudget struct{ taken, coming atomic.Int64 }

// budgetReader reads a body that keeps within the budget, and keeps coming.
type budgetReader struct {
	r      io.Reader
	budget *bodyBudget
	conn   *http.ResponseController
	until  time.Time // when all of it has to be there

	free, taken, coming int64 // bytes
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
		b.coming += more
		if taken, coming := b.budget.taken.Add(more), b.budget.coming.Add(more); taken > maxBodies || coming > maxComing {
			return n, errBusy
		}
	}
	return n, err
}

// readParts reads to the end. With an error it returns the beginning of what was read. What is
// not there yet takes no room: a buffer that grows would hold up to three times of what it has.
func readParts(r io.Reader, first int) ([]byte, error) {
	const size = 64 << 10
	parts := [][]byte{make([]byte, 0, first)}
	for {
		last := &parts[len(parts)-1]
		if len(*last) == cap(*last) {
			parts = append(parts, make([]byte, 0, size))
			continue
		}
		n, err := r.Read((*last)[len(*last):cap(*last)])
		*last = (*last)[:len(*last)+n]
		if err == nil {
			continue
		}
		switch {
		case !errors.Is(err, io.EOF):
			return parts[0], err
		case len(parts) == 1:
			return parts[0], nil
		}
		return slices.Concat(parts...), nil
	}
}

// arrived is called once no more of the body is read.
func (b *budgetReader) arrived() { b.budget.coming.Add(-b.coming) }

func (b *budgetReader) release() { b.budget.taken.Add(-b.taken) }
