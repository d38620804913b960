// Package chatgpt reads the conversations in databases that exports of ChatGPT were
// turned into: SQLite with a table of conversations and one of messages, as ChatGPT
// Browser writes it and the original conversation_search reads it.
//
// It is a reader. It never creates, changes or locks anything, and takes a database only
// from the environment or from its user's settings: one that is found in a project may be
// anybody's. From there, out of the directory "db", it takes one where it is told to.
package chatgpt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
)

// Name is the name of this kind of store.
const Name = "chatgpt"

// IDs returns what ids are: "chatgpt-" and the id of a conversation.
func IDs() *history.IDs { return messagedb.IDs("chatgpt-") }

// Variables are those of the environment that name databases, several as in PATH. The
// first that is not empty counts.
func Variables() []string { return []string{"CONVERSATION_DB", "ORIGIN_CONVERSATION_DB"} }

// MissingError is the error for a database that the environment names and that does not
// exist.
type MissingError struct{ Variable, Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s names %s, which does not exist", e.Variable, e.Path)
}

// Unwrap returns [fs.ErrNotExist].
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// ForeignError is the error for a file that is no database of conversations.
type ForeignError struct{ Lacks string }

func (e *ForeignError) Error() string {
	return "it is no database of a ChatGPT export: it has no " + e.Lacks
}

// ForModel is what a model is told.
func (e *ForeignError) ForModel() string { return e.Error() }

// Home returns the first database that the environment names, or "".
func Home(getenv func(string) string) string {
	_, paths := named(getenv)
	if len(paths) == 0 {
		return ""
	}
	return paths[0]
}

// named returns the variable of the environment that names databases, and their paths. A
// server names none of them.
func named(getenv func(string) string) (variable string, paths []string) {
	for _, variable := range Variables() {
		value := getenv(variable)
		if strings.TrimSpace(value) == "" {
			continue
		}
		if messagedb.IsURL(value) {
			return variable, nil
		}
		for _, path := range filepath.SplitList(value) {
			if path == "" {
				continue
			}
			if expanded, ok := config.Expand(path, config.Home(getenv)); ok {
				path = expanded
			}
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
		return variable, paths
	}
	return "", nil
}

// databaseDir is the directory of a project that has databases, and extension what their
// names end with.
const databaseDir, extension = "db", ".db"

// Open returns the store, and false where there is no database. A home is a database, or a
// directory of databases, of which the newest counts.
func Open(o store.Options) (*messagedb.Store, bool) {
	variable, paths := named(o.Env())
	if o.Home != "" {
		variable, paths = "", []string{o.Home}
		if _, err := os.Stat(o.Home); errors.Is(err, fs.ErrNotExist) {
			return nil, false
		}
	}
	switch {
	case len(paths) > 0:
		return newStore(paths[0], func() ([]messagedb.Database, []store.Problem) { return databases(variable, paths) }), true
	case variable != "" || o.Project.Excluded().By != "":
		return nil, false
	}
	for _, dir := range o.Project.Dirs() {
		f := &folder{filepath.Join(dir, databaseDir), func() (*os.Root, error) { return config.OpenDir(dir, databaseDir, o.Env()) }}
		name, err := f.newest()
		switch {
		case o.ProjectDatabases && (name != "" || err != nil && !errors.Is(err, fs.ErrNotExist)): // who reads it is told
			return newStore(f.path, func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{f.database()}, nil }), true
		case !o.ProjectDatabases && name != "":
			unnamed := store.Problem{
				Source: Name, Kind: store.Unnamed, File: databaseDir + "/" + name, Path: filepath.Join(f.path, name), Err: &UnnamedError{},
			}
			return newStore(f.path, func() ([]messagedb.Database, []store.Problem) { return nil, []store.Problem{unnamed} }), true
		}
	}
	return nil, false
}

func newStore(place string, databases func() ([]messagedb.Database, []store.Problem)) *messagedb.Store {
	return &messagedb.Store{IDs: IDs(), Kind: Name, Path: place, Databases: databases}
}

// databases returns the databases at paths that a variable of the environment names, or else a
// home, and those that do not exist.
func databases(variable string, paths []string) (all []messagedb.Database, problems []store.Problem) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, store.Problem{Path: path, Err: &MissingError{variable, path}})
		case variable == "" && err == nil && info.IsDir():
			f := &folder{path, func() (*os.Root, error) { return safefile.OpenDir(path) }}
			all = append(all, f.database())
		default:
			all = append(all, messagedb.File(path, describe))
		}
	}
	return all, problems
}

// UnnamedError is the error for a database in a project that its user has not named.
type UnnamedError struct{}

func (e *UnnamedError) Error() string {
	return "a database in a project is read only where its user names it: set " + Variables()[0] + " to its path, or import it"
}

// ForModel is what a model is told.
func (e *UnnamedError) ForModel() string { return e.Error() }

// folder is a directory of databases.
type folder struct {
	path string
	open func() (*os.Root, error)
}

// database returns the newest database of an export in the directory.
func (f *folder) database() messagedb.Database {
	name, err := f.newest()
	if err == nil && name != "" {
		return messagedb.File(filepath.Join(f.path, name), describe)
	}
	return messagedb.Database{
		Path:    f.path,
		Version: func(context.Context) (string, error) { return "", err },
		Open:    func(context.Context) (*messagedb.DB, error) { return nil, cmp.Or(err, messagedb.ErrAbsent) },
	}
}

// newest returns the name of the newest database of an export in the directory; "" where there is none.
func (f *folder) newest() (string, error) {
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	const most = 100 // that are looked at
	modified := map[string]time.Time{}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if info, err := root.Stat(e.Name()); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), extension) && len(modified) < most {
			modified[e.Name()] = info.ModTime()
		}
	}
	names := slices.SortedFunc(maps.Keys(modified), func(a, b string) int {
		return cmp.Or(modified[b].Compare(modified[a]), strings.Compare(b, a))
	})
	if i := slices.IndexFunc(names, func(name string) bool { return isExport(root, name) }); i >= 0 {
		return names[i], nil
	}
	return "", err
}

// isExport reports whether a file is a database that seems to be one of an export. It is not
// opened as one: only its beginning is looked at.
func isExport(root *os.Root, name string) bool {
	const most = 1 << 20
	begins := func(name string) []byte {
		f, info, err := safefile.OpenIn(root, name)
		if err != nil {
			return nil
		}
		defer f.Close()
		data := make([]byte, min(info.Size(), most))
		n, _ := f.ReadAt(data, 0) // as much as there is
		return bytes.ToLower(data[:n])
	}
	const column = "conversation_id" // of a table of messages
	data := begins(name)
	return bytes.HasPrefix(data, []byte("sqlite format 3\x00")) &&
		(bytes.Contains(data, []byte(column)) || bytes.Contains(begins(name+"-wal"), []byte(column)))
}
