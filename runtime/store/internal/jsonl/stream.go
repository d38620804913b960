package jsonl

import (
	"bufio"
	"context"
	"io"
)

// Stream reads lines of a source that can be read only from its beginning on, such as a
// compressed file. Going on is cheap, and going back reads everything again.
type Stream struct {
	open    func() (io.ReadCloser, error)
	from    io.ReadCloser // nil before the beginning
	reader  *bufio.Reader // of from
	next    int64         // offset of what reader reads next
	start   int64         // offset of line
	line    []byte        // that was read last; nil for none, and for one that is too long
	maxLine int
}

// NewStream returns a reader of what open begins to read.
func NewStream(open func() (io.ReadCloser, error)) *Stream {
	return &Stream{open: open, maxLine: MaxLine}
}

// At returns a line as [Lines.At] does.
func (s *Stream) At(ctx context.Context, offset int64) (line []byte, next int64, err error) {
	if s.line != nil && s.start == offset {
		return s.line, s.next, nil
	}
	if s.from == nil || offset < s.next {
		if err := s.restart(); err != nil {
			return nil, 0, err
		}
	}
	for s.next < offset && err == nil {
		n, discardErr := s.reader.Discard(int(min(offset-s.next, Chunk)))
		s.next += int64(n)
		err = s.check(ctx, discardErr)
	}
	if err == nil {
		err = s.readLine(ctx)
	}
	return s.line, s.next, err
}

// readLine reads the next line. Of one that is too long nothing is held.
func (s *Stream) readLine(ctx context.Context) error {
	const kept = 4 * Chunk // room that is held for the next line
	if cap(s.line) > kept {
		s.line = nil
	}
	s.start, s.line = s.next, s.line[:0]
	for {
		part, err := s.reader.ReadSlice('\n')
		s.next += int64(len(part))
		size := s.next - s.start - 1 // of the line, where it ends here
		if size <= int64(s.maxLine) {
			s.line = append(s.line, part...)
		} else {
			s.line = nil
		}
		if err == bufio.ErrBufferFull {
			err = nil
			if ctx.Err() == nil {
				continue
			}
		}
		if err := s.check(ctx, err); err != nil {
			return err
		}
		if size > int64(s.maxLine) {
			return ErrTooLong
		}
		s.line = s.line[:size]
		return nil
	}
}

func (s *Stream) restart() error {
	s.Close()
	from, err := s.open()
	if err != nil {
		return err
	}
	s.from, s.next, s.line = from, 0, nil
	if s.reader == nil {
		s.reader = bufio.NewReaderSize(from, Chunk)
	} else {
		s.reader.Reset(from)
	}
	return nil
}

// check returns the error of reading, or that of the context, after which nothing more is read.
func (s *Stream) check(ctx context.Context, err error) error {
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.Close()
	}
	return err
}

// Close ends reading.
func (s *Stream) Close() {
	if s.from != nil {
		s.from.Close()
		s.from, s.line = nil, nil
	}
}
