package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// connect connects to the database, whose schema it does not look at.
func (s *server) connect(ctx context.Context) (*sql.DB, error) {
	if s.config == nil {
		return nil, &Error{Reason: "it is no URL of a PostgreSQL database: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with what is special in a password as %XX"}
	}
	db := stdlib.OpenDB(*s.config)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, s.failure(ctx, err)
	}
	return db, nil
}

// openArchive opens the database for reading. Every query asks for the rows of its owner too: for
// roles that the server exempts from row-level security.
func (s *server) openArchive(ctx context.Context) (*messagedb.DB, error) {
	db, err := s.openTables(ctx)
	if err != nil {
		return nil, err
	}
	const columns = "SELECT " + archive.Columns + " FROM convtools.conversations WHERE owner = session_user::text"
	return &messagedb.DB{
		Queries: &connection{db, s}, Conversations: columns, Conversation: columns + " AND name = $1::bytea", Read: archive.Read,
		Messages: fmt.Sprintf(`SELECT m.kind, m.name, m.time, octet_length(m.text), CASE WHEN octet_length(m.text) <= %d THEN m.text END
			FROM convtools.conversations AS c JOIN convtools.messages AS m ON m.owner = c.owner AND m.conversation = c.id
			WHERE c.owner = session_user::text AND c.name = $1::bytea ORDER BY m.position`, messagedb.MaxMessage),
	}, nil
}

// connection is the database, as it is read.
type connection struct {
	*sql.DB
	server *server
}

// Each implements [sqlitefile.Queries].
func (c *connection) Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	return c.server.failure(ctx, sqlitefile.Each(ctx, c.DB, row, query, args...))
}

// openTables connects to the database, whose schema is one that can be read.
func (s *server) openTables(ctx context.Context) (*sql.DB, error) {
	db, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, db)
	if err = cmp.Or(err, archive.Known(version, schemaVersion)); err != nil {
		db.Close()
		return nil, s.failure(ctx, err)
	}
	return db, nil
}

// version returns a text that is another one when the owner's archive has changed.
func (s *server) version(ctx context.Context) (string, error) {
	db, err := s.openTables(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	err = db.QueryRowContext(ctx, `SELECT concat_ws(' ', session_user, count(*), max(change), sum(change))
		FROM convtools.conversations WHERE owner = session_user::text`).Scan(&version)
	return version, s.failure(ctx, err)
}

// WriterOptions says how an archive is written.
type WriterOptions struct {
	URL string // [URL]
	// DryRun finds out what would become of conversations, and writes nothing.
	DryRun bool
	Now    func() time.Time // nil means time.Now
}

// ownerLock is the first half of the key of the advisory lock that a writer of an owner
// has: two that write the same conversations in another order would wait for each other.
const ownerLock = 0x636f6e76

// Create opens the archive of the role that logs in for writing, and makes it where there is none.
func Create(ctx context.Context, o WriterOptions) (*archive.Writer, error) {
	s := parse(o.URL)
	to := archive.Database{
		Begin: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, hashtext(session_user::text))", ownerLock),
		Find:  "SELECT id, hash, updated FROM convtools.conversations WHERE owner = session_user::text AND name = $1",
		Put: `INSERT INTO convtools.conversations (name, native, title, created, updated, archived, last, newest, hash, imported)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (name, owner) DO UPDATE SET native = excluded.native, title = excluded.title, created = excluded.created, updated = excluded.updated,
				archived = excluded.archived, last = excluded.last, newest = excluded.newest, hash = excluded.hash,
				imported = excluded.imported, change = excluded.change
			RETURNING id`,
		Clear:   "DELETE FROM convtools.messages WHERE owner = session_user::text AND conversation = $1",
		Add:     add,
		Text:    func(text string) any { return []byte(text) },
		Failure: s.failure,
	}
	err := s.open(ctx, &to, o.DryRun)
	if err != nil {
		return nil, fmt.Errorf("opening the archive %s: %w", s.place, err)
	}
	return archive.NewWriter(to, o.DryRun, o.Now), nil
}

// open opens the database for writing. A dry one is nil where there is no archive.
func (s *server) open(ctx context.Context, to *archive.Database, dry bool) (err error) {
	if dry {
		if to.DB, err = s.openTables(ctx); errors.Is(err, messagedb.ErrAbsent) {
			err = nil
		}
		return err
	}
	if to.DB, err = s.connect(ctx); err != nil {
		return err
	}
	if err = s.failure(ctx, archive.Migrate(ctx, to.DB, migrationLock, schemaVersion, versionOf, create, second)); err != nil {
		to.DB.Close()
	}
	return err
}

