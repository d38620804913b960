package exports

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// UnrecognisedError is the error for a path that cannot be read, or has no conversation of a known export.
type UnrecognisedError struct {
	Path   string
	Failed int   // conversations, or files of them, that cannot be read
	Err    error // why the path cannot be read, with its name; nil if it was read
}

func (e *UnrecognisedError) Error() string {
	const inPlace = "; sessions of programs on this machine are read in place: see the command stores"
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Failed > 0:
		return e.Path + ": nothing of it can be imported" + inPlace
	}
	return e.Path + ": there is no conversation of a ChatGPT or Claude.ai export in it, and no agent of a Letta agent file" + inPlace
}

func (e *UnrecognisedError) Unwrap() error { return e.Err }

// file is a file of an export that can have conversations.
type file struct {
	name     string // its path in the export, with slashes
	size     int64
	expected bool // it must have conversations
	open     func() (io.ReadCloser, error)
}

// open opens an export: a folder, a zip, or any other file. It returns the files that can have conversations, and
// the opened folder or file, which the caller closes. The error is an [*UnrecognisedError].
func open(name string) (files []file, closer io.Closer, err error) {
	if root, err := safefile.OpenDir(name); err == nil { // it is a folder
		return find(root.FS()), root, nil
	}
	f, info, err := safefile.Open(name)
	if err != nil {
		return nil, nil, &UnrecognisedError{Path: name, Err: err}
	}
	if !isZip(f) {
		return []file{{name: filepath.Base(name), size: info.Size(), expected: true, open: func() (io.ReadCloser, error) { return io.NopCloser(f), nil }}}, f, nil
	}
	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		err = fmt.Errorf("%s: it is a zip that is damaged or not complete, as after a download that was interrupted: %w", name, err)
	} else if files = find(archive); !fits(files, info.Size()) {
		err = fmt.Errorf("%s: its files are more than %d times as large as the zip: it is damaged, or made to fill the disk", name, maxGrowth)
	}
	if err != nil {
		f.Close()
		return nil, nil, &UnrecognisedError{Path: name, Err: err}
	}
	return files, f, nil
}

// maxGrowth is the largest size of the files in a zip together, in sizes of the zip. They can always have maxConversation.
const maxGrowth = 100

// fits reports whether the sizes of the files in a zip add up to at most maxGrowth times the size of the zip, or at most
// maxConversation. The zip states these sizes; archive/zip fails later if a file has more bytes than its stated size.
func fits(files []file, zipSize int64) bool {
	left := max(maxConversation, maxGrowth*zipSize) // bytes for the remaining files
	for _, f := range files {
		if f.size < 0 || f.size > left {
			return false
		}
		left -= f.size
	}
	return true
}

// isZip reports whether a file begins as a zip.
func isZip(f *os.File) bool {
	head := make([]byte, len("PK"))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == "PK"
}

// find returns the files in a folder or a zip that can have conversations, as their names say. Shorter names are
// first: conversations-2.json before conversations-10.json. It ignores links, and directories that cannot be read.
func find(in fs.FS) (files []file) {
	_ = fs.WalkDir(in, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		base := strings.ToLower(entry.Name())
		info, err := entry.Info() // the error says that the file is gone
		if err == nil && slices.Contains([]string{".json", ".jsonl", ".af"}, path.Ext(base)) {
			expected := strings.HasPrefix(base, "conversations")
			files = append(files, file{name, info.Size(), expected, func() (io.ReadCloser, error) { return openIn(in, name, info) }})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
	return files
}

// openIn opens a file of a folder or a zip. It returns an error for an encrypted one.
func openIn(in fs.FS, name string, info fs.FileInfo) (io.ReadCloser, error) {
	const encrypted = 1
	if header, ok := info.Sys().(*zip.FileHeader); ok && header.Flags&encrypted != 0 {
		return nil, errors.New("it is encrypted: unpack it with its password, and import the folder")
	}
	return in.Open(name)
}
