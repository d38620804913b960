// Package archive keeps conversations that were imported from exports: of ChatGPT, of Claude.ai and of Letta. It
// belongs to the user and to no project, and is one SQLite database in the user's data directory.
//
// [Open] returns it as a [store.Store], and [Create] opens it for writing. It never deletes a conversation;
// an import replaces one that has changed. Nothing recorded chooses the path of a file.
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

// IDs returns the form of ids: "archive-", the kind of export, and the id of the conversation in it.
func IDs() *history.IDs { return messagedb.IDs("archive-") }

// Home returns the directory of the archive, or "" if the environment does not name it.
func Home(getenv func(string) string) string { return history.InData(getenv, "convtools") }

const fileName = "archive.db"

// Open returns the archive, and false if the options and the environment name no directory, or nothing was imported.
func Open(o store.Options) (*messagedb.Store, bool) {
	dir := cmp.Or(o.Home, Home(o.Env()))
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); dir == "" || errors.Is(err, fs.ErrNotExist) { // reading the archive reports any other error
		return nil, false
	}
	return NewStore(messagedb.Database{Path: path}, queries), true
}

// NewStore returns the archive in a database.
func NewStore(in messagedb.Database, queries func(context.Context, *sqlitefile.DB) (*messagedb.Queries, error)) *messagedb.Store {
	return &messagedb.Store{
		Store:     history.Store{IDs: IDs(), Kind: Name, Dir: in.Path},
		Databases: func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{in}, nil },
		Queries:   queries,
		IDOf:      func(key string) transcript.ID { return messagedb.ID(IDs(), key) },
		Record:    record,
	}
}

// Columns are the columns of a table of conversations that [messagedb.Queries] selects.
const Columns = "name, '', FALSE, coalesce(title, ''), '', created, updated, archived, hash, last, id, native"

// positionBits is the number of bits of a message's id that have its position in the conversation.
const positionBits = 32

// queries returns the queries of an open archive. The low positionBits bits of a message's id are its position, and the
// bits above are its conversation's id. The error is that of reading the version of the schema, or of [CheckVersion].
func queries(ctx context.Context, db *sqlitefile.DB) (*messagedb.Queries, error) {
	version, err := versionOf(ctx, db.DB)
	if err = cmp.Or(err, CheckVersion(version, schemaVersion)); err != nil {
		return nil, err
	}
	return &messagedb.Queries{
		Conversations: "SELECT " + Columns + " FROM conversations",
		Messages: fmt.Sprintf(`SELECT m.kind, m.name, m.time, CASE WHEN octet_length(m.text) <= %d THEN m.text END
			FROM conversations AS c, messages AS m
			WHERE c.name = ?1 AND m.id BETWEEN (c.id << %d) AND ((c.id + 1) << %d) - 1 ORDER BY m.id`, messagedb.MaxMessage, positionBits, positionBits),
	}, nil
}

// record adds a message to a recorder. The role is the name of one of five kinds; any other role counts as system.
func record(to *history.Recorder, m *messagedb.Message) {
	e := transcript.Event{
		Kind: transcript.KindSystem, Time: m.At,
		Name: string(transcript.AppendValid(nil, m.About)), Text: m.Text(),
	}
	for _, k := range []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindReasoning, transcript.KindToolCall, transcript.KindToolResult,
	} {
		if k.String() == m.Role {
			e.Kind = k
		}
	}
	messagedb.AddMessage(to, e)
}

