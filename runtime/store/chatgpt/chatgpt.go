// Package chatgpt reads the conversations in databases that were made of exports of ChatGPT: SQLite with a table of
// conversations and one of messages, as ChatGPT Browser writes it and the original conversation_search reads it.
//
// It only reads: it never creates, changes or locks anything. It takes databases from the environment and
// from the user's settings. A database in the directory "db" of a project can be anybody's, and is read
// only if the options say so.
package chatgpt

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// IDs returns the form of ids: "chatgpt-" and the id of a conversation.
func IDs() *history.IDs { return messagedb.IDs("chatgpt-") }

// Variables returns the environment variables that name databases, several as in PATH. The first that is set counts.
func Variables() []string { return []string{"CONVERSATION_DB", "ORIGIN_CONVERSATION_DB"} }

// MissingError is the error for a database in the environment that does not exist.
type MissingError struct{ Variable, Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s names %s, which does not exist", e.Variable, e.Path)
}

// Unwrap returns [fs.ErrNotExist].
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// Home returns the first database in the environment, or "".
func Home(getenv func(string) string) string {
	if _, paths := fromEnv(getenv); len(paths) > 0 {
		return paths[0]
	}
	return ""
}

// fromEnv returns the environment variable that names databases or a server, or "", and the paths of the databases.
func fromEnv(getenv func(string) string) (variable string, paths []string) {
	i := slices.IndexFunc(Variables(), func(name string) bool { return strings.TrimSpace(getenv(name)) != "" })
	if i < 0 {
		return "", nil
	}
	variable = Variables()[i]
	if messagedb.IsURL(getenv(variable)) { // of a server
		return variable, nil
	}
	for _, path := range filepath.SplitList(getenv(variable)) {
		if expanded, ok := config.Expand(path, config.Home(getenv)); ok {
			path = expanded
		}
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return variable, paths
}

// databaseDir is the directory of a project that has databases, and extension ends their names.
const databaseDir, extension = "db", ".db"

// Open returns the store, and false if there is no database. The home of the options comes first: it is a
// database, or a directory of which the newest database is read. Then come the databases in the environment,
// and then the newest database in the directory "db" of a project that is not excluded.
func Open(o store.Options) (*messagedb.Store, bool) {
	if o.Home != "" {
		info, err := os.Stat(o.Home)
		isDir := err == nil && info.IsDir()
		return newStore(o.Home, func() ([]messagedb.Database, []store.Problem) {
			if isDir {
				return newestIn(o.Home, func() (*os.Root, error) { return safefile.OpenDir(o.Home) })
			}
			return []messagedb.Database{{Path: o.Home}}, nil
		}), !errors.Is(err, fs.ErrNotExist) // reading the store reports any other error
	}
	variable, paths := fromEnv(o.Env())
	if len(paths) > 0 {
		return newStore(paths[0], func() ([]messagedb.Database, []store.Problem) { return existing(variable, paths) }), true
	}
	if variable != "" || o.Project.Excluded().By != "" { // a server, which package postgres reads, or an excluded project
		return nil, false
	}
	for _, dir := range o.Project.Dirs() {
		if s, ok := openIn(dir, o); ok {
			return s, true
		}
	}
	return nil, false
}

// existing returns the databases at paths that an environment variable names, and a problem for each that is missing.
func existing(variable string, paths []string) (all []messagedb.Database, problems []store.Problem) {
	for _, path := range paths {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, store.Problem{Path: path, Err: &MissingError{variable, path}})
		} else {
			all = append(all, messagedb.Database{Path: path})
		}
	}
	return all, problems
}

