package subjects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// The limits of a scan. They bound the cost of a directory that was named by mistake, such as a home directory.
const (
	maxDepth   = 16     // components of a path
	maxEntries = 40_000 // in directories: subjects and all others
)

const TopicDir = "." // the path of the topic's directory, relative to itself

// Warning is a file in a topic's directory that the scan left out.
type Warning struct {
	Path   string `json:"path"`   // relative to the topic's directory, as on disk; [TopicDir] for the directory itself
	Reason string `json:"reason"` // completes a sentence that begins with the path
}

// Tree has the subjects of a topic. It holds the directory open, so that files are read from the directory that was
// scanned.
type Tree struct {
	Subjects []*Subject // all subjects, also hidden and disabled ones, sorted by Slug and Path
	Visible  []*Subject // the subjects that are neither hidden nor disabled, in the same order; set by [Tree.Configure]
	Dead     []Dead     // the entries of the configuration that match nothing: those of disabled, then those of learned
	Warnings []Warning  // sorted by Path

	topic string // its id
	root  *os.Root
}

// Scan finds the subjects in the directory of a topic and below, without opening them. The tree owns the directory;
// after an error Scan closes the directory, and the tree is empty. A link to one of the files is a subject. Other links,
// special files and everything beyond the limits (16 levels, 40,000 entries) become warnings. Scan skips ".git".
func Scan(ctx context.Context, root *os.Root) (*Tree, error) {
	w := walker{root: root, room: maxEntries, files: map[string]bool{}}
	if err := w.walk(ctx); err != nil {
		root.Close()
		return &Tree{}, fmt.Errorf("scanning the directory: %w", err)
	}
	return w.newTree(), nil
}

// Close closes the directory. Nothing can be read from the tree afterwards.
func (t *Tree) Close() {
	if t.root != nil {
		_ = t.root.Close()
	}
}

// walker collects what is in a directory and below.
type walker struct {
	root     *os.Root
	room     int // the number of entries that may still be read
	files    map[string]bool
	links    []string
	warnings []Warning
}

func (w *walker) warn(path, reason string) { w.warnings = append(w.warnings, Warning{path, reason}) }

// walk visits root and the directories below, the nearest to root first, and adds what is in them. It stops with a
// warning when there is no more room. The error is that of the context, or that root cannot be read; other directories
// that cannot be read are warnings.
func (w *walker) walk(ctx context.Context) error {
	for dirs := []string{TopicDir}; len(dirs) > 0; dirs = dirs[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := safefile.ReadDirIn(w.root, dirs[0], w.room+1)
		switch {
		case err != nil && dirs[0] == TopicDir:
			return err
		case errors.Is(err, fs.ErrNotExist):
			continue // it was removed meanwhile
		case err != nil:
			w.warn(dirs[0], "cannot be read: "+Cause(err).Error())
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if entry := path.Join(dirs[0], e.Name()); w.addEntry(entry, e.Type()) {
				dirs = append(dirs, entry)
			}
		}
		if w.room -= len(entries); w.room < 0 {
			w.warn(TopicDir, fmt.Sprintf("has more than %d entries (files, directories, links), and how many more is not known; some are left out, and which depends on the file system. Name a smaller directory", maxEntries))
			return nil
		}
	}
	return nil
}

// addEntry adds the entry at a path to the files, the links or the warnings. It returns true for a directory that is to
// be visited instead.
func (w *walker) addEntry(entry string, kind fs.FileMode) bool {
	switch {
	case path.Base(entry) == ".git":
	case kind.IsDir() && strings.Count(entry, "/")+1 == maxDepth:
		w.warn(entry, fmt.Sprintf("is left out: it is a directory on level %d, and its files would be deeper than that", maxDepth))
	case kind.IsDir():
		return true
	case kind.IsRegular():
		w.files[entry] = true
	case kind == fs.ModeSymlink:
		w.links = append(w.links, entry)
	default:
		w.warn(entry, "is left out: it is neither a file nor a directory")
	}
	return false
}

// newTree returns the tree of the files and of the links to files. Other links become warnings.
func (w *walker) newTree() *Tree {
	var subjects []*Subject
	for file := range w.files {
		subjects = append(subjects, newSubject(file))
	}
	for _, link := range w.links {
		s := newSubject(link)
		if s.Target = w.target(link); s.Target == "" {
			w.warn(link, "is left out: it is a link, and leads to no file of this directory by a relative path")
			continue
		}
		s.Hidden = s.Hidden || isHidden(s.Target)
		subjects = append(subjects, s)
	}
	nameAll(subjects)
	slices.SortFunc(w.warnings, func(a, b Warning) int { return cmp.Compare(a.Path, b.Path) })
	return &Tree{Subjects: subjects, Warnings: w.warnings, root: w.root}
}

// target returns the path of the file of the topic that a link leads to. It returns "" for a link that leads elsewhere,
// to a directory or to another link, and for a link that is an absolute path or cannot be read.
func (w *walker) target(link string) string {
	written, err := w.root.Readlink(link)
	if err != nil || filepath.IsAbs(written) {
		return ""
	}
	target := path.Join(path.Dir(link), filepath.ToSlash(written))
	if !w.files[target] {
		return ""
	}
	return target
}

// Cause returns the innermost error that err wraps, which has no path and no operation.
func Cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
