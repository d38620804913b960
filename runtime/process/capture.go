package process

import (
	"bytes"
	"fmt"
)

// chunkSize is the size of the pieces that a long stream is kept in, in bytes. A
// buffer that doubles would need three times its content while it grows.
const chunkSize = 1 << 20

// cappedBuffer keeps a stream up to a limit, and within the budget it shares with
// others. The first byte over either calls exceeded, and that write and every
// later one fail.
type cappedBuffer struct {
	limit    int64
	shared   *Budget
	exceeded func(cause error)

	first  bytes.Buffer // up to chunkSize; all there is of most streams
	chunks [][]byte     // what follows, each with room for chunkSize
	length int64
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n := int(min(int64(len(p)), b.limit-b.length))
		if n == 0 {
			b.exceeded(errOutputLimit)
			return written, errOutputLimit
		}
		if room := chunkSize - b.first.Len(); room > 0 {
			n = min(n, room)
			b.first.Write(p[:n])
		} else {
			last := len(b.chunks) - 1
			if last < 0 || len(b.chunks[last]) == chunkSize {
				if !b.shared.take(chunkSize) {
					b.exceeded(errBudget)
					return written, errBudget
				}
				b.chunks = append(b.chunks, make([]byte, 0, chunkSize))
				last++
			}
			n = min(n, chunkSize-len(b.chunks[last]))
			b.chunks[last] = append(b.chunks[last], p[:n]...)
		}
		b.length += int64(n)
		written += n
		p = p[n:]
	}
	return written, nil
}

// bytes returns the whole stream, and lets go of the pieces.
func (b *cappedBuffer) bytes() []byte {
	if len(b.chunks) == 0 {
		return b.first.Bytes()
	}
	whole := append(make([]byte, 0, b.length), b.first.Bytes()...)
	for _, chunk := range b.chunks {
		whole = append(whole, chunk...)
	}
	b.release()
	return whole
}

// release gives back what the stream holds of the shared budget.
func (b *cappedBuffer) release() {
	b.shared.giveBack(int64(len(b.chunks)) * chunkSize)
	b.chunks = nil
}

// headTail keeps the first and the last bytes of a stream, half of limit each:
// a command says what it was doing first, and why it failed last. The first byte
// over most calls exceeded, and that write and every later one fail.
type headTail struct {
	limit    int
	most     int64
	exceeded func(cause error)

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
	if h.total > h.most {
		h.exceeded(errStderrLimit)
		return 0, errStderrLimit
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
