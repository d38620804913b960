package subjects

import (
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

// The limits of a scan. They keep a directory that was named by mistake, such as
// a home directory, from costing more than a moment.
const (
	// maxDepth is how many components a path has at most.
	maxDepth = 16
	// maxSubjects is how many files a topic has at most.
	maxSubjects = 20_000
	// maxEntries is how many entries of directories are looked at, subjects and
	// everything else.
	maxEntries = 2 * maxSubjects
)

// Warning is something in a topic's directory that the scan left out.
type Warning struct {
	// Path is relative to the topic's directory, as it is on disk, and "." for the
	// directory itself.
	Path string `json:"path"`
	// Reason completes a sentence that begins with the path.
	Reason string `json:"reason"`
}

// Tree is what the scan of a topic's directory found. It holds the directory
// open, so that files are read from the directory that was scanned.
type Tree struct {
	// Subjects are all files, hidden ones too, by the byte order of Slug, then Path.
	Subjects []Subject
	// Warnings are in the byte order of Path.
	Warnings []Warning

	root *os.Root
}

// Scan finds the subjects of a topic in its directory and below, and opens none of
// them. The directory is the tree's from then on, and closed where there is an
// error. A link to one of the files is a subject too. Other links, everything else that is
// neither a file nor a directory, and what is beyond the limits (16 levels, 20,000 files)
// become warnings. ".git" is passed over.
func Scan(ctx context.Context, root *os.Root) (*Tree, error) {
	t, err := newWalker(root).tree(ctx)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("scanning the directory: %w", err)
	}
	return t, nil
}

// Close releases the directory, which was only read, so that nothing can be lost. Nothing
// can be read from the tree afterwards.
func (t *Tree) Close() {
	if t.root != nil {
		_ = t.root.Close()
	}
}

// errStop ends a walk.
var errStop = errors.New("stop")

// walker visits the files of a directory tree: first those of a directory, then
// those of the directories in it, both in byte order.
type walker struct {
	root *os.Root

	maxSubjects, maxEntries int

	entries  int      // that were looked at
	files    []string // in the order in which they were visited
	links    []string
	warnings []Warning
}

func newWalker(root *os.Root) *walker {
	return &walker{root: root, maxSubjects: maxSubjects, maxEntries: maxEntries}
}

// tree visits everything.
func (w *walker) tree(ctx context.Context) (*Tree, error) {
	if err := w.dir(ctx, ".", 1); err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	all := make([]Subject, len(w.files))
	files := make(map[string]bool, len(w.files))
	for i, path := range w.files {
		all[i], files[path] = newSubject(path), true
	}
	for _, link := range w.links {
		s := newSubject(link)
		if s.Target = w.target(link, files); s.Target == "" {
			w.warn(link, "is left out: it is a link, and leads to no file of this directory by a relative path")
			continue
		}
		s.Hidden = s.Hidden || isHidden(s.Target)
		all = append(all, s)
	}
	nameAll(all)
	slices.SortFunc(w.warnings, func(a, b Warning) int { return strings.Compare(a.Path, b.Path) })
	return &Tree{Subjects: all, Warnings: w.warnings, root: w.root}, nil
}

// maxLinks is how many links may follow each other.
const maxLinks = 8

// target returns the one of files that a link leads to, also through other links to files;
// empty for none.
func (w *walker) target(link string, files map[string]bool) string {
	for range maxLinks {
		to, err := w.root.Readlink(link)
		if err != nil || filepath.IsAbs(to) {
			return ""
		}
		link = path.Join(path.Dir(link), filepath.ToSlash(to))
		if files[link] {
			return link
		}
		if !slices.Contains(w.links, link) {
			return ""
		}
	}
	return ""
}

func (w *walker) warn(path, reason string) { w.warnings = append(w.warnings, Warning{path, reason}) }

// dir visits one directory, whose entries are on a level.
func (w *walker) dir(ctx context.Context, dir string, level int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := w.read(dir)
	if err != nil && level == 1 {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // It was removed after its parent was read.
	}
	if err != nil {
		w.warn(dir, "cannot be read: "+cause(err).Error())
	}
	prefix := ""
	if level > 1 {
		prefix = dir + "/"
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == ".git" {
			continue
		}
		// What is told about files may take its time.
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(e.Type(), prefix+e.Name()); err != nil {
			return err
		}
	}
	if w.entries > w.maxEntries {
		return w.full("has more than %d entries (files, directories, links), and how many more is not known; some are left out, and which depends on the file system. Name a smaller directory", w.maxEntries)
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == ".git" {
			continue
		}
		sub := prefix + e.Name()
		if level == maxDepth {
			w.warn(sub, fmt.Sprintf("is left out: it is a directory on level %d, and its files would be deeper than that", maxDepth))
			continue
		}
		if err := w.dir(ctx, sub, level+1); err != nil {
			return err
		}
	}
	return nil
}

// read returns the entries of a directory in byte order, and no more of them than
// may be looked at.
func (w *walker) read(dir string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadSomeIn(w.root, dir, w.maxEntries-w.entries+1)
	w.entries += len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// entry visits what is not a directory.
func (w *walker) entry(kind fs.FileMode, path string) error {
	switch {
	case kind == fs.ModeSymlink && len(w.files)+len(w.links) < w.maxSubjects:
		w.links = append(w.links, path)
	case kind != 0:
		w.warn(path, "is left out: it is "+called(kind)+", not a file")
	case len(w.files)+len(w.links) >= w.maxSubjects:
		return w.full("has more than %d files, and how many more is not known; what comes after those is left out. Name a smaller directory", w.maxSubjects)
	default:
		w.files = append(w.files, path)
	}
	return nil
}

func (w *walker) full(reason string, limit int) error {
	w.warn(".", fmt.Sprintf(reason, limit))
	return errStop
}

// called names the type of what is neither a file nor a directory.
func called(kind fs.FileMode) string {
	switch {
	case kind&fs.ModeSymlink != 0:
		return "a link"
	case kind&fs.ModeNamedPipe != 0:
		return "a pipe"
	case kind&fs.ModeSocket != 0:
		return "a socket"
	case kind&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// cause returns what went wrong without the path, which messages name themselves.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
