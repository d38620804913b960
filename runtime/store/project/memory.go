package project

import (
	"crypto/sha256"
	"encoding/hex"
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

// Memory is what an [ExcludeFile] was once seen to exclude, and what stays excluded until the
// user says otherwise: the file ends with its directory, and the conversations that were held
// there do not. It is a directory with a file for each [Exclusion]. A nil one remembers
// nothing. It is safe for concurrent use.
type Memory struct {
	dir string

	mu    sync.Mutex
	all   []Exclusion // in the order of their directories
	unfit error       // for which something could not be kept
}

// Exclusion is a directory that is excluded, with all below it.
type Exclusion struct {
	Dir string `json:"directory"`
	By  string `json:"by"` // the path of the [ExcludeFile], which need not be there any more
}

// IsThere reports whether the file that excludes the directory is there.
func (e *Exclusion) IsThere() bool {
	_, err := os.Lstat(e.By)
	return err == nil
}

// MemoryError is the error for what is remembered of exclusions and cannot be read.
type MemoryError struct {
	Path string
	Err  error
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("reading what was excluded: %s: %v; to go on, remove it, and exclude again what it was about", e.Path, e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

const (
	extension = ".json"
	// maxExclusion bounds the file of an exclusion, and maxDir the path of its directory, which
	// may be a recorded one.
	maxExclusion, maxDir = 64 << 10, 4 << 10
)

// OpenMemory returns what is remembered in a directory, which need not be there. The error is
// a [*MemoryError]: what cannot be read excludes something that nobody knows.
func OpenMemory(dir string) (*Memory, error) {
	m := &Memory{dir: dir}
	entries, err := readDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &MemoryError{dir, err}
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != extension || safefile.Temporary(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		e, err := readExclusion(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // taken back meanwhile
		}
		if err != nil {
			return nil, &MemoryError{path, err}
		}
		m.all = append(m.all, e)
	}
	m.sort()
	return m, nil
}

func (m *Memory) sort() {
	slices.SortFunc(m.all, func(a, b Exclusion) int { return strings.Compare(a.Dir, b.Dir) })
}

func readExclusion(path string) (e Exclusion, err error) {
	data, err := safefile.Read(path, maxExclusion)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err == nil && !filepath.IsAbs(e.Dir) {
		err = errors.New("it names no absolute path of a directory")
	}
	return e, err
}

// path returns that of the file of an exclusion.
func (m *Memory) path(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16])+extension)
}

// Exclusions returns what is remembered, in the order of the directories.
func (m *Memory) Exclusions() []Exclusion {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// Err returns the first error for which something that is excluded was not kept: it is
// excluded for as long as its file is there.
func (m *Memory) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unfit
}

// holds returns the exclusion of one of some directories, if any is.
func (m *Memory) holds(dirs ...string) (Exclusion, bool) {
	if m == nil {
		return Exclusion{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.all {
		if slices.ContainsFunc(dirs, func(dir string) bool { return below(e.Dir, dir) }) {
			return e, true
		}
	}
	return Exclusion{}, false
}

// add remembers that directories are excluded by a file.
func (m *Memory) add(by string, dirs []string) {
	for _, dir := range dirs {
		if _, ok := m.holds(dir); !ok && len(dir) <= maxDir {
			m.addOne(Exclusion{Dir: dir, By: by})
		}
	}
}

func (m *Memory) addOne(e Exclusion) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, e)
	m.sort()
	data, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = os.MkdirAll(m.dir, 0o700)
	}
	if err == nil {
		err = safefile.Write(m.path(e.Dir), append(data, '\n'), 0o600)
	}
	if m.unfit == nil {
		m.unfit = err
	}
}

// NotRememberedError is the error for a directory that is not remembered as excluded.
type NotRememberedError struct {
	Dir string
	// By is what excludes it all the same: a directory above it, which is remembered. It is
	// empty where there is none.
	By string
}

func (e *NotRememberedError) Error() string {
	if e.By != "" {
		return fmt.Sprintf("%s is remembered as excluded with %s", e.Dir, e.By)
	}
	return e.Dir + " is not remembered as excluded"
}

// StillError is the error for a directory that an [ExcludeFile] excludes, which is there.
type StillError struct{ Exclusion }

func (e *StillError) Error() string { return fmt.Sprintf("%s is excluded by %s", e.Dir, e.By) }

// Forget takes back the exclusion of a directory, as it is written or with the links followed.
// The error is a [*NotRememberedError] or a [*StillError] where nothing was to be taken back.
func (m *Memory) Forget(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real := resolve(abs)
	if file := excludedByFile(real, identify(real)); file != "" {
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
			missing.By = e.Dir
		}
		left = append(left, e)
	}
	if len(left) == len(m.all) {
		return missing
	}
	m.all = left
	return nil
}