// add adds the messages of a conversation, as columns of the table: the server takes as long for a
// statement as for many rows.
func add(ctx context.Context, tx *sql.Tx, id int64, messages []archive.Message) error {
	const most, mostBytes = 2000, 2 << 20
	for at := 0; at < len(messages); {
		var positions []int32
		var natives, names, texts [][]byte
		var kinds []string
		var times []*float64
		var active []bool
		for size := 0; at < len(messages) && len(positions) < most && size < mostBytes; at++ {
			m := &messages[at]
			size += len(m.Text)
			positions = append(positions, int32(at+1)) //nolint:gosec // a conversation in memory has fewer
			natives, names, texts = append(natives, []byte(m.Native)), append(names, []byte(m.Name)), append(texts, append([]byte{}, m.Text...))
			kinds, times, active = append(kinds, m.Kind.String()), append(times, archive.Seconds(m.Time)), append(active, m.Active)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO convtools.messages (conversation, position, native, kind, name, time, active, text)
			SELECT $1, position, nullif(native, ''), kind, nullif(name, ''), time, active, text
			FROM unnest($2::integer[], $3::bytea[], $4::text[], $5::bytea[], $6::float8[], $7::boolean[], $8::bytea[]) AS m (position, native, kind, name, time, active, text)`,
			id, positions, natives, kinds, names, times, active, texts)
		if err != nil {
			return err
		}
	}
	return nil
}

// schemaVersion is the version of the schema, which is in the table "schema". The first one can be
// read as well.
const schemaVersion = 2

// create makes the schema.
//
// Whoever may connect to the database may keep conversations in it. The owner of a row is
// the role that logged in, whatever it has set since. What is recorded is kept as bytes: a text of
// PostgreSQL cannot hold NUL.
//
// Keys begin with what few rows have, and not with the owner: before the server has counted
// the rows of a table, it may look up one of an owner by reading all of them.
const create = `
	CREATE SCHEMA convtools;
	CREATE TABLE convtools.schema (version integer NOT NULL);
	INSERT INTO convtools.schema VALUES (2);
	CREATE SEQUENCE convtools.changes;

	CREATE TABLE convtools.conversations (
		id       bigint GENERATED ALWAYS AS IDENTITY,
		owner    text NOT NULL DEFAULT session_user,
		name     bytea NOT NULL,             -- kind of export, "-", id there
		native   bytea NOT NULL,
		title    bytea NOT NULL,
		created  float8,                     -- seconds since 1970, as all times
		updated  float8,
		last     float8,                     -- time of the last message
		newest   float8,                     -- newest time of a message
		archived boolean NOT NULL,
		hash     text NOT NULL,              -- of all that was imported
		imported float8 NOT NULL,
		change   bigint NOT NULL DEFAULT nextval('convtools.changes'),
		PRIMARY KEY (id, owner),
		UNIQUE (name, owner)
	);
	CREATE TABLE convtools.messages (
		owner        text NOT NULL DEFAULT session_user,
		conversation bigint NOT NULL,
		position     integer NOT NULL,       -- from 1
		native       bytea,                  -- id in the export
		kind         text NOT NULL,          -- name of a transcript.Kind
		name         bytea,                  -- of a tool, or a role that is not known
		time         float8,
		active       boolean NOT NULL,
		text         bytea NOT NULL,
		PRIMARY KEY (conversation, position, owner),
		FOREIGN KEY (conversation, owner) REFERENCES convtools.conversations ON DELETE CASCADE
	);

	ALTER TABLE convtools.conversations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	ALTER TABLE convtools.messages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	CREATE POLICY own ON convtools.conversations USING (owner = session_user::text);
	CREATE POLICY own ON convtools.messages USING (owner = session_user::text);

	GRANT USAGE ON SCHEMA convtools TO PUBLIC;
	GRANT SELECT ON convtools.schema TO PUBLIC;
	GRANT USAGE ON SEQUENCE convtools.changes TO PUBLIC;
	GRANT SELECT, INSERT, UPDATE, DELETE ON convtools.conversations, convtools.messages TO PUBLIC;
`

// second makes a schema of the first version, which searched on the server, one of the second.
const second = `
	DROP FUNCTION convtools.find;
	DROP TABLE convtools.folded;
	ALTER TABLE convtools.conversations DROP COLUMN folding, DROP COLUMN tools;
	UPDATE convtools.schema SET version = 2;
`

// migrationLock takes the advisory lock under which the schema is changed.
const migrationLock = "SELECT pg_advisory_xact_lock(x'636f6e76746f6f6c'::bigint)"

// versionOf returns the version of the schema that a database has; 0 where it has none.
func versionOf(ctx context.Context, db *sql.DB) (version int, err error) {
	const undefinedTable = "42P01" // https://www.postgresql.org/docs/current/errcodes-appendix.html
	err = db.QueryRowContext(ctx, "SELECT version FROM convtools.schema").Scan(&version)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == undefinedTable {
		return 0, nil
	}
	return version, err
}
