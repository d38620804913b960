// Package jsonl reads files of JSON lines that another program may be writing: whole, or only beginning and end.
//
// A line ends at a line feed and nowhere else: U+2028 can stand in it. Text after the last line
// feed is not a line yet, and is never read. The package does not parse JSON, and never writes.
package jsonl

import (
	"bufio"
	"bytes"
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

// each calls do for the lines of a file between the offsets begin and end, until do returns false. do gets a line, the
// offset of the line, and the offset of the next line. A line of more than most bytes is nil. each reads in chunks.
func each(ctx context.Context, file io.ReaderAt, begin, end int64, chunk, most int, do func(line []byte, offset, next int64) bool) error {
	buffer := min(int64(chunk), end-begin+1) // bytes; one more than there are, so that the last text does not fill it
	in := bufio.NewReaderSize(io.NewSectionReader(file, begin, end-begin), int(buffer))
	var long []byte // a line that is longer than the buffer
	for {
		line, err := in.ReadSlice('\n') // a whole line, or as much of it as fills the buffer
		size := len(line)               // of the whole line so far
		long = long[:0]
		for err == bufio.ErrBufferFull && ctx.Err() == nil {
			if size <= most { // otherwise the line is too long, and not kept
				long = append(long, line...)
			}
			line, err = in.ReadSlice('\n')
			size += len(line)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF: // what follows the last line feed is no line yet
			return nil
		case err != nil:
			return err
		case size > most+len("\n"):
			line = nil
		case size > len(line): // line is only the end of a line, and long has the beginning
			long = append(long, line...)
			line = long
		}
		next := begin + int64(size)
		if !do(bytes.TrimSuffix(line, []byte("\n")), begin, next) {
			return nil
		}
		begin = next
	}
}

// PeekSize is how many bytes [Peek] reads at least of the beginning and of the end of a file.
const PeekSize = 32 << 10

// Peek calls see for lines of a file with size bytes, in their order: for the lines in the first [PeekSize] bytes, for
// more lines as long as wanted returns true, and then for the lines in the last [PeekSize] bytes. It reports whether
// see got all lines. A line longer than [MaxLine] is nil.
func Peek(ctx context.Context, file io.ReaderAt, size int64, wanted func() bool, see func(line []byte)) (whole bool, err error) {
	return peek(ctx, file, size, PeekSize, wanted, see)
}

// peek calls see for lines of a file with size bytes: for the lines in the first n bytes, and for more lines as long as
// wanted returns true, and then for the other lines in the last n bytes. It reports whether see got all lines.
func peek(ctx context.Context, file io.ReaderAt, size int64, n int, wanted func() bool, see func(line []byte)) (whole bool, err error) {
	seen := int64(0) // the offset after the lines that see got
	whole = true     // until a line is not wanted
	err = each(ctx, file, 0, size, n, MaxLine, func(line []byte, _, next int64) bool {
		seen = next
		see(line)
		whole = next < int64(n) || wanted()
		return whole
	})
	if whole || err != nil {
		return whole, err
	}
	tail := max(seen, size-int64(n)) // the offset at which reading goes on
	whole = tail == seen
	err = each(ctx, file, tail, size, n, MaxLine, func(line []byte, offset, _ int64) bool {
		if offset > tail || whole { // otherwise the line may have begun before tail
			see(line)
		}
		return true
	})
	return whole, err
}
