// Package jp reads and changes the conversations of a JP workspace on disk: it
// finds the workspace, pairs the store in the project with the store in the user's
// data directory, decides which copy of a conversation counts, and reads its events.
// A [Writer] changes conversations beside a running JP.
//
// Reading never creates, changes, renames, locks or removes anything, not even to
// repair what it finds. Nothing here follows a link out of a store, or opens
// anything but regular files and directories. Nothing recorded in a store chooses a
// path outside it, and the project's files choose none outside of the project that
// its user does not trust.
package jp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// Options says where to look for a workspace.
type Options struct {
	// Dir is where the search for a .jp directory starts; it goes upwards from
	// there. Empty means the working directory of the process. A name that is no
	// existing path, but has the form of a workspace id, is looked up in the user
	// data directory.
	Dir string
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// Cache has what is known of files; nil for nothing.
	Cache *filecache.Shelf
}

// Workspace is a JP workspace, as a [store.Store]. It holds no open files and is
// safe for concurrent use.
type Workspace struct {
	root   string
	id     string
	user   string
	others []string // user stores of its id that JP has on record for other directories
	getenv func(string) string
	cache  *filecache.Book

	maxEvents int64
	// beforeRead, when not nil, runs before a file of a conversation is opened:
	// the moment in which a writer may rename the directory.
	beforeRead func(path string)
}

// Open finds the workspace. The error is a [*store.NoWorkspaceError] where there
// is none.
func Open(opts Options) (*Workspace, error) {
	getenv := (&store.Options{Getenv: opts.Getenv}).Env()
	userData := userDataDir(getenv, runtime.GOOS)
	start, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace: %w", err)
	}
	if _, err := os.Stat(start); errors.Is(err, fs.ErrNotExist) {
		var recorded []string
		if isWorkspaceID(opts.Dir) {
			recorded = recordedIn(silos(userData, opts.Dir))
		}
		if len(recorded) == 0 {
			return nil, &store.NoWorkspaceError{Dir: start, Missing: true}
		}
		start = recorded[0]
	}
	root, ok := findRoot(start)
	if !ok {
		return nil, &store.NoWorkspaceError{Dir: start}
	}
	w := &Workspace{root: root, getenv: getenv, cache: opts.Cache.Of(Name, root), maxEvents: MaxEventsSize}
	if w.id = readID(filepath.Join(root, storageDir)); w.id != "" {
		w.user, w.others = chooseSilo(userData, root, w.id)
	}
	return w, nil
}

// All finds the workspace, where there is one, and those that the user data directory
// knows of and that are still there, each once and in the order of their roots.
func All(opts Options) []*Workspace {
	getenv := (&store.Options{Getenv: opts.Getenv}).Env()
	found := map[string]*Workspace{}
	for _, dir := range append(recordedIn(silos(userDataDir(getenv, runtime.GOOS), "")), opts.Dir) {
		opts.Dir = dir
		if w, err := Open(opts); err == nil {
			found[w.root] = w
		}
	}
	var all []*Workspace
	for _, root := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[root])
	}
	return all
}

// Root returns the absolute path of the directory that holds .jp.
func (w *Workspace) Root() string { return w.root }

// ID returns the workspace id, or "" when the workspace has none or an invalid
// one; there is no user store then.
func (w *Workspace) ID() string { return w.id }

// UserStore returns the path of the store in the user data directory, or "" when
// there is none that JP has on record for this workspace.
func (w *Workspace) UserStore() string { return w.user }

// Remarks returns sentences for people on what is no problem.
func (w *Workspace) Remarks(context.Context) []string {
	if w.user != "" || len(w.others) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("local conversations with the id of the workspace %s are not read: JP has %s on record for another directory; run jp here once if they are of this project", w.root, w.others[0])}
}

// Name is the name of this kind of store.
const Name = "jp"

// Name implements [store.Store].
func (w *Workspace) Name() string { return Name }

// Version implements [store.Store].
func (w *Workspace) Version(context.Context) (string, error) { return "", nil }

// Place implements [store.Store].
func (w *Workspace) Place() string { return w.root }

// ParseID implements [store.Store].
func (w *Workspace) ParseID(text string) (transcript.ID, error) { return ParseID(text) }

// storageDir is the name of the store inside a project.
const storageDir = ".jp"

// findRoot returns the nearest directory at or above start that has a .jp
// directory; a file of that name does not count.
func findRoot(start string) (string, bool) {
	for dir := start; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, storageDir)); err == nil && info.IsDir() {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// readID returns the workspace id, which is the last line of the .id file, or ""
// when there is no valid one. JP would write a new id then; a reader does not.
func readID(storage string) string {
	const maxSize = 4096
	root, err := safefile.OpenDir(storage)
	if err != nil {
		return ""
	}
	defer root.Close()
	data, _ := safefile.ReadIn(root, ".id", maxSize)
	text := strings.TrimRight(string(data), "\r\n")
	id := text[strings.LastIndexByte(text, '\n')+1:]
	if !isWorkspaceID(id) {
		return ""
	}
	return id
}

// isWorkspaceID reports whether s has the form of a workspace id: five
// characters of [0-9a-z].
func isWorkspaceID(s string) bool { return len(s) == 5 && strings.Trim(s, idChars) == "" }
