package process

import (
	"bytes"
	"fmt"
	"io"
)

// cappedBuffer keeps a stream up to a limit. A write beyond the limit calls exceeded and fails.
type cappedBuffer struct {
	limit    int64
	exceeded func(cause error)
	data     []byte
}

// Write keeps p. If p goes over the limit, Write keeps the beginning of p, calls exceeded and returns errOutputLimit.
func (b *cappedBuffer) Write(p []byte) (int, error) {
	room := b.limit - int64(len(b.data))
	n := int(min(int64(len(p)), room))
	b.data = append(b.data, p[:n]...)
	if n < len(p) {
		b.exceeded(errOutputLimit)
		return n, errOutputLimit
	}
	return n, nil
}

// sink passes a stream on to a writer. It calls failed, which ends the command, with each error of the writer.
type sink struct {
	to     io.Writer
	failed func(cause error)
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		s.failed(err)
	}
	return n, err
}

// HeadTail keeps the first and the last bytes of a stream, half of Limit each: a command says last why it failed.
type HeadTail struct {
	Limit int
	Total int // length of the stream in bytes
	head  []byte
	tail  []byte // the bytes after head, or their end: up to twice as many as are kept
}

// Write adds the bytes of p to head until head is full, and the rest to tail. Only the end of tail that last returns is
// kept. Once tail is more than twice as long as this end, Write drops the other bytes. The error is nil.
func (h *HeadTail) Write(p []byte) (int, error) {
	h.Total += len(p)
	toHead := min(h.Limit/2-len(h.head), len(p))
	h.head = append(h.head, p[:toHead]...)
	h.tail = append(h.tail, p[toHead:]...)
	if last := h.last(); len(h.tail) > 2*len(last) {
		h.tail = append(h.tail[:0], last...)
	}
	return len(p), nil
}

// last returns the end of the tail, which is what is kept of it.
func (h *HeadTail) last() []byte { return h.tail[max(0, len(h.tail)-(h.Limit-h.Limit/2)):] }

// String returns the kept bytes. If there are [HeadTail.Total] of them, they are the whole stream.
func (h *HeadTail) String() string { return string(h.head) + string(h.last()) }

// bytes returns the kept bytes. If others were omitted, a line in their place counts them.
func (h *HeadTail) bytes() []byte {
	out, last := bytes.Clone(h.head), h.last()
	if omitted := h.Total - len(h.head) - len(last); omitted > 0 {
		out = fmt.Appendf(out, "\n[… %d bytes omitted …]\n", omitted)
	}
	return append(out, last...)
}
