// Package parallel runs independent work on all processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do once for every number from 0 to n-1, concurrently and in any order, and returns after the last call.
func Each(n int, do func(int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