// versionOf returns the version of the schema; 0 if there is none.
func versionOf(ctx context.Context, db *sql.DB) (version int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

const schemaVersion = 1

// schema makes the tables.
//
// Times are seconds since 1970. Messages are in the order in which they are read; active = 0 means that a
// message is not on the path that is current in the export.
const schema = `
	CREATE TABLE conversations (
		id       INTEGER PRIMARY KEY,
		name     TEXT NOT NULL UNIQUE, -- kind of export, "-", id there
		native   TEXT NOT NULL,
		title    TEXT,
		created  REAL,
		updated  REAL,
		last     REAL,                 -- time of the last message
		archived INTEGER NOT NULL,
		hash     TEXT NOT NULL,        -- of all that was imported
		imported REAL NOT NULL
	) STRICT;
	CREATE TABLE messages (
		id     INTEGER PRIMARY KEY, -- id of the conversation << 32, and position from 1
		native TEXT,                -- id in the export
		kind   TEXT NOT NULL,       -- name of a transcript.Kind
		name   TEXT,                -- of a tool, or an unknown role
		time   REAL,
		active INTEGER NOT NULL,
		text   TEXT NOT NULL
	) STRICT;
	PRAGMA user_version = 1;
`

// Create opens the archive in a directory for writing, and makes it if it does not exist. A dry writer makes and
// writes nothing: it only returns the outcomes that writing would have. The statements get texts as bytes, and cast them.
func Create(ctx context.Context, dir string, dry bool) (*Writer, error) {
	path := filepath.Join(dir, fileName)
	db, err := connect(path, dry)
	if err != nil {
		return nil, fmt.Errorf("opening the archive %s: %w", path, err)
	}
	return NewWriter(ctx, Database{
		DB: db, Place: path, Version: versionOf, Schema: schema, Known: schemaVersion,
		Find: "SELECT id, hash, updated FROM conversations WHERE name = CAST(? AS TEXT)",
		Put: `INSERT INTO conversations (name, native, title, created, updated, archived, last, hash, imported)
				VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?, ?, unixepoch())
			ON CONFLICT (name) DO UPDATE SET title = excluded.title, created = excluded.created, updated = excluded.updated, archived = excluded.archived,
				last = excluded.last, hash = excluded.hash, imported = excluded.imported
			RETURNING id`,
		Clear:   fmt.Sprintf("DELETE FROM messages WHERE id BETWEEN ?1 << %d AND (?1 + 1 << %d) - 1", positionBits, positionBits),
		Delete:  "DELETE FROM conversations WHERE id = ?1",
		Add:     addMessages,
		Failure: func(_ context.Context, err error) error { return err },
	}, dry)
}

// connect opens the database at a path. If there is no file, it makes one or, if dry, returns nil.
func connect(path string, dry bool) (*sql.DB, error) {
	const busyTimeout = 30 * time.Second // writing some conversations takes as long
	found, err := exists(path)
	if err != nil || dry && !found {
		return nil, err
	}
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "trusted_schema(0)", "page_size(8192)", "journal_mode(wal)", "synchronous(normal)",
	}}
	if dry {
		options = url.Values{"_pragma": {"query_only(1)"}, "mode": {"ro"}}
	} else if err := makePrivate(path); err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(sqlitefile.URI(path, options))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// exists reports whether there is a database at a path. The error says that the database, or a file that SQLite
// keeps beside the database, cannot be examined or is not regular: SQLite would wait for a FIFO.
func exists(path string) (bool, error) {
	found := false
	for _, suffix := range []string{"-shm", "-journal", "-wal", ""} {
		switch info, err := os.Stat(path + suffix); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, err
		case !info.Mode().IsRegular():
			return false, &fs.PathError{Op: "open", Path: path + suffix, Err: safefile.ErrNotRegular}
		case suffix == "":
			found = true
		}
	}
	return found, nil
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

// addMessages adds the messages of the conversation with an id. The low positionBits bits of a message's id are its
// position in the conversation, from 1. The bits above are the id of the conversation.
func addMessages(ctx context.Context, tx *sql.Tx, id int64, messages []Message) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO messages (id, native, kind, name, time, active, text) VALUES (?, nullif(?, ''), ?, nullif(?, ''), ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range messages {
		m, position := &messages[i], int64(i+1)
		if _, err := insert.ExecContext(ctx, id<<positionBits|position, m.Native, m.Kind.String(), m.Name, Seconds(m.Time), m.Active, string(m.Text)); err != nil {
			return err
		}
	}
	return nil
}
