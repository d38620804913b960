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
	// MaxSize is the size in bytes up to which a file is read. It is no limit on
	// what is useful, only on what one call may hold in memory.
	MaxSize = 4 << 20
	// beginning is how many bytes of a file tell whether it is text. Front matter
	// ends in them.
	beginning = 8 << 10
)

// Look fills in what the beginning of files says of subjects of the tree, a few at a
// time: it waits for the disk where files are not cached. The error is that of the
// context.
func (t *Tree) Look(ctx context.Context, at []*Subject) error {
	parallel.Each(ctx, len(at), func(numbers iter.Seq[int]) {
		for i := range numbers {
			t.look(at[i])
		}
	})
	return ctx.Err()
}

func (t *Tree) look(s *Subject) {
	f, info, err := t.open(s)
	var begin []byte
	if err == nil {
		defer f.Close()
		begin, err = io.ReadAll(io.LimitReader(f, beginning))
	}
	if err != nil {
		s.Problem = cause(err).Error()
		return
	}
	s.Size = info.Size()
	s.TooLarge = s.Size > MaxSize
	s.Binary = !s.TooLarge && isBinary(begin)
	if s.Kind == (Kind{}) {
		s.Tokens = int((s.Size + 3) / 4)
	}
	if path.Base(s.Path) == skillFile {
		s.Description, _ = DescriptionOf(begin) // checks say what is wrong with it
	}
}

// open opens the file of a subject, which is reached without following a link.
func (t *Tree) open(s *Subject) (*os.File, fs.FileInfo, error) {
	return safefile.OpenNoFollow(t.root, cmp.Or(s.Target, s.Path))
}

// Content is what a subject has to say.
type Content struct {
	// Text is the content, ready to be shown: with line feeds, everything in it
	// visible, without byte order mark and final line break, and in a fence unless
	// the file is prose. It may close the elements it is put in: see [CloseTags].
	Text string
	// Size is that of the file, in bytes.
	Size int64
	// Note says what Text does not show as it is in the file; mostly empty.
	Note string
	// Empty and Kind say why there is no Text. A file of one line break is empty.
	Empty bool
	Kind
}

// Read reads a subject of the tree as it is now: the file that the scan found. It is an
// error where that is gone, is no regular file any more, lies behind a link, or cannot be
// read.
func (t *Tree) Read(ctx context.Context, s *Subject) (Content, error) {
	if err := ctx.Err(); err != nil {
		return Content{}, err
	}
	f, info, err := t.open(s)
	if err != nil {
		return Content{}, reading(s.Path, err)
	}
	defer f.Close()
	if info.Size() > MaxSize {
		return Content{Size: info.Size(), Kind: Kind{TooLarge: true}}, nil
	}
	data, err := safefile.ReadAll(f, MaxSize)
	var grown *safefile.TooLargeError
	switch {
	case errors.As(err, &grown):
		return Content{Size: MaxSize + 1, Kind: Kind{TooLarge: true}}, nil
	case err != nil:
		return Content{}, reading(s.Path, err)
	}
	return format(data, s.Ext), nil
}

// reading is the error for a file. It names the file by its path in the topic's
// directory, without line breaks and the like.
func reading(path string, err error) error {
	return &fs.PathError{Op: "reading", Path: displayable(path), Err: cause(err)}
}

func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), beginning)], 0) >= 0
}
