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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
