package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// home is the opened home directory, and the directories of rollouts in it. Names in it
// have slashes.
type home struct {
	root *os.Root
	dirs map[string]*history.Root // of rollouts, as far as they can be opened
	errs map[string]error         // why one cannot
}

func openHome(dir string, book *filecache.Book) (*home, error) {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	h := &home{root: root, dirs: map[string]*history.Root{}, errs: map[string]error{}}
	for _, name := range []string{sessionsDir, archiveDir} {
		if opened, err := history.OpenRoot(filepath.Join(dir, name), book); err != nil {
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
func (h *home) within(name string) (*history.Root, string, error) {
	dir, rest, found := strings.Cut(name, "/")
	if !found {
		rest = "."
	}
	if err := h.errs[dir]; err != nil {
		return nil, "", err
	}
	return h.dirs[dir], rest, nil
}

// stamp returns the stamp of a rollout, as far as there is one.
func (h *home) stamp(name string) filecache.Stamp {
	root, name, err := h.within(name)
	if err != nil {
		return filecache.Stamp{}
	}
	stamp, _ := root.Stamp(name) // without one it is read
	return stamp
}

// open opens a file of rollouts.
func (h *home) open(name string) (*os.File, fs.FileInfo, error) {
	root, name, err := h.within(name)
	if err != nil {
		return nil, nil, err
	}
	return safefile.OpenIn(root.Root, name)
}
