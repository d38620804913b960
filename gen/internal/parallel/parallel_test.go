package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/convtools/convtools/gen/internal/parallel"
)

func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int64, n)
		parallel.Each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("%d: %d was done %d times", n, i, got)
			}
		}
	}
}
