package jp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	metadataFile     = "metadata.json"
	eventsFile       = "events.json"
	baseConfigFile   = "base_config.json"
)

// files are the files that JP keeps of a conversation.
func files() []string { return []string{metadataFile, eventsFile, baseConfigFile} }

// session is the opened conversations directories of a workspace. A store that
// does not exist is nil.
type session struct {
	w     *Workspace
	roots [numStores]*os.Root
	dirs  [numStores]*os.File // the same
	paths [numStores]string
}

// Open opens the stores, and returns what of them cannot be. It fails where there are stores, and
// none can be opened.
func (w *Workspace) Open(context.Context) (*session, []store.Problem, error) {
	s := &session{w: w}
	s.paths[projectStore] = filepath.Join(w.root, storageDir, conversationsDir)
	var errs []error
	var unopened []store.Problem
	open := func(i int, open func() (*os.Root, error)) {
		root, err := open()
		switch {
		case err == nil:
			s.roots[i] = root
			s.dirs[i], _ = root.Open(".") // what is known of a file is looked up by it, and else it is read
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
			unopened = append(unopened, store.Problem{
				Kind: kindOf(err), Path: s.paths[i], Err: fmt.Errorf("the store cannot be opened: %w", reason(err)),
			})
		}
	}
	open(projectStore, func() (*os.Root, error) { return config.OpenDir(w.root, storageDir+"/"+conversationsDir, w.getenv) })
	if w.user != "" {
		s.paths[userStore] = filepath.Join(w.user, conversationsDir)
		open(userStore, func() (*os.Root, error) { return safefile.OpenDir(s.paths[userStore]) })
	}
	if len(errs) > 0 && s.roots == [numStores]*os.Root{} {
		return nil, nil, fmt.Errorf("opening the conversations of %s: %w", w.root, errors.Join(errs...))
	}
	return s, unopened, nil
}

func kindOf(err error) store.ProblemKind {
	var outside *config.OutsideError
	switch {
	case errors.As(err, &outside), errors.Is(err, errLeavesStore):
		return store.Outside
	case errors.Is(err, errVanished):
		return store.Vanishing
	}
	return store.Unreadable
}

// Close closes the stores.
func (s *session) Close() {
	for i, root := range s.roots {
		if root != nil {
			root.Close()
		}
		if s.dirs[i] != nil {
			s.dirs[i].Close()
		}
	}
}

// path returns the full path of a directory in a store, for messages.
func (s *session) path(i int, dir string) string {
	return filepath.Join(s.paths[i], filepath.FromSlash(dir))
}
