package codex

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
)

// file is an opened rollout, which may be compressed.
type file struct {
	*os.File
	opened     fs.FileInfo
	size       int64
	compressed bool
}

// openFile opens a rollout. Where the program has compressed it since it was found, or
// does the reverse, it is opened in its other form.
func openFile(open opener, name string) (*file, error) {
	f, info, err := open(name)
	if errors.Is(err, fs.ErrNotExist) {
		other, ok := strings.CutSuffix(name, compressed)
		if !ok {
			other += compressed
		}
		if found, there, again := open(other); again == nil {
			f, info, err, name = found, there, nil, other
		}
	}
	if err != nil {
		return nil, err
	}
	return &file{File: f, opened: info, size: info.Size(), compressed: strings.HasSuffix(name, compressed)}, nil
}

func (f *file) lines(buffer *store.Buffer) jsonl.Reader {
	if f.compressed {
		return jsonl.NewStream(f.decompress, buffer)
	}
	return jsonl.NewLines(f, f.size, buffer)
}

// Bounds of what a rollout is decompressed with, and to, in bytes.
const (
	maxWindow       = 32 << 20
	maxDecompressed = 16 << 30
)

var errDecompressed = errors.New("it has more than 16 GB when it is decompressed")

// decompress begins to read what a compressed rollout has.
func (f *file) decompress() (io.ReadCloser, error) {
	from := io.NewSectionReader(f, 0, f.size)
	d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return &decompressed{Decoder: d, left: maxDecompressed}, nil
}

// decompressed is what a compressed rollout has, up to a bound. One that is cut ends
// there.
type decompressed struct {
	*zstd.Decoder
	left int64
}

func (d *decompressed) Read(p []byte) (int, error) {
	n, err := d.Decoder.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return 0, errDecompressed
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func (d *decompressed) Close() error {
	d.Decoder.Close()
	return nil
}

// ends returns the beginning and the end of a rollout, in buf where that is enough. Of a compressed one that is more of
// the beginning in place of the end.
func (f *file) ends(most int, buf []byte) (jsonl.Ends, error) {
	if !f.compressed {
		return jsonl.ReadEnds(f, f.size, most, buf)
	}
	from, err := f.decompress()
	if err != nil {
		return jsonl.Ends{}, err
	}
	defer from.Close()
	const more = 8
	head := make([]byte, more*most)
	n, err := io.ReadFull(from, head)
	whole := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !whole {
		return jsonl.Ends{}, err
	}
	e := jsonl.Ends{Head: head[:bytes.LastIndexByte(head[:n], '\n')+1], Whole: whole}
	if len(e.Head) == 0 && !whole {
		e.Head, e.Cut = head, true
	}
	return e, nil
}