// openIn returns the store of the newest database in the directory "db" of a project's directory, and false if there is
// none. Without o.ProjectDatabases the store only has the problem that the user has not named the database.
func openIn(dir string, o store.Options) (*messagedb.Store, bool) {
	open := func() (*os.Root, error) { return config.OpenDir(dir, databaseDir, o.Env()) }
	place := filepath.Join(dir, databaseDir)
	name, err := newest(open)
	if o.ProjectDatabases {
		isUnreadable := err != nil && !errors.Is(err, fs.ErrNotExist) // there is a store then too, which reports the error
		return newStore(place, func() ([]messagedb.Database, []store.Problem) { return newestIn(place, open) }), name != "" || isUnreadable
	}
	unnamed := store.StateError("a database in a project is read only where its user names it: set " + Variables()[0] + " to its path, or import it")
	problem := store.Problem{Source: Name, Kind: store.Unnamed, File: databaseDir + "/" + name, Path: filepath.Join(place, name), Err: unnamed}
	return newStore(place, func() ([]messagedb.Database, []store.Problem) { return nil, []store.Problem{problem} }), name != ""
}

// newStore returns the store of the databases that a function returns. People are shown place as its path.
func newStore(place string, databases func() ([]messagedb.Database, []store.Problem)) *messagedb.Store {
	return &messagedb.Store{
		Store: history.Store{IDs: IDs(), Kind: Name, Dir: place}, Databases: databases, Queries: queries,
		IDOf: func(key string) transcript.ID { return messagedb.ID(IDs(), key) }, Record: record,
	}
}

// newestIn returns the newest database of an export in a directory, or the problem of reading the directory.
func newestIn(dir string, open func() (*os.Root, error)) ([]messagedb.Database, []store.Problem) {
	switch name, err := newest(open); {
	case name != "":
		return []messagedb.Database{{Path: filepath.Join(dir, name)}}, nil
	case err != nil:
		return nil, []store.Problem{history.Problem("", store.Unreadable, dir, err)}
	}
	return nil, nil
}

// newest returns the name of the newest database of an export in a directory; "" if there is none. The error is
// that of opening or reading the directory.
func newest(open func() (*os.Root, error)) (string, error) {
	const most = 100 // databases that are examined
	root, err := open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	var found []fs.FileInfo
	entries, err := safefile.ReadDirIn(root, ".", -1) // -1 is for all entries
	for _, e := range entries {
		if info, err := root.Stat(e.Name()); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), extension) {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(b.Name(), a.Name()))
	})
	for _, info := range found[:min(len(found), most)] {
		if isExport(root, info.Name()) {
			return info.Name(), nil
		}
	}
	return "", err // of reading the directory
}

// isExport reports whether a file seems to be a database of an export, by the beginnings of the file and of its
// log. It does not open the file as a database: the user has not named it.
func isExport(root *os.Root, name string) bool {
	const most = 1 << 20
	var begin []byte
	for _, part := range []string{name, name + "-wal"} {
		f, info, err := safefile.OpenIn(root, part)
		if err != nil {
			continue
		}
		defer f.Close()
		data := make([]byte, min(info.Size(), most))
		n, _ := f.ReadAt(data, 0) // as much as there is
		begin = append(begin, data[:n]...)
	}
	return bytes.HasPrefix(begin, []byte("SQLite format 3\x00")) && bytes.Contains(bytes.ToLower(begin), []byte("conversation_id"))
}

// columns returns which columns the tables conversations and messages have; the names are in lower case. It returns an
// error if one of the tables is a view or a virtual table, or has a generated column, because these run code of the
// database's author. So that the query runs no such code, it selects only the columns of tables with a root page.
func columns(ctx context.Context, db *sqlitefile.DB) (messagedb.Has, error) {
	found := map[string]bool{}
	err := db.Each(ctx, func(rows *sql.Rows) error {
		var table, column string // column is "" for a view and a virtual table
		var isPlain bool
		err := rows.Scan(&table, &column, &isPlain)
		found[table+"."+column] = true
		if err == nil && !isPlain {
			err = store.StateError(strings.TrimSuffix(table+"."+column, ".") + " is no plain table, and only those are read")
		}
		return err
	}, `SELECT lower(s.name), lower(coalesce(c.name, '')), s.rootpage > 0 AND c.hidden = 0
		FROM sqlite_schema AS s LEFT JOIN pragma_table_xinfo(CASE WHEN s.rootpage > 0 THEN s.name END) AS c
		WHERE s.type IN ('table', 'view') AND lower(s.name) IN ('conversations', 'messages')`)
	return func(table, column string) bool { return found[table+"."+column] }, err
}

