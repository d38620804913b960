// Package archive keeps conversations that were imported from exports: of ChatGPT, of
// Claude.ai and of Letta. It is the user's own, of no project, in one SQLite database in
// the user's data directory.
//
// [Open] reads it, as a [store.Store], and [Create] writes into it. Nothing that was
// imported is ever deleted; what has changed in a later export is replaced. Nothing
// recorded chooses the place of a file.
package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "archive"

// IDs returns what ids are: "archive-", the kind of export, and the id of a conversation in it.
func IDs() *history.IDs { return messagedb.IDs("archive-") }

// Home returns the directory that the archive is in, or "" where the environment does not
// tell. It is the same on all systems.
func Home(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "convtools")
	}
	return history.InHome(getenv, ".local", "share", "convtools")
}

// fileName is the name of the database.
const fileName = "archive.db"

// Open returns the archive, and false where nothing was imported.
func Open(o store.Options) (*messagedb.Store, bool) {
	dir := cmp.Or(o.Home, Home(o.Env()))
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	return &messagedb.Store{
		IDs: IDs(), Kind: Name, Path: path,
		Databases: func() ([]messagedb.Database, []store.Problem) {
			return []messagedb.Database{messagedb.File(path, describe)}, nil
		},
	}, true
}

// Columns are those of the table of conversations that [messagedb.DB] wants.
const Columns = "name, title, created, updated, archived, hash, last, id, native"

// positionBits are those of the id of a message that are its position in a conversation.
const positionBits = 32

// describe finds out how the database is read.
func describe(ctx context.Context, db *sqlitefile.DB) (*messagedb.DB, error) {
	version, err := versionOf(ctx, db.DB)
	if err = cmp.Or(err, Known(version, schemaVersion)); err != nil {
		return nil, err
	}
	const columns = "SELECT " + Columns + " FROM conversations"
	return &messagedb.DB{
		Queries: db, Conversations: columns, Conversation: columns + " WHERE name = ?1", Read: Read,
		Messages: fmt.Sprintf(`SELECT m.kind, m.name, m.time, octet_length(m.text), CASE WHEN octet_length(m.text) <= %d THEN m.text END
			FROM conversations AS c, messages AS m
			WHERE c.name = ?1 AND m.id BETWEEN c.id << %d AND (c.id + 1 << %d) - 1 ORDER BY m.id`, messagedb.MaxMessage, positionBits, positionBits),
	}, nil
}

// Read reads a message as it is kept.
func Read(kind, name, text []byte) (is transcript.Kind, called string, said []byte) {
	is = transcript.KindSystem
	for _, k := range []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindReasoning, transcript.KindToolCall, transcript.KindToolResult,
	} {
		if k.String() == string(kind) {
			is = k
		}
	}
	return is, string(transcript.AppendValid(nil, name)), transcript.AppendValid(nil, text)
}

// NewerError is the error for a database that a newer version of the program has made.
type NewerError struct{ Version, Known int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("a newer version of the program made it (schema %d, known here: %d)", e.Version, e.Known)
}

// ForModel is what a model is told.
func (e *NewerError) ForModel() string { return e.Error() }

// Known returns why a version of a schema cannot be read: it has not been made yet, or it is newer
// than the ones that are known.
func Known(version, known int) error {
	switch {
	case version == 0:
		return messagedb.ErrAbsent
	case version > known:
		return &NewerError{Version: version, Known: known}
	}
	return nil
}

// schemaVersion is the version of the schema, which is "PRAGMA user_version".
const schemaVersion = 1

// create makes the schema.
//
// Times are seconds since 1970. Messages are in the order in which they are read; those
// with active = 0 are not on the path that the export has as the current one.
const create = `
	CREATE TABLE conversations (
		id       INTEGER PRIMARY KEY,
		name     TEXT NOT NULL UNIQUE, -- kind of export, "-", id there
		native   TEXT NOT NULL,
		title    TEXT,
		created  REAL,
		updated  REAL,
		last     REAL,                 -- time of the last message
		newest   REAL,                 -- newest time of a message
		archived INTEGER NOT NULL,
		hash     TEXT NOT NULL,        -- of all that was imported
		imported REAL NOT NULL
	) STRICT;
	CREATE TABLE messages (
		id     INTEGER PRIMARY KEY, -- that of the conversation << 32, and its position from 1
		native TEXT,                -- id in the export
		kind   TEXT NOT NULL,       -- name of a transcript.Kind
		name   TEXT,                -- of a tool, or a role that is not known
		time   REAL,
		active INTEGER NOT NULL,
		text   TEXT NOT NULL
	) STRICT;
	PRAGMA user_version = 1;
`

