package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/convtools/convtools/runtime/store"
)

// Buffers that share memory never hold more than its bound, and one that needs
// more is alone.
func TestMemory(t *testing.T) {
	t.Parallel()
	const bound = 1000
	memory := store.NewMemory(bound)
	var held, alone atomic.Int64
	var buffers sync.WaitGroup
	for i := range 8 {
		buffers.Go(func() {
			b := store.NewBuffer(memory)
			for n := range 200 {
				size := 1 + (i*37+n*101)%400
				if n%50 == 0 {
					size = 5 * bound
				}
				if err := b.Resize(t.Context(), size); err != nil {
					t.Error(err)
					return
				}
				if cap(b.Bytes) != size || len(b.Bytes) != 0 {
					t.Errorf("%d of %d bytes, want none of %d", len(b.Bytes), cap(b.Bytes), size)
				}
				if size > bound {
					alone.Add(1)
				}
				// The text that is decoded takes as much again.
				if now := held.Add(int64(2 * size)); now > bound && alone.Load() == 0 {
					t.Errorf("%d bytes are held", now)
				}
				if size > bound && held.Load() != int64(2*size) {
					t.Errorf("%d bytes are held beside a buffer of %d", held.Load(), size)
				}
				held.Add(int64(-2 * size))
				if size > bound {
					alone.Add(-1)
				}
				b.Release()
			}
		})
	}
	buffers.Wait()
}

// A buffer that keeps its size waits for nothing, and one that waits stops when
// the context ends.
func TestMemoryThatIsTaken(t *testing.T) {
	t.Parallel()
	memory := store.NewMemory(20)
	taken := store.NewBuffer(memory)
	for range 2 {
		if err := taken.Resize(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.NewBuffer(memory).Resize(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	taken.Release()
	if err := store.NewBuffer(memory).Resize(t.Context(), 10); err != nil {
		t.Errorf("memory that was given back: %v", err)
	}
}
