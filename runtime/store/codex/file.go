package codex

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
)

// file is an opened rollout, which may be compressed.
type file struct {
	*os.File
	opened     fs.FileInfo
	size       int64
	compressed bool

	most   int64            // bytes that are read of what is decompressed
	excess bool             // there are more
	kept   *filecache.Sheet // where most is kept, once it is known that there are more; nil for nowhere
}

// openFile opens a rollout. Where the program has compressed it since it was found, or
// does the reverse, it is opened in its other form.
func (h *home) openFile(name string) (*file, error) {
	f, info, err := h.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		other, ok := strings.CutSuffix(name, compressed)
		if !ok {
			other += compressed
		}
		if found, there, again := h.open(other); again == nil {
			f, info, err, name = found, there, nil, other
		}
	}
	if err != nil {
		return nil, err
	}
	size := info.Size()
	return &file{File: f, opened: info, size: size, compressed: strings.HasSuffix(name, compressed), most: leastDecompressed + maxRatio*size}, nil
}

// keep has the file read no further than is known that its lines go, and that kept.
func (f *file) keep(sheet *filecache.Sheet) {
	if f.compressed && sheet.Get(&f.most) {
		f.excess = true
		return
	}
	f.kept = sheet
}

func (f *file) lines() jsonl.Reader {
	if f.compressed {
		return &stream{jsonl.NewStream(f.decompress), f}
	}
	return jsonl.NewLines(f, f.size)
}

// stream is the lines of a compressed rollout.
type stream struct {
	*jsonl.Stream
	file *file
}

// At implements [jsonl.Reader].
func (s *stream) At(ctx context.Context, offset int64) (line []byte, next int64, err error) {
	line, next, err = s.Stream.At(ctx, offset)
	if f := s.file; err == io.EOF && f.excess && f.kept != nil {
		read := f.most
		f.most = offset
		f.kept.PutFor(f.most, read)
		f.kept = nil
	}
	return line, next, err
}

// Bounds of what a rollout is decompressed with, and to, in bytes. What programs record grows
// to some twenty times of what it is compressed to.
const (
	maxWindow         = 32 << 20
	leastDecompressed = 64 << 20
	maxRatio          = 200
)

// decompress begins to read what a compressed rollout has.
func (f *file) decompress() (io.ReadCloser, error) {
	from := io.NewSectionReader(f, 0, f.size)
	d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return &decompressed{Decoder: d, file: f, left: f.most}, nil
}

// decompressed is what a compressed rollout has, up to a bound. One that is cut ends
// there.
type decompressed struct {
	*zstd.Decoder
	file *file
	left int64
}

func (d *decompressed) Read(p []byte) (int, error) {
	if d.left == 0 {
		// There is more where another byte is.
		if !d.file.excess {
			n, _ := io.ReadFull(d.Decoder, make([]byte, 1))
			d.file.excess = n > 0
		}
		return 0, io.EOF
	}
	n, err := d.Decoder.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func (d *decompressed) Close() error {
	d.Decoder.Close()
	return nil
}

// peek is [jsonl.Peek] of a rollout. Of a compressed one it is more of the beginning in place of the end.
func (f *file) peek(ctx context.Context, head func(line []byte) int64, tail func(line []byte)) (whole bool, err error) {
	if !f.compressed {
		return jsonl.Peek(ctx, f, f.size, head, tail)
	}
	const more = 8
	lines := jsonl.NewStream(f.decompress)
	defer lines.Close()
	_, whole, err = jsonl.Head(ctx, lines, more*jsonl.PeekSize, head)
	return whole, err
}
