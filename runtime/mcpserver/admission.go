package mcpserver

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/contract"
)

const (
	// maxRunning is the number of calls of tools that run at once.
	maxRunning = 16
	// maxReading is the number of requests of other kinds that run at once.
	maxReading = 8
	// maxWaiting is the number of others of either kind that may wait.
	maxWaiting = 1000
)

// admission bounds the calls that run and the calls that wait.
type admission struct {
	running chan struct{} // has a value for each call that runs
	entered atomic.Int64  // calls that run or wait
	waiting int           // calls that may wait
}

func newAdmission(running, waiting int) *admission {
	return &admission{running: make(chan struct{}, running), waiting: waiting}
}

// enter waits until a call may run. When the call has ended, the caller has to call leave. If too many calls wait
// already, enter returns an error at once. If ctx ends first, the error is the cause of that.
func (a *admission) enter(ctx context.Context) (leave func(), err error) {
	mostRunning := cap(a.running)
	if a.entered.Add(1) > int64(mostRunning+a.waiting) {
		a.entered.Add(-1)
		return nil, &contract.Error{
			Message:   fmt.Sprintf("Too many calls: %d are running and %d are waiting. Call again when some of them are answered.", mostRunning, a.waiting),
			Transient: true,
		}
	}
	select {
	case a.running <- struct{}{}: // blocks while mostRunning calls run
		return func() { <-a.running; a.entered.Add(-1) }, nil
	case <-ctx.Done():
		a.entered.Add(-1)
		return nil, fmt.Errorf("waiting for other calls: %w", context.Cause(ctx))
	}
}
