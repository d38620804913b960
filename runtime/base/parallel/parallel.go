// Package parallel does independent pieces of work side by side. It knows nothing of the
// work, and starts no goroutine that is left when it returns.
package parallel

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxWorkers bounds the goroutines: more readers of files than these only disturb each other.
const maxWorkers = 8

// Each hands over every number below n once, until the context is done, to several calls of
// work, each in a goroutine of its own, and returns when they have returned. What a goroutine
// needs for all its numbers, work has before it begins to range over them.
func Each(ctx context.Context, n int, work func(numbers iter.Seq[int])) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, n) {
		workers.Go(func() {
			work(func(yield func(int) bool) {
				for ctx.Err() == nil {
					if i := int(next.Add(1)) - 1; i >= n || !yield(i) {
						return
					}
				}
			})
		})
	}
	workers.Wait()
}