// WriterOptions says how an archive is written.
type WriterOptions struct {
	Dir string // [Home]
	// DryRun finds out what would become of conversations, and writes nothing.
	DryRun bool
	Now    func() time.Time // nil means time.Now
}

// Create opens the archive for writing, and makes it where there is none.
func Create(ctx context.Context, o WriterOptions) (*Writer, error) {
	path := filepath.Join(o.Dir, fileName)
	to := Database{
		Find: "SELECT id, hash, updated FROM conversations WHERE name = ?",
		Put: `INSERT INTO conversations (name, native, title, created, updated, archived, last, newest, hash, imported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET title = excluded.title, created = excluded.created, updated = excluded.updated, archived = excluded.archived,
				last = excluded.last, newest = excluded.newest, hash = excluded.hash, imported = excluded.imported
			RETURNING id`,
		Clear:   fmt.Sprintf("DELETE FROM messages WHERE id BETWEEN ?1 << %d AND (?1 + 1 << %d) - 1", positionBits, positionBits),
		Add:     add,
		Text:    func(s string) any { return s },
		Failure: func(_ context.Context, err error) error { return err },
	}
	db, err := connect(path, o.DryRun)
	if err == nil && o.DryRun && db != nil {
		var version int
		version, err = versionOf(ctx, db)
		err = cmp.Or(err, Known(version, schemaVersion))
	} else if err == nil && db != nil {
		err = Migrate(ctx, db, "", schemaVersion, versionOf, create)
	}
	if err != nil {
		if db != nil {
			db.Close()
			db = nil
		}
		if !errors.Is(err, messagedb.ErrAbsent) {
			return nil, fmt.Errorf("opening the archive %s: %w", path, err)
		}
	}
	to.DB = db
	return NewWriter(to, o.DryRun, o.Now), nil
}

// waitForOthers is how long another process may hold the lock of the archive, which is as
// long as writing some conversations takes.
const waitForOthers = 30 * time.Second

// connect opens the database, and makes its file. A dry one is nil where there is none.
func connect(path string, dry bool) (*sql.DB, error) {
	there, err := isDatabase(path)
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", waitForOthers.Milliseconds()), "trusted_schema(0)", "page_size(8192)", "journal_mode(wal)", "synchronous(normal)",
	}}
	switch {
	case err != nil, dry && !there:
		return nil, err
	case dry:
		options = url.Values{"_pragma": {"query_only(1)"}, "mode": {"ro"}}
	default:
		err = makePrivate(path)
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(sqlitefile.URI(path, options))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// isDatabase reports whether the file of the database is there. That and those beside it are
// regular files, or not there: SQLite would wait for a FIFO.
func isDatabase(path string) (there bool, err error) {
	for _, suffix := range []string{"-shm", "-journal", "-wal", ""} {
		info, err := os.Stat(path + suffix)
		there = err == nil
		if there && !info.Mode().IsRegular() {
			return false, &fs.PathError{Op: "open", Path: path + suffix, Err: safefile.ErrNotRegular}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return there, nil
}

// makePrivate makes the file of the database, for its user alone.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, _, err := safefile.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// versionOf returns the version of the schema; 0 where there is none.
func versionOf(ctx context.Context, db *sql.DB) (version int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// Migrate brings a schema up to the version that is known, by statements for each version before it,
// from none. A transaction begins with a lock, if there is one; another process may be faster.
func Migrate(ctx context.Context, db *sql.DB, lock string, known int, version func(context.Context, *sql.DB) (int, error), statements ...string) error {
	v, err := version(ctx, db)
	if err != nil || v == known {
		return err
	}
	if v > known {
		return &NewerError{Version: v, Known: known}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.ExecContext(ctx, lock); err == nil {
		v, err = version(ctx, db)
	}
	if err == nil && v < known {
		_, err = tx.ExecContext(ctx, statements[v])
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// add adds the messages of a conversation.
func add(ctx context.Context, tx *sql.Tx, id int64, messages []Message) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO messages (id, native, kind, name, time, active, text) VALUES (?, nullif(?, ''), ?, nullif(?, ''), ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range messages {
		m := &messages[i]
		if _, err := insert.ExecContext(ctx, id<<positionBits|int64(i+1), m.Native, m.Kind.String(), m.Name, Seconds(m.Time), m.Active, string(m.Text)); err != nil {
			return err
		}
	}
	return nil
}
