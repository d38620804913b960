package mcpserver

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/contract"
)

const (
	// maxRunning is how many calls of tools are worked on at once.
	maxRunning = 16
	// maxReading is how many requests of other kinds are worked on at once.
	maxReading = 8
	// maxWaiting is how many more of either may wait for their turn.
	maxWaiting = 1000
)

// admission lets calls in: so many at once, and so many more to wait.
type admission struct {
	running chan struct{}
	inside  atomic.Int64 // running and waiting
	most    int64
}

func newAdmission(running, waiting int) *admission {
	return &admission{running: make(chan struct{}, running), most: int64(running + waiting)}
}

// enter waits for a call's turn. leave has to be called when it is done. Where
// too many wait already, the error says so.
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
