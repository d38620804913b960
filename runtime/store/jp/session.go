package jp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
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
)

// The files that JP keeps of a conversation.
const (
	MetadataFile   = "metadata.json"
	EventsFile     = "events.json"
	BaseConfigFile = "base_config.json"
)

var errVanished = errors.New("its directory is renamed or removed again and again")

// session is the opened stores of a workspace.
type session struct {
	w      *Workspace
	stores [numStores]opened
}

// opened is the directory of conversations of a store.
type opened struct {
	path string
	root *os.Root // nil where there is none
	dir  *os.File // the same; nil where it cannot be opened twice
}

// open opens the stores, and returns what of them cannot be. It fails where there are stores, and
// none can be opened.
func (w *Workspace) open() (*session, []store.Problem, error) {
	s := &session{w: w}
	var unopened []store.Problem
	var failed error
	open := func(i int, path string, open func() (*os.Root, error)) {
		root, err := open()
		s.stores[i] = opened{path: path, root: root}
		switch {
		case err == nil:
			s.stores[i].dir, _ = root.Open(".")
		case !errors.Is(err, fs.ErrNotExist):
			failed = errors.Join(failed, err)
			problem := store.Problem{Path: path, Err: fmt.Errorf("the store cannot be opened: %w", reason(err))}
			var outside *config.OutsideError
			if errors.As(err, &outside) {
				problem.Kind = store.Outside
			}
			unopened = append(unopened, problem)
		}
	}
	open(projectStore, filepath.Join(w.root, storageDir, conversationsDir), func() (*os.Root, error) {
		return config.OpenDir(w.root, storageDir+"/"+conversationsDir, w.getenv)
	})
	if w.user != "" {
		dir := filepath.Join(w.user, conversationsDir)
		open(userStore, dir, func() (*os.Root, error) { return safefile.OpenDir(dir) })
	}
	if failed != nil && s.stores[projectStore].root == nil && s.stores[userStore].root == nil {
		return nil, nil, fmt.Errorf("opening the conversations of %s: %w", w.root, failed)
	}
	return s, unopened, nil
}

// Close closes the stores.
func (s *session) Close() {
	for _, o := range s.stores {
		if o.root != nil {
			o.root.Close()
		}
		if o.dir != nil {
			o.dir.Close()
		}
	}
}

// path returns the full path of what is in a store, for messages.
func (s *session) path(i int, name string) string {
	return filepath.Join(s.stores[i].path, filepath.FromSlash(name))
}

func (s *session) exists(i int, name string) bool {
	if s.stores[i].root == nil {
		return false
	}
	_, err := s.stores[i].root.Lstat(name)
	return err == nil
}

// read reads a file in a store, of at most max bytes. It neither waits for the other
// end of a FIFO nor follows a link out of the store.
func (s *session) read(i int, name string, max int64) ([]byte, error) {
	if s.w.beforeRead != nil {
		s.w.beforeRead(s.path(i, name))
	}
	data, err := safefile.ReadIn(s.stores[i].root, name, max)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	return nil, fmt.Errorf("%s: %w", path.Base(name), reason(err))
}

// readDir returns the entries of a directory in a store in no particular order, and
// none when it does not exist.
func (s *session) readDir(i int, name string) ([]fs.DirEntry, error) {
	root := s.stores[i].root
	if root == nil {
		return nil, nil
	}
	entries, err := safefile.ReadDirIn(root, name, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, reason(err)
}

// reason returns the cause of an error without the path, which messages name
// themselves.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
