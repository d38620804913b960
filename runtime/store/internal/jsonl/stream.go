package jsonl

import (
	"bytes"
	"context"
	"io"

	"github.com/convtools/convtools/runtime/store"
)

// Stream reads lines of what can be read only from its beginning on, such as what is
// compressed, in the memory of a buffer. Going on is cheap, and going back is reading all
// again.
type Stream struct {
	open    func() (io.ReadCloser, error)
	from    io.ReadCloser // nil before the beginning
	ended   bool          // from is read to its end
	buffer  *store.Buffer
	chunk   int
	maxLine int
	window  []byte // what was read last, in the buffer
	base    int64  // where it begins
}

// NewStream returns a reader of what open begins to read.
func NewStream(open func() (io.ReadCloser, error), buffer *store.Buffer) *Stream {
	return &Stream{open: open, buffer: buffer, chunk: Chunk, maxLine: MaxLine}
}

// At returns a line as [Lines.At] does.
func (s *Stream) At(ctx context.Context, offset int64) (line []byte, next int64, err error) {
	if s.from == nil || offset < s.base {
		if err := s.restart(ctx); err != nil {
			return nil, 0, err
		}
	}
	for seen := 0; ; {
		// What is before the line goes.
		if n := min(offset-s.base, int64(len(s.window))); n > 0 {
			s.window, s.base = s.window[n:], s.base+n
		}
		if s.base == offset {
			i := bytes.IndexByte(s.window[seen:], '\n')
			switch {
			case i < 0:
				seen = len(s.window)
			case seen+i > s.maxLine:
				return nil, offset + int64(seen+i) + 1, ErrTooLong
			default:
				return s.window[:seen+i], offset + int64(seen+i) + 1, nil
			}
			if seen > s.maxLine {
				return s.skip(ctx)
			}
		}
		if err := s.more(ctx); err != nil {
			s.close()
			return nil, 0, err
		}
	}
}

// skip returns where the line behind a long one begins.
func (s *Stream) skip(ctx context.Context) ([]byte, int64, error) {
	for {
		if i := bytes.IndexByte(s.window, '\n'); i >= 0 {
			return nil, s.base + int64(i) + 1, ErrTooLong
		}
		s.base += int64(len(s.window))
		s.window = s.window[:0]
		if err := s.more(ctx); err != nil {
			s.close()
			return nil, 0, err
		}
	}
}

func (s *Stream) restart(ctx context.Context) error {
	s.close()
	if err := s.buffer.Reserve(ctx, s.chunk); err != nil {
		return err
	}
	from, err := s.open()
	s.from, s.ended, s.window, s.base = from, false, s.buffer.Bytes[:0], 0
	return err
}

func (s *Stream) close() {
	if s.from != nil {
		s.from.Close()
		s.from = nil
	}
}

// more appends to the window. The error is [io.EOF] where there is no more.
func (s *Stream) more(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.ended {
		return io.EOF
	}
	if err := s.room(ctx); err != nil {
		return err
	}
	n, err := s.from.Read(s.window[len(s.window):cap(s.window)])
	s.window = s.window[:len(s.window)+n]
	if err == io.EOF {
		s.ended = true
		if n > 0 {
			err = nil
		}
	}
	return err
}

// room makes room behind the window.
func (s *Stream) room(ctx context.Context) error {
	if len(s.window) < cap(s.window) {
		return nil
	}
	all := s.buffer.Bytes[:cap(s.buffer.Bytes)]
	// What is behind the longest line is read over.
	size := min(2*len(all), max(len(all), s.maxLine)+s.chunk)
	switch {
	case len(all) > 4*s.chunk && len(s.window) < s.chunk/2:
		size = s.chunk // the memory that a long line needed is given back
	case len(s.window) < len(all)/2:
		s.window = all[:copy(all, s.window)]
		return nil
	}
	// Nothing is held while memory is waited for, but a copy of the window.
	held := bytes.Clone(s.window)
	if err := s.buffer.Resize(ctx, size); err != nil {
		return err
	}
	all = s.buffer.Bytes[:cap(s.buffer.Bytes)]
	s.window = all[:copy(all, held)]
	return nil
}
