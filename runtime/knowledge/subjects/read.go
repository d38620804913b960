package subjects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
)

const (
	// MaxSize is the size in bytes up to which a file is read. It is no limit on
	// what is useful, only on what one call may hold in memory.
	MaxSize = 4 << 20
	// sniffed is how many bytes of a file tell whether it is text.
	sniffed = 8192
)

// Facts are what can be said about a file without reading all of it.
type Facts struct {
	// Size is in bytes.
	Size int64
	// Tokens is an estimate: a quarter of the bytes.
	Tokens int
	// Binary reports whether the beginning of the file has a NUL byte, as UTF-16 text
	// does too. Such a file is not shown.
	Binary bool
	// TooLarge reports whether the file has more than [MaxSize] bytes and is not read.
	TooLarge bool
	// Err says why nothing is known of the file: it may have been removed or
	// replaced since the scan.
	Err error
}

// Facts looks at subjects of the tree and returns what it found in their order.
// The error is that of the context.
func (t *Tree) Facts(ctx context.Context, of []*Subject) ([]Facts, error) {
	facts := make([]Facts, len(of))
	err := t.each(ctx, len(of), func(i int) { facts[i] = t.facts(of[i]) })
	if err != nil {
		return nil, err
	}
	return facts, nil
}

func (t *Tree) facts(s *Subject) Facts {
	begin, size, err := t.begin(s, sniffed)
	if err != nil {
		return Facts{Err: err}
	}
	return Facts{Size: size, Tokens: tokens(size), TooLarge: size > MaxSize, Binary: isBinary(begin)}
}

// Describe fills in the descriptions of skills. A SKILL.md without one, or one
// that cannot be read, has none. The error is that of the context.
func (t *Tree) Describe(ctx context.Context) error {
	var skills []*Subject
	for i := range t.Subjects {
		if hasFrontMatter(t.Subjects[i].Path) {
			skills = append(skills, &t.Subjects[i])
		}
	}
	return t.each(ctx, len(skills), func(i int) {
		if begin, _, err := t.begin(skills[i], maxFrontMatter); err == nil {
			skills[i].Description, _ = DescriptionOf(begin) // checks say what is wrong with it
		}
	})
}

// begin returns up to most bytes that the file of a subject begins with, and the
// size of the file.
func (t *Tree) begin(s *Subject, most int64) (begin []byte, size int64, err error) {
	f, info, err := t.open(s)
	if err != nil {
		return nil, 0, reading(s.Path, err)
	}
	defer f.Close()
	if begin, err = io.ReadAll(io.LimitReader(f, most)); err != nil {
		return nil, 0, reading(s.Path, err)
	}
	return begin, info.Size(), nil
}

// open opens the file of a subject, which is reached without following a link.
func (t *Tree) open(s *Subject) (*os.File, fs.FileInfo, error) {
	dir, name := path.Split(s.file())
	if dir == "" {
		return safefile.OpenNoFollow(t.root, name)
	}
	folder, err := safefile.OpenDirNoFollow(t.root, strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	return safefile.OpenNoFollow(folder, name)
}

// each calls do for 0 to n-1, in a few goroutines: they wait for the disk where files are
// not cached. The error is that of the context.
func (t *Tree) each(ctx context.Context, n int, do func(i int)) error {
	parallel.Each(ctx, n, func(numbers iter.Seq[int]) {
		for i := range numbers {
			do(i)
		}
	})
	return ctx.Err()
}

// Content is what a subject has to say.
type Content struct {
	// Text is the content, ready to be shown: with line feeds, everything in it
	// visible, without byte order mark and final line break, and in a fence unless
	// the file is prose. It may close the elements it is put in: see [CloseTags].
	Text string
	// Tokens is an estimate for Text: a quarter of its bytes.
	Tokens int
	// Size is that of the file, in bytes.
	Size int64
	// Notes say what Text does not show as it is in the file, one sentence each.
	Notes []string
	// Empty, Binary and TooLarge say why there is no Text. They are explained at
	// [Facts]; a file of one line break is empty.
	Empty, Binary, TooLarge bool
}

// Read reads a subject of the tree as it is now: the file that the scan found, also
// for a link. It is an error where that is gone, is no regular file any more, lies
// behind a link, or cannot be read.
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
		return Content{Size: info.Size(), TooLarge: true}, nil
	}
	data, err := safefile.ReadAll(f, MaxSize)
	var grown *safefile.TooLargeError
	switch {
	case errors.As(err, &grown):
		return Content{Size: MaxSize + 1, TooLarge: true}, nil
	case err != nil:
		return Content{}, reading(s.Path, err)
	}
	return format(data, s.Ext), nil
}

// reading is the error for a file. It names the file by its path in the topic's
// directory, without line breaks and the like.
func reading(path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &fs.PathError{Op: "reading", Path: displayable(path), Err: err}
}

func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

func tokens(size int64) int { return int((size + 3) / 4) }
