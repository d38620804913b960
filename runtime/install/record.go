package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// maxRecord is the largest record that is read, in bytes.
const maxRecord = 64 << 10

// recordVersion is the form that records are written in.
const recordVersion = 1

// record is what has to be known to undo an installation: what one file was
// before, what was written, and which directories were made for it.
type record struct {
	Version int    `json:"version"`
	Target  string `json:"target"` // the file, with links followed
	// Existed reports whether the file was there before, and Before is the SHA-256 of
	// what it was, by which its copy is found.
	Existed bool   `json:"existed"`
	Before  string `json:"before,omitempty"`
	// After is the SHA-256 of the file as it was written. It is empty when
	// something else has written the file between two installations: then what it
	// was before is only good for the entry.
	After string `json:"after,omitempty"`
	// Command is what the entry starts, unless all of the file was written.
	Command []string `json:"command,omitempty"`
	// Dirs are the directories that were made, the innermost first.
	Dirs []string `json:"dirs,omitempty"`
}

// next returns the record of an installation that follows this one, or the first
// for nil. ours reports that what stands in the file, current, is what this one has
// left there, perhaps with other changes beside it: then undoing goes on to mean
// what it did.
func (r *record) next(current snapshot, after []byte, ours bool) (next *record, keep bool) {
	next = &record{Version: recordVersion, Target: current.target, Existed: current.exists, After: digest(after)}
	if current.exists {
		next.Before, keep = digest(current.data), true
	}
	if r == nil {
		return next, keep
	}
	next.Dirs = slices.Clone(r.Dirs)
	if !ours {
		return next, keep
	}
	next.Existed, next.Before = r.Existed, r.Before
	if r.After == digest(current.data) {
		return next, false
	}
	next.After = ""
	return next, keep
}

// records is the directory, in the user's own state, in which records and copies
// of files are kept. Nothing is put beside the files themselves: there it would
// end up in version control, and could be somebody's.
type records struct {
	dir string
	// exchange has two files change places, or is [errors.ErrUnsupported].
	exchange func(a, b string) error
}

// newRecords finds the directory where this system keeps state.
func newRecords(o Options) (records, error) {
	var dirs []string
	var err error
	switch o.GOOS {
	case "windows":
		dirs, err = movedBy("LOCALAPPDATA", "", inHome("AppData", "Local"))(o)
	case "darwin":
		dirs, err = inHome("Library", "Application Support")(o)
	default: // https://specifications.freedesktop.org/basedir-spec/latest/
		dirs, err = movedBy("XDG_STATE_HOME", "", inHome(".local", "state"))(o)
	}
	if err != nil {
		return records{}, fmt.Errorf("finding where to keep a record of the change: %w", err)
	}
	return records{filepath.Join(dirs[0], o.Name, "install"), exchange}, nil
}

// stem returns how the names of everything about a file begin.
func (s records) stem(target string) string {
	name := strings.TrimLeft(filepath.Base(target), ".")
	return filepath.Join(s.dir, name+"-"+digest([]byte(target))[:16])
}

func (s records) path(target string) string { return s.stem(target) + ".json" }

// copyPath returns where a copy of a file is kept. Its name depends on what is in it,
// so that one is never written over another.
func (s records) copyPath(target, sum string) string {
	return s.stem(target) + "-" + sum[:12] + ".before"
}

// copyOf returns where what a file was before its record is kept; empty where it was
// not there.
func (s records) copyOf(r *record) string {
	if r == nil || !r.Existed {
		return ""
	}
	return s.copyPath(r.Target, r.Before)
}

// load returns the record of a file, or nil where there is none. The error is for
// one that cannot be used.
func (s records) load(target string) (*record, error) {
	r, err := s.read(s.path(target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

func (s records) read(path string) (*record, error) {
	data, err := safefile.Read(path, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("whether there is a record of the installation is not known: %w", err)
	}
	var r record
	if err = json.Unmarshal(data, &r); err == nil {
		err = r.check()
	}
	if err == nil && s.path(r.Target) != path {
		err = errors.New("it is about another file")
	}
	if err != nil {
		return nil, fmt.Errorf("the record of the installation is damaged: %w", err)
	}
	return &r, nil
}

// check returns what is wrong with a record. What it names is used for paths, and
// directories in it are removed.
func (r *record) check() error {
	isSum := func(s string) bool {
		sum, err := hex.DecodeString(s)
		return err == nil && len(sum) == sha256.Size
	}
	switch {
	case r.Version != recordVersion:
		return fmt.Errorf("it has version %d, not %d", r.Version, recordVersion)
	case r.Existed != (r.Before != ""), r.Before != "" && !isSum(r.Before), r.After != "" && !isSum(r.After):
		return errors.New("its sums are not SHA-256")
	case slices.ContainsFunc(r.Dirs, func(dir string) bool { return !filepath.IsAbs(dir) }):
		return errors.New("its directories are not absolute paths")
	}
	return nil
}

func (s records) save(r *record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Write(s.path(r.Target), append(data, '\n'), 0o600)
}

// original returns what the file of a record was before; nil when it was not
// there.
func (s records) original(r *record) ([]byte, error) {
	if !r.Existed {
		return nil, nil
	}
	data, err := safefile.Read(s.copyOf(r), maxFile)
	if err == nil && digest(data) != r.Before {
		err = errors.New("it has been changed")
	}
	if err != nil {
		return nil, fmt.Errorf("the copy of what the file was before cannot be used: %w", err)
	}
	return data, nil
}

// inherit hands directories that could not be removed yet to a record that is
// still there. Where that fails, nothing but empty directories stays behind.
func (s records) inherit(dirs []string) {
	if len(dirs) == 0 {
		return
	}
	for r := range s.all() {
		r.Dirs = innermostFirst(append(r.Dirs, dirs...))
		_ = s.save(r)
		return
	}
}

// all returns the records there are, without those that cannot be read.
func (s records) all() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			return
		}
		for _, entry := range entries {
			if filepath.Ext(entry.Name()) != ".json" {
				continue
			}
			if r, err := s.read(filepath.Join(s.dir, entry.Name())); err == nil && !yield(r) {
				return
			}
		}
	}
}

// innermostFirst sorts directories so that each comes before those around it.
func innermostFirst(dirs []string) []string {
	slices.SortFunc(dirs, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(dirs)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
