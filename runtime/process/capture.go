package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// cappedBuffer keeps a stream up to a limit. The first byte over it calls
// exceeded, and that write and every later one fail.
type cappedBuffer struct {
	limit    int64
	exceeded func()
	buf      bytes.Buffer
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	room := b.limit - int64(b.buf.Len())
	if int64(len(p)) <= room {
		return b.buf.Write(p)
	}
	n, _ := b.buf.Write(p[:room])
	b.exceeded()
	return n, errOutputLimit
}

// headTail keeps the first and the last bytes of a stream, half of limit each:
// a command says what it was doing first, and why it failed last.
type headTail struct {
	limit int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring is written next; its oldest byte
	total int64
}

func (h *headTail) Write(p []byte) (int, error) {
	written := len(p)
	h.total += int64(written)

	room := min(h.limit/2-len(h.head), len(p))
	h.head = append(h.head, p[:room]...)
	p = p[room:]

	size := h.limit - h.limit/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	room = min(size-len(h.tail), len(p))
	h.tail = append(h.tail, p[:room]...)
	p = p[room:]
	for len(p) > 0 {
		n := copy(h.tail[h.next:], p)
		h.next = (h.next + n) % size
		p = p[n:]
	}
	return written, nil
}

func (h *headTail) truncated() bool {
	return h.total > int64(len(h.head)+len(h.tail))
}

// bytes returns what was kept, with a line of its own saying what was not.
func (h *headTail) bytes() []byte {
	out := bytes.Clone(h.head)
	if h.truncated() {
		omitted := h.total - int64(len(h.head)+len(h.tail))
		out = fmt.Appendf(out, "\n[… %d bytes omitted …]\n", omitted)
	}
	out = append(out, h.tail[h.next:]...)
	return append(out, h.tail[:h.next]...)
}

var errAbandoned = errors.New("process: the command was stopped; its output is closed")

// gate lets concurrent writers through to w one at a time, until it is closed:
// a function that ignores its context cannot write into a result that was
// already handed out.
type gate struct {
	w      io.Writer
	mu     sync.Mutex
	closed bool
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, errAbandoned
	}
	return g.w.Write(p)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
