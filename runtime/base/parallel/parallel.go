// Package parallel does independent pieces of work side by side. It leaves no goroutine when it returns.
package parallel

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxWorkers is the greatest number of goroutines: more readers of files slow each other down.
const maxWorkers = 8

// Each shares the numbers from 0 to n-1 among several goroutines. Each goroutine calls work once, with a sequence of the
// goroutine's numbers: work can set up what it needs, and then range over the numbers. After the context is done, the
// sequences end. Each returns when all calls of work have returned.
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
