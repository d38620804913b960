package archive

import (
	"context"
	"fmt"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// migrations are what makes of each version of the schema the next one, beginning with an
// empty database; "PRAGMA user_version" is how many of them a database has. A migration
// that was released is never changed. Libraries for migrations keep that number in a
// table of their own, and cost more at each start than all of this.
//
// Times are seconds since 1970. Messages are in the order in which they are read; those
// with active = 0 are not on the path that the export has as the current one.
func migrations() []string {
	return []string{`
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
	`}
}

// NewerError is the error for a database that a newer version of the program has made.
type NewerError struct{ Version, Known int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("a newer version of the program made it (schema %d, known here: %d)", e.Version, e.Known)
}

// ForModel is what a model is told.
func (e *NewerError) ForModel() string { return e.Error() }

// schemaVersion returns how many migrations a database has.
func schemaVersion(ctx context.Context, db *sqlitefile.DB) (version int, err error) {
	err = db.Each(ctx, func(rows *sqlitefile.Rows) error { return rows.Scan(&version) }, "PRAGMA user_version")
	return version, err
}

// kinds are those of messages that are kept.
func kinds() []transcript.Kind {
	return []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindReasoning, transcript.KindToolCall, transcript.KindToolResult, transcript.KindSystem,
	}
}

// KindOf returns the kind of a name.
func KindOf(name string) transcript.Kind {
	for _, k := range kinds() {
		if k.String() == name {
			return k
		}
	}
	return transcript.KindSystem
}
