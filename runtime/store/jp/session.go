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
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// The two stores of a workspace, as indexes.
const (
	projectStore = iota
	userStore
	numStores
)

const (
	conversationsDir = "conversations"
	liveDir          = "." // in it
	archiveDir       = ".archive"
)

// The files of a conversation.
const (
	MetadataFile   = "metadata.json"
	EventsFile     = "events.json"
	BaseConfigFile = "base_config.json"
)

func files() []string { return []string{MetadataFile, EventsFile, BaseConfigFile} }

var errVanished = errors.New("its directory is renamed or removed again and again")

// session is the opened stores of a workspace.
type session struct {
	w      *Workspace
	stores [numStores]opened
}

// opened is the directory of conversations of a store.
type opened struct {
	path string
	root *os.Root // nil if it does not exist or cannot be opened
}

// open opens the stores that exist, and returns a problem for each that cannot be opened. If none can be opened and one
// exists, it returns an error instead.
func (w *Workspace) open() (*session, []store.Problem, error) {
	s := &session{w: w}
	var problems []store.Problem
	var failed error
	add := func(i int, path string, root *os.Root, err error) {
		s.stores[i] = opened{path: path, root: root}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		failed = err
		problem := store.Problem{Path: path, Err: fmt.Errorf("the store cannot be opened: %w", history.Reason(err))}
		if _, isOutside := errors.AsType[*config.OutsideError](err); isOutside {
			problem.Kind = store.Outside
		}
		problems = append(problems, problem)
	}
	root, err := config.OpenDir(w.root, storageDir+"/"+conversationsDir, w.getenv)
	add(projectStore, filepath.Join(w.root, storageDir, conversationsDir), root, err)
	if w.user != "" {
		dir := filepath.Join(w.user, conversationsDir)
		root, err := safefile.OpenDir(dir)
		add(userStore, dir, root, err)
	}
	if failed != nil && s.stores[projectStore].root == nil && s.stores[userStore].root == nil {
		return nil, nil, fmt.Errorf("opening the conversations of %s: %w", w.root, failed)
	}
	return s, problems, nil
}

// Close closes the stores.
func (s *session) Close() {
	for _, o := range s.stores {
		if o.root != nil {
			o.root.Close()
		}
	}
}

// path returns the full path of a name in a store, for messages.
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

// read returns the content of a file in a store. The error names the file, unless it is [fs.ErrNotExist].
func (s *session) read(i int, name string, max int64) ([]byte, error) {
	if s.w.beforeRead != nil {
		s.w.beforeRead(s.path(i, name))
	}
	data, err := safefile.ReadIn(s.stores[i].root, name, max)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	return nil, fmt.Errorf("%s: %w", path.Base(name), history.Reason(err))
}

// readDir returns the entries of a directory in a store, in no order; none if it does not exist.
func (s *session) readDir(i int, name string) ([]fs.DirEntry, error) {
	if s.stores[i].root == nil {
		return nil, nil
	}
	entries, err := safefile.ReadDirIn(s.stores[i].root, name, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, history.Reason(err)
}
