package subjects

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
)

const (
	MaxSize   = 4 << 20 // bytes of the largest file that is read; it bounds the memory of a call
	beginning = 8 << 10 // bytes that decide whether a file is binary, and in which front matter has to end
)

// Look reads the beginning of each subject's file, and sets the fields of the subject that follow from the file: Size,
// TooLarge, Binary, Tokens and Description, or Problem if the file cannot be read. Several files are read at once,
// because most of the time goes into waiting for the disk. The error is that of the context.
func (t *Tree) Look(ctx context.Context, list []*Subject) error {
	parallel.Each(ctx, len(list), func(numbers iter.Seq[int]) {
		for i := range numbers {
			t.readBeginning(list[i])
		}
	})
	return ctx.Err()
}

// readBeginning reads the beginning of a subject's file, and sets Size, TooLarge, Binary, Tokens and Description of the
// subject, or Problem if the file cannot be read.
func (t *Tree) readBeginning(s *Subject) {
	f, info, err := t.open(s)
	var begin []byte
	if err == nil {
		defer f.Close()
		begin, err = io.ReadAll(io.LimitReader(f, beginning))
	}
	if err != nil {
		s.Problem = Cause(err).Error()
		return
	}
	s.Size = info.Size()
	s.TooLarge = s.Size > MaxSize
	s.Binary = !s.TooLarge && isBinary(begin)
	if !s.TooLarge && !s.Binary { // it can be shown
		s.Tokens = int((s.Size + 3) / 4)
	}
	if path.Base(s.Path) == skillFile {
		s.Description, _ = DescriptionOf(begin) // checks report the error
	}
}

// open opens the file of a subject: Target, or Path if the subject is no link. It follows no link.
func (t *Tree) open(s *Subject) (*os.File, fs.FileInfo, error) {
	return safefile.OpenNoFollow(t.root, cmp.Or(s.Target, s.Path))
}

// Content is the content of a subject.
type Content struct {
	// Text is the content as it is shown: with line feeds and visible characters, without byte order mark and final
	// line break, and in a fence unless the file is prose. It may have closing tags: see [CloseTags].
	Text  string
	Size  int64  // of the file in bytes
	Note  string // says how Text differs from the file; mostly empty
	Empty bool   // Text is empty because the file is, or has only a line break
	Kind         // the reason for an empty Text of another file
}

// Read reads the file of a subject that the scan found. The error is that of the context; or, without the path, that
// the file does not exist any more, is not regular any more, has become a link, or cannot be read.
func (t *Tree) Read(ctx context.Context, s *Subject) (Content, error) {
	if err := ctx.Err(); err != nil {
		return Content{}, err
	}
	f, info, err := t.open(s)
	if err != nil {
		return Content{}, Cause(err)
	}
	defer f.Close()
	if info.Size() > MaxSize {
		return Content{Size: info.Size(), Kind: Kind{TooLarge: true}}, nil
	}
	data, err := safefile.ReadAll(f, MaxSize)
	switch {
	case errors.As(err, new(*safefile.TooLargeError)): // the file has grown meanwhile
		return Content{Size: MaxSize + 1, Kind: Kind{TooLarge: true}}, nil
	case err != nil:
		return Content{}, Cause(err)
	}
	return format(data, s.Ext), nil
}

// isBinary reports whether the beginning of data has a NUL byte.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), beginning)], 0) >= 0
}
