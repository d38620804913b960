// Package jsonl reads files of JSON lines that another program may be writing: whole, or only their
// beginning and their end.
//
// A line ends at a line feed and nowhere else: U+2028 can stand in it. Text after the last line
// feed is not a line yet, and is never read. The package does not parse JSON, and never writes.
package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
)

// MaxLine is the longest line that is read, in bytes. A longer line is no record of a conversation.
const MaxLine = 64 << 20

// Each calls do for the lines of the first size bytes of a file, each with its offset, until do
// returns false. A line is valid until do returns. A line longer than [MaxLine] is nil.
func Each(ctx context.Context, file io.ReaderAt, size int64, do func(line []byte, offset int64) bool) error {
	const chunk = 256 << 10 // most lines are shorter
	return each(ctx, file, 0, size, chunk, MaxLine, func(line []byte, offset, _ int64) bool { return do(line, offset) })
}

func each(ctx context.Context, file io.ReaderAt, from, to int64, chunk, most int, do func(line []byte, offset, next int64) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, to-from), chunk)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := in.ReadSlice('\n')
		size := len(line)
		if err == bufio.ErrBufferFull {
			if size, err = skip(ctx, in, size); err == nil {
				line, err = readLong(file, from, size, most)
			}
		}
		if err == io.EOF {
			return nil
		}
		next := from + int64(size)
		if err != nil || !do(bytes.TrimSuffix(line, []byte("\n")), from, next) {
			return err
		}
		from = next
	}
}

// skip reads the rest of a line that is longer than the buffer, and returns the size of the line, of
// which begun bytes have been read.
func skip(ctx context.Context, in *bufio.Reader, begun int) (size int, err error) {
	size, err = begun, bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && ctx.Err() == nil {
		var part []byte
		part, err = in.ReadSlice('\n')
		size += len(part)
	}
	return size, cmp.Or(ctx.Err(), err)
}

// readLong returns the line of size bytes at offset, or nil if it is longer than most bytes. It is read
// once its size is known, because a buffer that grows to it allocates five times as much.
func readLong(file io.ReaderAt, offset int64, size, most int) ([]byte, error) {
	if size > most+len("\n") {
		return nil, nil
	}
	line := make([]byte, size)
	if n, err := file.ReadAt(line, offset); n < size {
		return nil, err
	}
	return line, nil
}

// PeekSize is how many bytes [Peek] reads at least of the beginning and of the end of a file.
const PeekSize = 32 << 10

// Peek calls see for the lines at the beginning of the first size bytes of a file, and for as many more
// as wanted returns true, then for those after them near the end. It reports whether these are all
// lines. A line longer than [MaxLine] is nil.
func Peek(ctx context.Context, file io.ReaderAt, size int64, wanted func() bool, see func(line []byte)) (whole bool, err error) {
	return peek(ctx, file, size, PeekSize, wanted, see)
}

func peek(ctx context.Context, file io.ReaderAt, size int64, least int, wanted func() bool, see func(line []byte)) (whole bool, err error) {
	end, whole := int64(0), true
	err = each(ctx, file, 0, size, least, MaxLine, func(line []byte, _, next int64) bool {
		end = next
		see(line)
		whole = next < int64(least) || wanted()
		return whole
	})
	if whole || err != nil {
		return whole, err
	}
	start := max(end, size-int64(least))
	err = each(ctx, file, start, size, least, MaxLine, func(line []byte, offset, _ int64) bool {
		if offset > start || start == end { // the first line may have begun before
			see(line)
		}
		return true
	})
	return start == end, err
}
