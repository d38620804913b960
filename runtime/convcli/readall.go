package convcli

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/convtools/convtools/runtime/workspace"
)

const (
	// maxInFlight is how many bytes of events are held in memory at a time. A
	// conversation that is larger is held alone.
	maxInFlight = 44 << 20
	// smallConversation is a size below which buffers just grow.
	smallConversation = 1 << 20
	// maxReaders bounds the number of conversations read at a time.
	maxReaders = 8
)

// errEnough is returned by a consumer that needs no further results.
var errEnough = errors.New("enough results")

// reader is what one goroutine of readAll reuses from conversation to
// conversation.
type reader struct {
	events []byte
	text   []byte
	keep   int // largest buffer to keep
}

// read returns the content of events.json, valid until the next call.
func (r *reader) read(ctx context.Context, c *workspace.Conversation) ([]byte, error) {
	data, err := c.ReadEvents(ctx, r.events[:0])
	if cap(data) > cap(r.events) {
		r.events = data
	}
	return data, err
}

// reserve makes room for a conversation before it is read. A buffer that has to
// grow at all grows to the most that is kept, once: the memory is not touched
// before it is needed, and smaller buffers do not pile up as garbage.
func (r *reader) reserve(size int64) {
	if int64(cap(r.events)) < size && size <= int64(r.keep) && size > smallConversation {
		r.events = make([]byte, 0, r.keep)
	}
}

// trim gives large buffers back, so that one large conversation does not occupy
// memory for all that follow. Waiting for the next collection would not do: it
// starts when the heap has doubled, and the heap was large.
func (r *reader) trim() {
	dropped := false
	if cap(r.events) > r.keep {
		r.events, dropped = nil, true
	}
	if cap(r.text) > r.keep {
		r.text, dropped = nil, true
	}
	if dropped {
		runtime.GC()
	}
}

// readAll calls work for every conversation, several at a time, and consume with
// the results in the order of the list, from one goroutine. It stops at the
// first error of consume, which it returns unless it is errEnough.
//
// work reads events through the reader only when needEvents is set: the bytes in
// flight are counted for it.
func readAll[R any](ctx context.Context, list []*workspace.Conversation, needEvents bool,
	work func(context.Context, *reader, *workspace.Conversation) R, consume func(int, R) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), maxReaders, len(list))
	q := newQueue(list, needEvents)
	results := make([]chan R, len(list))
	for i := range results {
		results[i] = make(chan R, 1)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			r := &reader{keep: maxInFlight / workers}
			for {
				i, size, ok := q.take(ctx)
				if !ok {
					return
				}
				r.reserve(size)
				result := work(ctx, r, list[i])
				// First the memory: consume may read the conversation again.
				r.trim()
				q.release(size)
				results[i] <- result
			}
		})
	}
	defer wg.Wait()
	defer cancel()
	for i := range list {
		select {
		case r := <-results[i]:
			if err := ctx.Err(); err != nil {
				return failed(err) // r may be nothing but a result of that
			}
			if err := consume(i, r); err != nil {
				if errors.Is(err, errEnough) {
					return nil
				}
				return err
			}
		case <-ctx.Done():
			return failed(ctx.Err())
		}
	}
	return nil
}

// queue hands out conversations in order, as memory for them becomes free.
type queue struct {
	list       []*workspace.Conversation
	needEvents bool

	dispatch sync.Mutex // held by the one goroutine that waits for its turn
	next     int

	mu       sync.Mutex
	released *sync.Cond
	inFlight int64
}

func newQueue(list []*workspace.Conversation, needEvents bool) *queue {
	q := &queue{list: list, needEvents: needEvents}
	q.released = sync.NewCond(&q.mu)
	return q
}

// take returns the next conversation and the bytes to release when it is done.
func (q *queue) take(ctx context.Context) (i int, size int64, ok bool) {
	q.dispatch.Lock()
	defer q.dispatch.Unlock()
	if q.next == len(q.list) || ctx.Err() != nil {
		return 0, 0, false
	}
	i = q.next
	q.next++
	if q.needEvents {
		// A size that cannot be told is an error the reading will meet too.
		size, _ = q.list[i].EventsSize(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.inFlight > 0 && q.inFlight+size > maxInFlight {
		q.released.Wait()
	}
	q.inFlight += size
	return i, size, true
}

func (q *queue) release(size int64) {
	q.mu.Lock()
	q.inFlight -= size
	q.mu.Unlock()
	q.released.Broadcast()
}
