package conversations

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/store"
)

// maxReaders bounds the number of conversations that a query reads at a time.
const maxReaders = 8

// errEnough is returned by a consumer that needs no further results.
var errEnough = errors.New("enough results")

// readAll calls work for every conversation, several at a time, and then consume
// in the order of the list, from one goroutine. It stops at the first error of
// consume, which it returns unless it is errEnough.
func (l *Library) readAll(ctx context.Context, list []store.Conversation,
	work func(ctx context.Context, i int, buffer *store.Buffer), consume func(i int) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make([]chan struct{}, len(list))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), maxReaders, len(list)) {
		wg.Go(func() {
			buffer := store.NewBuffer(l.memory)
			defer buffer.Release()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				work(ctx, i, buffer)
				close(done[i])
			}
		})
	}
	defer wg.Wait()
	defer cancel()
	for i := range list {
		select {
		case <-done[i]:
			if err := ctx.Err(); err != nil {
				return err // what work did may be nothing but a result of that
			}
			if err := consume(i); err != nil {
				if errors.Is(err, errEnough) {
					return nil
				}
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
