// Package jsonl reads files of JSON lines that somebody else may be writing: whole, or only their
// beginning and their end.
//
// A line ends at a line feed and nowhere else, so that U+2028 may stand in it. What
// follows the last line feed is not written yet, and is never looked at. The package
// reads no line as JSON, and never writes.
package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
)

// MaxLine is the longest line that is read, in bytes. A longer one, which could
// only be a file that is no record of a conversation, is left out.
const MaxLine = 64 << 20

// Chunk is how many bytes are read at a time: enough for most lines to be whole.
const Chunk = 256 << 10

// Each calls do for the lines of a file between two offsets, with the offset of each and of the
// next one, until it returns false. A line is valid until do returns; one that is left out, as it is
// too long, is nil.
func Each(ctx context.Context, file io.ReaderAt, from, to int64, do func(line []byte, offset, next int64) bool) error {
	return each(ctx, file, from, to, Chunk, MaxLine, do)
}

func each(ctx context.Context, file io.ReaderAt, from, to int64, chunk int, most int64, do func(line []byte, offset, next int64) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, to-from), chunk)
	for offset := from; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := in.ReadSlice('\n')
		size := int64(len(line))
		if err == bufio.ErrBufferFull {
			line, size, err = long(ctx, io.NewSectionReader(file, offset, to-offset), chunk, most)
			in.Reset(io.NewSectionReader(file, offset+size, to-offset-size))
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !do(bytes.TrimSuffix(line, []byte("\n")), offset, offset+size):
			return nil
		}
		offset += size
	}
}

// long reads the line that a file begins with, unless it is too long. What it needs is found out before
// it is held, so that it is held once.
func long(ctx context.Context, file *io.SectionReader, chunk int, most int64) (line []byte, size int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, file.Size()), chunk)
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull && ctx.Err() == nil; {
		var part []byte
		part, err = in.ReadSlice('\n')
		size += int64(len(part))
	}
	if err != nil || size > most+1 {
		return nil, size, cmp.Or(ctx.Err(), err)
	}
	line = make([]byte, size)
	_, err = file.ReadAt(line, 0)
	return line, size, err
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
	end, whole := int64(0), true
	err = each(ctx, file, 0, size, int(most), MaxLine, func(line []byte, _, next int64) bool {
		end = next
		whole = next < max(most, head(line))
		return whole
	})
	if whole || err != nil {
		return whole, err
	}
	start := max(end, size-most)
	skip := start > end // a line that begins before
	err = each(ctx, file, start, size, int(most), MaxLine, func(line []byte, _, _ int64) bool {
		if !skip {
			tail(line)
		}
		skip = false
		return true
	})
	return start == end, err
}
