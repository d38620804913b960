// Package jsonl reads files of JSON lines that somebody else may be writing: whole,
// line by line, or only their beginning and their end.
//
// A line ends at a line feed and nowhere else, so that U+2028 may stand in it. What
// follows the last line feed is not written yet, and is never looked at. The package
// reads no line as JSON, and never writes.
package jsonl

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
)

// MaxLine is the longest line that is read, in bytes. A longer one, which could
// only be a file that is no record of a conversation, is left out.
const MaxLine = 64 << 20

// Chunk is how many bytes are read at a time: enough for most lines to be whole.
const Chunk = 256 << 10

// ErrTooLong is the error for a line of more than [MaxLine] bytes.
var ErrTooLong = errors.New("the line is too long")

// Lines reads lines of a file, in any order.
type Lines struct {
	file    io.ReaderAt
	size    int64 // of the file when it was opened: what is written later is not read
	buffer  []byte
	chunk   int
	maxLine int
	window  []byte // a part of the file, in the buffer
	base    int64  // where it begins
}

// NewLines returns a reader of the first size bytes of a file.
func NewLines(file io.ReaderAt, size int64) *Lines {
	return &Lines{file: file, size: size, chunk: Chunk, maxLine: MaxLine}
}

// EachFrom calls do for all lines from an offset on, with the offset of each and of the next one,
// until it returns false. A line that is left out as it is too long is nil.
func EachFrom(ctx context.Context, lines *Lines, offset int64, do func(line []byte, offset, next int64) bool) error {
	for {
		line, next, err := lines.At(ctx, offset)
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, ErrTooLong):
			return err
		case !do(line, offset, next):
			return nil
		}
		offset = next
	}
}

// At returns the line that begins at an offset, without its line feed, and where the
// next one begins. The line is valid until the next call. The error is [io.EOF]
// where no whole line begins there, and [ErrTooLong], with the next line's offset,
// for one that is left out.
func (l *Lines) At(ctx context.Context, offset int64) (line []byte, next int64, err error) {
	if line, ok := l.inWindow(offset); ok {
		return line, offset + int64(len(line)) + 1, nil
	}
	if err := l.fill(ctx, offset, l.chunk); err != nil {
		return nil, 0, err
	}
	if line, ok := l.inWindow(offset); ok {
		return line, offset + int64(len(line)) + 1, nil
	}
	// What a long line needs is found out before it is held, so that it is held once.
	next, err = l.lineEnd(ctx, offset+int64(len(l.window)))
	switch {
	case err != nil:
		return nil, 0, err
	case next-1-offset > int64(l.maxLine):
		return nil, next, ErrTooLong
	}
	if err := l.fill(ctx, offset, int(next-offset)); err != nil {
		return nil, 0, err
	}
	if line, ok := l.inWindow(offset); ok {
		return line, next, nil
	}
	return nil, 0, io.EOF // the file was rewritten
}

// inWindow returns the line that begins at an offset, where all of it is in the window.
func (l *Lines) inWindow(offset int64) ([]byte, bool) {
	from := offset - l.base
	if from < 0 || from >= int64(len(l.window)) {
		return nil, false
	}
	i := bytes.IndexByte(l.window[from:], '\n')
	if i < 0 {
		return nil, false
	}
	return l.window[from : from+int64(i)], true
}

// lineEnd returns the offset behind the line that goes on at one.
func (l *Lines) lineEnd(ctx context.Context, offset int64) (int64, error) {
	for {
		if err := l.fill(ctx, offset, l.chunk); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(l.window, '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		offset += int64(len(l.window))
	}
}

// fill puts at least most bytes of the file from an offset into the window, or all
// there are, of which there must be one.
func (l *Lines) fill(ctx context.Context, offset int64, most int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.window = nil
	if offset >= l.size {
		return io.EOF
	}
	size := min(max(l.chunk, most), int(l.size-offset))
	if size > cap(l.buffer) || cap(l.buffer) > 4*max(l.chunk, size) {
		l.buffer = make([]byte, size)
	}
	buf := l.buffer[:min(int64(cap(l.buffer)), l.size-offset)]
	n, err := l.file.ReadAt(buf, offset)
	if err != nil && err != io.EOF {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	l.window, l.base = buf[:n], offset
	return nil
}

// Sum returns the checksum of a part of a file that follows one with a checksum.
func Sum(ctx context.Context, file io.ReaderAt, sum uint32, from, to int64) (uint32, error) {
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, min(Chunk, to-from))
	for from < to {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		part := buf[:min(int64(len(buf)), to-from)]
		n, err := file.ReadAt(part, from)
		if err != nil && (err != io.EOF || n < len(part)) {
			return 0, err
		}
		sum = crc32.Update(sum, table, part)
		from += int64(n)
	}
	return sum, nil
}

// PeekSize is about how many bytes [Peek] reads of the beginning and of the end of a file.
const PeekSize = 32 << 10

// Peek calls head for the lines at the beginning of the first size bytes of a file, up to the offset
// that it returned last or PeekSize, and tail for those after them near the end. A line that is left
// out as it is too long is nil. It reports whether these are all lines.
func Peek(ctx context.Context, file io.ReaderAt, size int64, head func(line []byte) (until int64), tail func(line []byte)) (whole bool, err error) {
	return peek(ctx, file, size, PeekSize, head, tail)
}

func peek(ctx context.Context, file io.ReaderAt, size, most int64, head func(line []byte) int64, tail func(line []byte)) (whole bool, err error) {
	lines := NewLines(file, size)
	lines.chunk = int(most)
	end, whole := int64(0), true
	err = EachFrom(ctx, lines, 0, func(line []byte, _, next int64) bool {
		end = next
		whole = next < max(most, head(line))
		return whole
	})
	if whole || err != nil {
		return whole, err
	}
	start := max(end, size-most)
	data := make([]byte, size-start)
	n, err := file.ReadAt(data, start)
	if err != nil && err != io.EOF {
		return false, err
	}
	data = data[:bytes.LastIndexByte(data[:n], '\n')+1]
	if start > end {
		data = data[bytes.IndexByte(data, '\n')+1:] // of a line that begins before
	}
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		tail(data[:i])
		data = data[i+1:]
	}
	return start == end, nil
}
