package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// The two stores of a workspace, as indexes.
const (
	projectStore = iota
	userStore
	numStores
)

const (
	conversationsDir = "conversations"
	archiveDir       = ".archive"
	metadataFile     = "metadata.json"
	eventsFile       = "events.json"
	baseConfigFile   = "base_config.json"
)

// stores are the opened conversations directories of a workspace. A store that
// does not exist is nil.
type stores struct {
	roots [numStores]*os.Root
	paths [numStores]string

	readDir func(root *os.Root, name string) ([]fs.DirEntry, error)
}

// openStores opens what there is. An error for one store is returned as skipped
// when the other could be opened.
func (w *Workspace) openStores() (*stores, []Skipped, error) {
	s := &stores{readDir: w.readDir, paths: [numStores]string{
		projectStore: filepath.Join(w.root, storageDir, conversationsDir),
	}}
	if w.user != "" {
		s.paths[userStore] = filepath.Join(w.user, conversationsDir)
	}
	var failed []Skipped
	var errs []error
	for i, dir := range s.paths {
		if dir == "" {
			continue
		}
		root, err := openDir(dir)
		switch {
		case err == nil:
			s.roots[i] = root
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
			failed = append(failed, Skipped{Path: dir, Reason: "the store cannot be opened: " + reason(err)})
		}
	}
	if len(errs) > 0 && s.roots[projectStore] == nil && s.roots[userStore] == nil {
		return nil, nil, fmt.Errorf("opening the conversations of %s: %w", w.root, errors.Join(errs...))
	}
	return s, failed, nil
}

// openDir opens a directory as a root. It looks first, because opening something
// else, such as a FIFO, could block.
func openDir(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotDirectory
	}
	return os.OpenRoot(dir)
}

func (s *stores) close() {
	for _, root := range s.roots {
		if root != nil {
			root.Close()
		}
	}
}

// place is where the copies of one conversation are: a path inside the
// conversations directory of each store, "" where there is none. At least one
// store has a copy.
type place struct {
	id       transcript.ID
	archived bool
	dirs     [numStores]string
}

// locality tells which stores hold the conversation.
func (p *place) locality() Locality {
	switch {
	case p.dirs[userStore] == "":
		return LocalityExternal
	case p.dirs[projectStore] == "":
		return LocalityUser
	}
	return LocalityProjected
}

// pickDuplicate chooses between two directories of one id in one store, as a
// crash while a title changes can leave them: the one whose events are newer,
// else the first name.
func (s *stores) pickDuplicate(store int, first, second string) (kept, dropped string) {
	if s.modTime(store, second, eventsFile).After(s.modTime(store, first, eventsFile)) {
		return second, first
	}
	return first, second
}

// byAge orders the stores that hold a copy: the one with the newer files first,
// the user store when they are equally old. A single copy needs no look at the
// disk.
func (s *stores) byAge(p *place, files ...string) []int {
	held := make([]int, 0, numStores)
	for _, store := range []int{userStore, projectStore} {
		if p.dirs[store] != "" {
			held = append(held, store)
		}
	}
	if len(held) < numStores {
		return held
	}
	if s.newest(projectStore, p.dirs[projectStore], files).After(s.newest(userStore, p.dirs[userStore], files)) {
		slices.Reverse(held)
	}
	return held
}

func (s *stores) newest(store int, dir string, files []string) time.Time {
	var newest time.Time
	for _, file := range files {
		if t := s.modTime(store, dir, file); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// modTime returns when a file was modified, or the zero time when it is missing.
func (s *stores) modTime(store int, dir, file string) time.Time {
	info, err := s.roots[store].Stat(path.Join(dir, file))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (s *stores) exists(store int, dir string) bool {
	_, err := s.roots[store].Lstat(dir)
	return err == nil
}

// path returns the full path of a directory in a store, for messages.
func (s *stores) path(store int, dir string) string {
	return filepath.Join(s.paths[store], filepath.FromSlash(dir))
}

// readDir returns the entries of a directory inside a store in no particular
// order, and none when it does not exist.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// reason returns the cause of an error without the path, which messages name
// themselves.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
