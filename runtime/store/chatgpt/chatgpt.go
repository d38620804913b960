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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "chatgpt"

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "chatgpt-"

// Variables are those of the environment that name databases, several as in PATH. The
// first that is not empty counts.
func Variables() []string { return []string{"CONVERSATION_DB", "ORIGIN_CONVERSATION_DB"} }

// ParseID reads an id: "chatgpt-" and the id of a conversation. The error is a
// [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return messagedb.ParseID(IDPrefix, text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return messagedb.Claims(IDPrefix, text) }

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
		if !isThere(o.Home) {
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
		f := &folder{path: filepath.Join(dir, databaseDir), open: func() (*os.Root, error) { return config.OpenDir(dir, databaseDir, o.Env()) }}
		root, err := f.open()
		if err != nil {
			if o.ProjectDatabases && !errors.Is(err, fs.ErrNotExist) {
				return newStore(f.path, f.databases), true // who reads it is told
			}
			continue
		}
		newest := candidates(root)
		export := slices.IndexFunc(newest, func(c candidate) bool { return isExport(root, c.name) })
		root.Close()
		switch {
		case o.ProjectDatabases && len(newest) > 0:
			return newStore(f.path, f.databases), true
		case !o.ProjectDatabases && export >= 0:
			name := newest[export].name
			return newStore(f.path, func() ([]messagedb.Database, []store.Problem) {
				return nil, []store.Problem{{
					Source: Name, Kind: store.Unnamed, File: databaseDir + "/" + name, Path: filepath.Join(f.path, name), Err: &UnnamedError{},
				}}
			}), true
		}
	}
	return nil, false
}

func newStore(place string, databases func() ([]messagedb.Database, []store.Problem)) *messagedb.Store {
	return messagedb.New(messagedb.Options{Name: Name, Prefix: IDPrefix, Place: place, Databases: databases})
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
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
			f := &folder{path: path, open: func() (*os.Root, error) { return safefile.OpenDir(path) }}
			more, _ := f.databases()
			all = append(all, more...)
		default:
			all = append(all, messagedb.Database{
				Path:    path,
				Version: func(context.Context) (string, error) { return sqlitefile.Version(path) },
				Open: func(ctx context.Context) (*messagedb.DB, error) {
					db, err := sqlitefile.OpenPath(ctx, path)
					return describe(ctx, db, err)
				},
			})
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

// folder is a directory of databases, of which the newest counts.
type folder struct {
	path string
	open func() (*os.Root, error)
}

func (f *folder) databases() ([]messagedb.Database, []store.Problem) {
	return []messagedb.Database{{Path: f.path, Version: f.version, Open: f.newest}}, nil
}

// candidate is a file that may be a database.
type candidate struct {
	name     string
	modified time.Time
}

// maxCandidates bounds how many files of a directory are looked at.
const maxCandidates = 100

// candidates returns the files of a directory that may be databases, the newest first.
func candidates(root *os.Root) []candidate {
	var found []candidate
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) || len(found) == maxCandidates {
			continue
		}
		if info, err := root.Stat(e.Name()); err == nil && info.Mode().IsRegular() {
			found = append(found, candidate{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(b.modified.Compare(a.modified), strings.Compare(b.name, a.name))
	})
	return found
}

// newest opens the newest database of conversations in a directory. What is another
// program's is none.
func (f *folder) newest(ctx context.Context) (*messagedb.DB, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, c := range candidates(root) {
		opened, err := sqlitefile.Open(ctx, root, c.name)
		db, err := describe(ctx, opened, err)
		var foreign *ForeignError
		switch {
		case errors.As(err, &foreign), errors.Is(err, sqlitefile.ErrNotDatabase):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", c.name, err)
		default:
			return db, nil
		}
	}
	return nil, messagedb.ErrAbsent
}

// version returns a text that is another one when one of the databases has changed.
func (f *folder) version(context.Context) (string, error) {
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	var b strings.Builder
	for _, c := range candidates(root) {
		version, err := sqlitefile.Version(filepath.Join(root.Name(), c.name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n", c.name, version)
	}
	return b.String(), nil
}
