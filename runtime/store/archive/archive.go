// Package archive keeps conversations that were imported from exports: of ChatGPT, of
// Claude.ai and of Letta. It is the user's own, of no project, in one SQLite database in
// the user's data directory.
//
// [Open] reads it, as a [store.Store], and [Create] writes into it. Nothing that was
// imported is ever deleted; what has changed in a later export is replaced. Nothing
// recorded chooses the place of a file.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
)

// Name is the name of this kind of store.
const Name = "archive"

// IDPrefix is what the ids of conversations of this store begin with.
const IDPrefix = "archive-"

// ParseID reads an id: "archive-", the kind of export, and the id of a conversation in it.
// The error is a [*store.BadIDError].
func ParseID(text string) (transcript.ID, error) { return messagedb.ParseID(IDPrefix, text) }

// Claims reports whether a text can only be meant as an id of this store, be it a wrong
// one.
func Claims(text string) bool { return messagedb.Claims(IDPrefix, text) }

// Home returns the directory that the archive is in, or "" where the environment does not
// tell. It is the same on all systems.
func Home(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "convtools")
	}
	home := trust.Home(getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "share", "convtools")
}

// positionBits are those of the id of a message that are its position in a conversation.
const positionBits = 32

// fileName is the name of the database.
const fileName = "archive.db"

// Open returns the archive, and false where nothing was imported.
func Open(o store.Options) (*messagedb.Store, bool) {
	dir := o.Home
	if dir == "" {
		dir = Home(o.Env())
	}
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	database := messagedb.Database{
		Path:    path,
		Version: func(context.Context) (string, error) { return sqlitefile.Version(path) },
		Share: messagedb.SQLite(func(ctx context.Context) (*sqlitefile.DB, *messagedb.Form, error) {
			return open(ctx, path)
		}),
	}
	return messagedb.New(messagedb.Options{
		Name: Name, Prefix: IDPrefix, Place: path,
		Databases: func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{database}, nil },
	}), true
}

// open opens the database for reading.
func open(ctx context.Context, path string) (*sqlitefile.DB, *messagedb.Form, error) {
	db, err := sqlitefile.OpenPath(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
	case version == 0:
		err = messagedb.ErrAbsent // it is being made
	case version > len(migrations()):
		err = &NewerError{Version: version, Known: len(migrations())}
	}
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, form(), nil
}

func form() *messagedb.Form {
	const columns = "SELECT name, title, created, updated, archived, hash, last, id, native FROM conversations"
	return &messagedb.Form{
		Conversations: columns,
		Conversation:  columns + " WHERE name = ?1",
		Messages: fmt.Sprintf(`SELECT m.kind, m.name, m.time, octet_length(m.text), CASE WHEN octet_length(m.text) <= %d THEN m.text END
			FROM conversations AS c, messages AS m
			WHERE c.name = ?1 AND m.id BETWEEN c.id << %d AND (c.id + 1 << %d) - 1 ORDER BY m.id`, messagedb.MaxMessage, positionBits, positionBits),
		Kind: func(kind, name []byte) (transcript.Kind, []byte) { return KindOf(string(kind)), name },
		AppendPieces: func(dst []recorded.Piece, text []byte) []recorded.Piece {
			return append(dst, recorded.Piece{Raw: text, Plain: true})
		},
	}
}
