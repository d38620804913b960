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
	"database/sql"
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
	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
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
		if name == "" && (!o.ProjectDatabases || err == nil || errors.Is(err, fs.ErrNotExist)) {
			continue
		}
		return newStore(f.path, func() ([]messagedb.Database, []store.Problem) {
			if o.ProjectDatabases { // who reads it is told of an error
				return []messagedb.Database{f.database()}, nil
			}
			return nil, []store.Problem{{
				Source: Name, Kind: store.Unnamed, File: databaseDir + "/" + name, Path: filepath.Join(f.path, name), Err: &UnnamedError{},
			}}
		}), true
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

// columns are the names of the columns of a table or view, in lower case. It is nil where
// there is none.
type columns []string

// column returns an expression for a column that need not be there. It has no declared
// type, by which a driver would change what is recorded.
func (c columns) column(name string) string {
	if slices.Contains(c, name) {
		return "+" + name
	}
	return "NULL"
}

// ComputedError is the error for a database that computes what its tables have: it would run what
// whoever wrote it wants.
type ComputedError struct{ What string }

func (e *ComputedError) Error() string { return e.What + " is no plain table, and only those are read" }

// ForModel is what a model is told.
func (e *ComputedError) ForModel() string { return e.Error() }

// tablesOf returns the columns of the two tables.
func tablesOf(ctx context.Context, db *sqlitefile.DB) (map[string]columns, error) {
	const names = "('conversations', 'messages')"
	computed := ""
	err := db.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&computed) },
		"SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type <> 'table' AND lower(name) IN "+names)
	if err != nil || computed != "" { // looking at the columns of a view could take any time
		return nil, cmp.Or(err, error(&ComputedError{What: computed}))
	}
	tables := map[string]columns{}
	err = db.Each(ctx, func(rows *sql.Rows) error {
		var table, column string
		var hidden bool
		err := rows.Scan(&table, &column, &hidden)
		tables[table] = append(tables[table], column)
		if hidden {
			return &ComputedError{What: table + "." + column}
		}
		return err
	}, "SELECT lower(s.name), lower(c.name), c.hidden <> 0 FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type = 'table' AND lower(s.name) IN "+names)
	return tables, err
}

// describe finds out how a database is read.
func describe(ctx context.Context, db *sqlitefile.DB) (*messagedb.DB, error) {
	tables, err := tablesOf(ctx, db)
	if err != nil {
		return nil, err
	}
	conversations, messages := tables["conversations"], tables["messages"]
	for _, name := range []string{"conversation_id", "content"} {
		if !slices.Contains(messages, name) {
			return nil, &ForeignError{Lacks: "messages." + name}
		}
	}
	var order []string
	switch {
	case slices.Contains(messages, "position"):
		order = []string{"position"}
	case slices.Contains(messages, "create_time"):
		order = []string{"CAST(create_time AS REAL)", "create_time"} // times in text are not in the order of the text
	}
	// Some tables have no rowid.
	place := "NULL"
	if hasRows := db.Each(ctx, func(*sql.Rows) error { return nil }, "SELECT rowid FROM messages LIMIT 0"); hasRows == nil && !slices.Contains(messages, "rowid") {
		order = append(order, "rowid")
		place = "min(rowid)"
	}
	form := &messagedb.DB{Queries: db, Read: read, Stamp: db.Stamp}
	form.Messages = fmt.Sprintf(`SELECT CAST(%s AS TEXT), NULL, %s, coalesce(octet_length(content), 0), CASE WHEN octet_length(content) <= %d THEN CAST(content AS TEXT) END
		FROM messages WHERE conversation_id IS ?1`, messages.column("role"), messages.column("create_time"), messagedb.MaxMessage)
	if len(order) > 0 {
		form.Messages += " ORDER BY " + strings.Join(order, ", ")
	}
	form.Conversations, form.Conversation = listOf(conversations, place)
	return form, ctx.Err()
}

// listOf returns the queries for the conversations that have a row or messages: for all, and for
// one. place is the expression for where the messages begin.
func listOf(conversations columns, place string) (all, one string) {
	const noRow = "NULL, NULL, NULL, FALSE, NULL, NULL"
	all = fmt.Sprintf("WITH m AS MATERIALIZED (SELECT conversation_id AS k, %s AS first FROM messages GROUP BY conversation_id) ", place)
	one = "SELECT conversation_id, " + noRow + ", NULL, NULL FROM (SELECT conversation_id FROM messages WHERE conversation_id IS ?1 LIMIT 1)"
	const first = ", m.first, NULL FROM "
	if !slices.Contains(conversations, "id") {
		return all + "SELECT m.k, " + noRow + first + "m", one
	}
	row := fmt.Sprintf("SELECT +c.id, substr(CAST(%s AS TEXT), 1, %d), %s, %s, FALSE, NULL, NULL",
		conversations.column("title"), messagedb.MaxText, conversations.column("create_time"), conversations.column("update_time"))
	all += row + first + "conversations AS c LEFT JOIN m ON m.k = c.id UNION ALL SELECT m.k, " + noRow + first +
		"m LEFT JOIN conversations AS c ON c.id = m.k WHERE c.id IS NULL"
	return all, row + ", NULL, NULL FROM conversations AS c WHERE id IS ?1 UNION ALL " + one
}

// read reads a message. That of a role that is not known has it as its name.
func read(role, _, content []byte) (kind transcript.Kind, name string, text []byte) {
	kind = transcript.KindSystem
	switch string(role) {
	case "user":
		kind = transcript.KindUser
	case "assistant":
		kind = transcript.KindAssistant
	case "tool":
		kind = transcript.KindToolResult
	case "system":
	default:
		name = string(transcript.AppendValid(nil, role))
		if strings.TrimSpace(name) == "" {
			name = "unknown"
		}
	}
	if string(content) == "null" { // which the exporter writes for no parts
		return kind, name, nil
	}
	if parts, ok := chatgptcontent.Parts(content); ok {
		return kind, name, parts
	}
	return kind, name, transcript.AppendValid(nil, content)
}
