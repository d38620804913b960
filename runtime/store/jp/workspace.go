// Package jp reads and changes the conversations of a JP workspace on disk. A workspace has a
// store in the project and one in the user's data directory; a conversation may have a copy in
// both, and the newer one counts. A [Writer] changes conversations while JP runs.
//
// Reading never creates, changes, renames, locks or removes anything. The package never follows a link out of a store,
// and opens nothing but regular files and directories. What is recorded chooses no path outside of its store, and the
// files of a project choose none outside of the project, unless its user trusts that.
package jp

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Options says which workspace it is.
type Options struct {
	// Dir is in the workspace: the nearest directory at or above it with a .jp directory is the
	// root. Empty means the working directory of the process. If it does not exist it may be a
	// workspace id, which is looked up in the user's data directory.
	Dir    string
	Getenv func(string) string                       // nil means os.Getenv
	Cache  func(kind, place string) *filecache.Cache // as in [store.Options]
}

// Workspace is a JP workspace, as a [store.Store]. It holds no open files and is safe for concurrent use.
type Workspace struct {
	root   string
	id     string
	user   string
	others []string // user's stores with its id that JP has recorded for other directories
	getenv func(string) string
	cache  *filecache.Cache

	maxEvents int64
	// beforeRead, if not nil, runs before a file of a conversation is opened.
	beforeRead func(path string)
}

// Open finds the workspace that opts.Dir is in. If this directory does not exist, opts.Dir may be a workspace id: then Open
// takes a directory that JP has on record for the id. The error is a [*store.NoWorkspaceError] if there is no workspace.
func Open(opts Options) (*Workspace, error) {
	getenv := (&store.Options{Getenv: opts.Getenv}).Env()
	userData := userDataDir(getenv, runtime.GOOS)
	start, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace: %w", err)
	}
	if _, err := os.Stat(start); errors.Is(err, fs.ErrNotExist) {
		var recorded []string // .jp directories of workspaces with the id
		if isWorkspaceID(opts.Dir) {
			recorded = recordedIn(userStores(userData, opts.Dir)...)
		}
		if len(recorded) == 0 {
			return nil, &store.NoWorkspaceError{Dir: start, Missing: true}
		}
		start = recorded[0]
	}
	root := findRoot(start)
	if root == "" {
		return nil, &store.NoWorkspaceError{Dir: start}
	}
	w := &Workspace{root: root, getenv: getenv, maxEvents: MaxEventsSize}
	if opts.Cache != nil {
		w.cache = opts.Cache(Name, root)
	}
	if w.id = readID(filepath.Join(root, storageDir)); w.id != "" {
		w.user, w.others = chooseUserStore(userData, root, w.id)
	}
	return w, nil
}

// All returns the workspace of the options, if there is one, and the workspaces that JP has
// recorded in the user's data directory and that exist, in the order of their roots.
func All(opts Options) []*Workspace {
	getenv := (&store.Options{Getenv: opts.Getenv}).Env()
	found := map[string]*Workspace{}
	for _, dir := range append(recordedIn(userStores(userDataDir(getenv, runtime.GOOS), "")...), opts.Dir) {
		opts.Dir = dir
		if w, err := Open(opts); err == nil {
			found[w.root] = w
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *Workspace) int { return strings.Compare(a.root, b.root) })
}

// Root returns the absolute path of the directory that has .jp.
func (w *Workspace) Root() string { return w.root }

// ID returns the workspace id, or "" if there is none; there is no user's store then.
func (w *Workspace) ID() string { return w.id }

// Remarks returns a sentence for people if the user's stores with the id of the workspace are all of other directories.
func (w *Workspace) Remarks(context.Context) []string {
	if w.user != "" || len(w.others) == 0 { // the workspace has a user's store, or there are no stores with its id
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

const storageDir = ".jp" // the name of the store in a project

// findRoot returns the nearest directory at or above start with a .jp directory, or "".
func findRoot(start string) string {
	for dir := start; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, storageDir)); err == nil && info.IsDir() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// readID returns the workspace id, the last line of the file .id, or "" if it is not valid.
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

// isWorkspaceID reports whether s has the form of a workspace id: five characters of [0-9a-z].
func isWorkspaceID(s string) bool { return len(s) == 5 && strings.Trim(s, idChars) == "" }

// userDataDir returns JP's directory of the user's data, or "" if the environment names none.
func userDataDir(getenv func(string) string, goos string) string {
	if dir := getenv("JP_USER_DATA_DIR"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "jp")
	}
	switch goos {
	case "windows":
		return cmp.Or(history.Under(getenv("LOCALAPPDATA"), "jp", "data"), history.Under(getenv("USERPROFILE"), "AppData", "Local", "jp", "data"))
	case "darwin":
		return history.Under(getenv("HOME"), "Library", "Application Support", "jp")
	}
	return history.Under(getenv("HOME"), ".local", "share", "jp")
}

// userStores returns the user's stores with a workspace id, or all for an empty id, in the order of their names.
func userStores(userData, id string) (dirs []string) {
	if userData == "" {
		return nil
	}
	parent := filepath.Join(userData, "workspace")
	entries, _ := os.ReadDir(parent) // it may not exist
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if store.IsThere(dir) && (id == "" || strings.HasSuffix("-"+entry.Name(), "-"+id)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// chooseUserStore returns the user's store of the workspace in the directory root, or "" if there is none. A clone has the
// workspace id of its original, so the user's stores with the id may belong to other directories: these are the others. If
// several stores belong to root, because checkouts of the workspace have had different names, chooseUserStore returns the
// store with the name of this checkout, or else the last store. JP merges such stores when it runs.
func chooseUserStore(userData, root, id string) (chosen string, others []string) {
	for _, dir := range userStores(userData, id) {
		belongsToRoot := slices.ContainsFunc(recordedIn(dir), func(storage string) bool { return isOf(storage, root) })
		if !belongsToRoot {
			others = append(others, dir)
			continue
		}
		chosen = dir
		if filepath.Base(dir) == filepath.Base(root)+"-"+id {
			break
		}
	}
	return chosen, others
}

// isOf reports whether a recorded .jp directory is that of a workspace, or of another worktree of its repository.
func isOf(storage, root string) bool {
	dir := filepath.Dir(storage)
	recorded, err := os.Stat(dir)
	if filepath.Base(storage) != storageDir || err != nil {
		return false
	}
	info, err := os.Stat(root)
	isSame := err == nil && os.SameFile(recorded, info)
	return isSame || project.New(project.Options{Dir: root}).Has(dir)
}

// recordedIn returns the .jp directories that JP has recorded in user's stores, as a link or, in newer versions, in files.
func recordedIn(userStores ...string) (storages []string) {
	const maxRoots, maxSize = 1000, 64 << 10
	for _, dir := range userStores {
		if target, err := os.Readlink(filepath.Join(dir, "storage")); err == nil && filepath.IsAbs(target) {
			storages = append(storages, target)
		}
		entries, _ := os.ReadDir(filepath.Join(dir, "roots")) // it may not exist
		for _, entry := range entries[:min(len(entries), maxRoots)] {
			var root struct {
				Path string `json:"path"`
			}
			data, err := safefile.Read(filepath.Join(dir, "roots", entry.Name()), maxSize)
			if err == nil && json.Unmarshal(data, &root) == nil && filepath.IsAbs(root.Path) {
				storages = append(storages, filepath.Join(root.Path, storageDir))
			}
		}
	}
	return storages
}
