package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// home is the opened home directory, and the directories of rollouts in it. Names in it
// have slashes.
type home struct {
	root *os.Root
	dirs map[string]*os.Root // of rollouts, as far as they can be opened
	errs map[string]error    // why one cannot
}

func openHome(dir string) (*home, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	h := &home{root: root, dirs: map[string]*os.Root{}, errs: map[string]error{}}
	for _, name := range []string{sessionsDir, archiveDir} {
		if opened, err := os.OpenRoot(filepath.Join(dir, name)); err != nil {
			h.errs[name] = err
		} else {
			h.dirs[name] = opened
		}
	}
	return h, nil
}

func (h *home) close() {
	h.root.Close()
	for _, root := range h.dirs {
		root.Close()
	}
}

// within returns the root that a name of a rollout, or of a directory of rollouts, lies
// in, and its name there.
func (h *home) within(name string) (*os.Root, string, error) {
	dir, rest, found := strings.Cut(name, "/")
	if !found {
		rest = "."
	}
	if err := h.errs[dir]; err != nil {
		return nil, "", err
	}
	return h.dirs[dir], rest, nil
}

// An opener opens a rollout.
type opener func(name string) (*os.File, fs.FileInfo, error)

// open is an [opener].
func (h *home) open(name string) (*os.File, fs.FileInfo, error) {
	root, name, err := h.within(name)
	if err != nil {
		return nil, nil, err
	}
	return safefile.OpenIn(root, name)
}

// readDir returns what is in a directory of rollouts, or in one below it.
func (h *home) readDir(name string) ([]fs.DirEntry, error) {
	root, name, err := h.within(name)
	if err != nil {
		return nil, err
	}
	return safefile.ReadDirIn(root, name)
}

// series opens rollouts, one after the other, as [safefile.Series] does. It is closed
// after use.
type series struct {
	home *home
	dirs map[string]*safefile.Series
}

func (h *home) series() *series { return &series{home: h, dirs: map[string]*safefile.Series{}} }

// open is an [opener].
func (s *series) open(name string) (*os.File, fs.FileInfo, error) {
	root, rest, err := s.home.within(name)
	if err != nil {
		return nil, nil, err
	}
	dir, _, _ := strings.Cut(name, "/")
	if s.dirs[dir] == nil {
		s.dirs[dir] = safefile.NewSeries(root)
	}
	return s.dirs[dir].Open(rest)
}

func (s *series) close() {
	for _, files := range s.dirs {
		files.Close()
	}
}
