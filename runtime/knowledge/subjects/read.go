package subjects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/convtools/convtools/runtime/base/safefile"
)

const (
	// MaxSize is the size in bytes up to which a file is read. It is no limit on
	// what is useful, only on what one call may hold in memory.
	MaxSize = 4 << 20
	// sniffed is how many bytes of a file tell whether it is text.
	sniffed = 8192
	// chunk is how much is read between two looks at the context.
	chunk = 1 << 20
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
	err := t.each(ctx, len(of), func(i int, r *reader) { facts[i] = r.facts(of[i]) })
	if err != nil {
		return nil, err
	}
	return facts, nil
}

func (r *reader) facts(s *Subject) Facts {
	begin, size, err := r.begin(s, sniffed)
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
	return t.each(ctx, len(skills), func(i int, r *reader) {
		if begin, _, err := r.begin(skills[i], maxFrontMatter); err == nil {
			skills[i].Description = ReadFrontMatter(begin).Description
		}
	})
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
	// Unread reports whether there is no Text because there was no room for it.
	Unread bool
}

// Read reads a subject of the tree as it is now: the file that the scan found, also
// for a link. It is an error where that is gone, is no regular file any more, lies
// behind a link, or cannot be read.
func (t *Tree) Read(ctx context.Context, s *Subject) (Content, error) {
	return t.read(ctx, s, func(int64) bool { return true })
}

// read is [Tree.Read] for a file that is text and fits, by its size in bytes. Of
// others only the beginning is read.
func (t *Tree) read(ctx context.Context, s *Subject, fits func(size int64) bool) (Content, error) {
	f, info, err := safefile.OpenNoFollow(t.root, s.file())
	if err != nil {
		return Content{}, reading(s.Path, err)
	}
	defer f.Close()
	size := info.Size()
	if size > MaxSize {
		return Content{Size: size, TooLarge: true}, nil
	}
	data, err := readBegin(f, make([]byte, sniffed))
	switch {
	case err != nil:
		return Content{}, reading(s.Path, err)
	case isBinary(data):
		return Content{Size: size, Binary: true}, nil
	case !fits(size):
		return Content{Size: size, Unread: true}, nil
	}
	// One byte more shows the end of the file without growing the buffer.
	data = append(make([]byte, 0, max(int(size), len(data))+1), data...)
	for {
		if err := ctx.Err(); err != nil {
			return Content{}, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):min(cap(data), len(data)+chunk)])
		data = data[:len(data)+n]
		if len(data) > MaxSize {
			return Content{Size: int64(len(data)), TooLarge: true}, nil
		}
		if err == io.EOF {
			return format(data, s.Ext), nil
		}
		if err != nil {
			return Content{}, reading(s.Path, err)
		}
	}
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
