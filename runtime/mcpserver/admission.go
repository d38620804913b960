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
	running chan struct{}
	inside  atomic.Int64 // running and waiting
	most    int64
}

func newAdmission(running, waiting int) *admission {
	return &admission{running: make(chan struct{}, running), most: int64(running + waiting)}
}

// enter waits until a call may run. When the call has ended, the caller has to call leave. The error is for too many
// waiting calls, and then enter does not wait, or for the end of ctx.
func (a *admission) enter(ctx context.Context) (leave func(), err error) {
	if a.inside.Add(1) > a.most {
		a.inside.Add(-1)
		return nil, &contract.Error{
			Message:   fmt.Sprintf("Too many calls: %d are running and %d are waiting. Call again when some of them are answered.", cap(a.running), int(a.most)-cap(a.running)),
			Transient: true,
		}
	}
	select {
	case a.running <- struct{}{}:
		return func() { <-a.running; a.inside.Add(-1) }, nil
	case <-ctx.Done():
		a.inside.Add(-1)
		return nil, fmt.Errorf("waiting for other calls: %w", context.Cause(ctx))
	}
}
