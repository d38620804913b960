package project

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// Memory is what an [ExcludeFile] has excluded so far. It stays excluded until the user includes
// it again: the file may be gone with its directory, and the conversations are still recorded. It
// is a directory with a file for each [Exclusion]. It is safe for concurrent use.
type Memory struct {
	dir string // empty keeps nothing for other processes

	mu  sync.Mutex
	all []Exclusion
	err error // the first error of keeping an exclusion
}

// Exclusion is a directory that is excluded, with all below it.
type Exclusion struct {
	Dir string `json:"directory"`
	By  string `json:"by"` // the path of the [ExcludeFile], which may be gone
}

// IsThere reports whether the file that excludes the directory exists.
func (e *Exclusion) IsThere() bool {
	_, err := os.Lstat(e.By)
	return err == nil
}

const (
	extension = ".json"
	// maxExclusion bounds the file of an exclusion, and maxDir the path of a directory, which may be a recorded one.
	maxExclusion, maxDir = 64 << 10, 4 << 10
)

// OpenMemory returns the memory in a directory, which may not exist. It returns an error if a file
// cannot be read, because that may exclude anything.
func OpenMemory(dir string) (*Memory, error) {
	m := &Memory{dir: dir}
	entries, err := readDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(dir, err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != extension || safefile.Temporary(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		data, err := safefile.Read(path, maxExclusion)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has removed it
		}
		var e Exclusion
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil && !filepath.IsAbs(e.Dir) {
			err = errors.New("it names no absolute path of a directory")
		}
		if err != nil {
			return nil, unreadable(path, err)
		}
		m.all = append(m.all, e)
	}
	return m, nil
}

// unreadable returns the error for a file or a directory of a memory that cannot be read because of err.
func unreadable(path string, err error) error {
	return fmt.Errorf("reading what was excluded: %s: %w; to go on, remove it, and exclude again what it was about", path, err)
}

// path returns the path of the file of an exclusion.
func (m *Memory) path(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(m.dir, fmt.Sprintf("%x", sum[:16])+extension)
}

// Exclusions returns all exclusions in the order of their directories.
func (m *Memory) Exclusions() []Exclusion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(slices.Values(m.all), func(a, b Exclusion) int { return strings.Compare(a.Dir, b.Dir) })
}

// Err returns the first error of writing an exclusion to the directory of the memory. Later processes do not know that
// exclusion: for them its directory is excluded only while the [ExcludeFile] exists.
func (m *Memory) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// find returns the first exclusion of one of some directories; the zero value if none is excluded.
func (m *Memory) find(dirs ...string) Exclusion {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if slices.ContainsFunc(dirs, func(dir string) bool { return below(e.Dir, dir) }) {
			return e
		}
	}
	return Exclusion{}
}

// add adds the exclusion of a directory to the memory, and writes its file, unless the directory is excluded
// already. Err returns the error of writing.
func (m *Memory) add(e Exclusion) {
	if len(e.Dir) > maxDir || m.find(e.Dir) != (Exclusion{}) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, e)
	if m.dir == "" {
		return
	}
	data, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = os.MkdirAll(m.dir, 0o700)
	}
	if err == nil {
		err = safefile.Write(m.path(e.Dir), append(data, '\n'), 0o600)
	}
	m.err = cmp.Or(m.err, err)
}

// NotRememberedError is the error for a directory that the memory does not have.
type NotRememberedError struct {
	Dir string
	By  string // a directory above it that the memory has, or empty
}

// Error names By if the memory has By, a directory above Dir: Dir is then excluded as a part of By.
func (e *NotRememberedError) Error() string {
	if e.By != "" {
		return fmt.Sprintf("%s is remembered as excluded with %s", e.Dir, e.By)
	}
	return e.Dir + " is not remembered as excluded"
}

// StillError is the error for a directory that an existing [ExcludeFile] excludes.
type StillError struct{ Exclusion }

func (e *StillError) Error() string { return fmt.Sprintf("%s is excluded by %s", e.Dir, e.By) }

// Forget removes the exclusion of a directory, which can be under the path dir or under that path without links. If an
// existing file excludes the directory, the error is a [*StillError]. If the memory does not have the directory, the
// error is a [*NotRememberedError]. Any other error is that of removing the file of the exclusion.
func (m *Memory) Forget(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real := resolve(abs)
	if file := excludeFile(identify(real).excluders(real)...); file != "" { // a file at or above dir or its repository
		return &StillError{Exclusion{Dir: abs, By: file}}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	missing := &NotRememberedError{Dir: abs}
	var left []Exclusion
	for _, e := range m.all {
		if same(e.Dir, abs) || same(e.Dir, real) {
			if err := os.Remove(m.path(e.Dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if below(e.Dir, abs) || below(e.Dir, real) {
			missing.By = e.Dir // a directory above dir is excluded, and dir with it
		}
		left = append(left, e)
	}
	if len(left) == len(m.all) {
		return missing
	}
	m.all = left
	return nil
}