// queries returns the queries of a database. They use only columns that the database has. The error is that of
// [columns], or says that the database is not one of an export.
func queries(ctx context.Context, db *sqlitefile.DB) (*messagedb.Queries, error) {
	has, err := columns(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"conversation_id", "content"} {
		if !has("messages", name) {
			return nil, store.StateError("it is no database of a ChatGPT export: it has no messages." + name)
		}
	}
	var order []string
	switch {
	case has("messages", "position"):
		order = []string{"position"}
	case has("messages", "create_time"):
		order = []string{"CAST(create_time AS REAL)", "create_time"} // times in text are not in the order of the text
	}
	place := "0" // of a conversation in the database, for the order of a list
	noRow := func(*sql.Rows) error { return nil }
	hasRowID := db.Each(ctx, noRow, "SELECT rowid FROM messages LIMIT 0") == nil // false for a table WITHOUT ROWID
	if isColumn := has("messages", "rowid"); hasRowID && !isColumn {             // a column with this name hides the numbers of rows
		order = append(order, "rowid")
		place = "min(rowid)"
	}
	q := &messagedb.Queries{Conversations: listQuery(has, place)}
	q.Messages = fmt.Sprintf(`SELECT coalesce(CAST(%s AS TEXT), ''), NULL, +%s, CASE WHEN coalesce(octet_length(content), 0) <= %d THEN coalesce(CAST(content AS TEXT), '') END
		FROM messages WHERE conversation_id IS ?1`, has.Or("messages", "role", "NULL"), has.Or("messages", "create_time", "NULL"), messagedb.MaxMessage)
	if len(order) > 0 {
		q.Messages += " ORDER BY " + strings.Join(order, ", ")
	}
	return q, ctx.Err() // if the context is done, hasRowID is false for any table
}

// listQuery returns the query for all conversations: those in the table conversations, and those that only have
// messages. place is an SQL expression for the place of a conversation's first message. The columns of
// [messagedb.Queries] are key, parent, agent, title, directories, created, updated, archived, version, last time,
// place, export's id. A "+" makes a column an expression: the driver converts columns by their declared types.
func listQuery(has messagedb.Has, place string) string {
	const onlyMessages = "SELECT m.k, '', FALSE, '', '', NULL, NULL, FALSE, '', NULL, m.first, coalesce(CAST(m.k AS TEXT), '') FROM m"
	query := fmt.Sprintf("WITH m AS MATERIALIZED (SELECT conversation_id AS k, %s AS first FROM messages GROUP BY conversation_id) ", place)
	if !has("conversations", "id") {
		return query + onlyMessages
	}
	return query + fmt.Sprintf(`SELECT +c.id, '', FALSE, coalesce(substr(CAST(%s AS TEXT), 1, %d), ''), '', +%s, +%s, FALSE, '', NULL, coalesce(m.first, 0), coalesce(CAST(c.id AS TEXT), '')
		FROM conversations AS c LEFT JOIN m ON m.k = c.id UNION ALL `, has.Or("conversations", "title", "NULL"), messagedb.MaxText,
		has.Or("conversations", "create_time", "NULL"), has.Or("conversations", "update_time", "NULL")) + onlyMessages + " LEFT JOIN conversations AS c ON c.id = m.k WHERE c.id IS NULL"
}

// record adds a message to a recorder. A message with an unknown role is a system message with the role as its name.
func record(to *history.Recorder, m *messagedb.Message) {
	e := transcript.Event{Kind: transcript.KindSystem, Time: m.At}
	switch m.Role {
	case "user":
		e.Kind = transcript.KindUser
	case "assistant":
		e.Kind = transcript.KindAssistant
	case "tool":
		e.Kind = transcript.KindToolResult
	case "system": // as set
	default:
		e.Name = string(transcript.AppendValid(nil, []byte(m.Role)))
		if strings.TrimSpace(e.Name) == "" {
			e.Name = "unknown"
		}
	}
	parts, ok := chatgptcontent.Parts(m.Data)
	switch {
	case ok:
		e.Text = parts
	case string(m.Data) != "null": // which the exporter writes for a message without parts
		e.Text = m.Text()
	}
	messagedb.AddMessage(to, e)
}
