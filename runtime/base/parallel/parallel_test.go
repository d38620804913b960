package parallel_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/convtools/convtools/runtime/base/parallel"
)

func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 7, 1000} {
		done := make([]atomic.Int64, n)
		parallel.Each(t.Context(), n, func(numbers iter.Seq[int]) {
			for i := range numbers {
				done[i].Add(1)
			}
		})
		for i := range done {
			if times := done[i].Load(); times != 1 {
				t.Errorf("of %d the number %d is handed over %d times", n, i, times)
			}
		}
	}
}

// The rest is not started once the context is done.
func TestEachDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var begun atomic.Int64
	const n = 1000
	parallel.Each(ctx, n, func(numbers iter.Seq[int]) {
		for range numbers {
			begun.Add(1)
			cancel()
		}
	})
	if begun.Load() == n {
		t.Error("everything was done")
	}
}
