package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// connect connects to the database, whatever its schema.
func (s *server) connect(ctx context.Context) (*sql.DB, error) {
	if s.config == nil {
		return nil, &Error{Reason: "it is no URL of a PostgreSQL database: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with what is special in a password as %XX"}
	}
	db := stdlib.OpenDB(*s.config)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, failure(ctx, err)
	}
	return db, nil
}

// openArchive opens the database for reading. The error is that of the connection, or that of [archive.CheckVersion] if
// the schema of the database is not the known one.
func (s *server) openArchive(ctx context.Context) (*sqlitefile.DB, error) {
	db, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, db)
	if err = cmp.Or(err, archive.CheckVersion(version, schemaVersion)); err != nil {
		db.Close()
		return nil, failure(ctx, err)
	}
	return &sqlitefile.DB{DB: db, Failure: failure}, nil
}

// queries returns the queries. Each asks for the owner's rows only: a role can be exempt from row-level security.
func queries(context.Context, *sqlitefile.DB) (*messagedb.Queries, error) {
	return &messagedb.Queries{
		Conversations: "SELECT " + archive.Columns + " FROM convtools.conversations WHERE owner = session_user::text",
		Messages: fmt.Sprintf(`SELECT m.kind, m.name, m.time, CASE WHEN octet_length(m.text) <= %d THEN m.text END
			FROM convtools.conversations AS c JOIN convtools.messages AS m ON m.owner = c.owner AND m.conversation = c.id
			WHERE c.owner = session_user::text AND c.name = $1::bytea ORDER BY m.position`, messagedb.MaxMessage),
	}, nil
}

// version returns a text that changes when the owner's archive does.
func (s *server) version(ctx context.Context) (string, error) {
	db, err := s.openArchive(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	err = db.QueryRowContext(ctx, `SELECT concat_ws(' ', session_user, count(*), max(change), sum(change))
		FROM convtools.conversations WHERE owner = session_user::text`).Scan(&version)
	return version, failure(ctx, err)
}

// The keys of advisory locks. A writer locks the archive of an owner: two that write the same conversations
// in another order would wait for each other.
const ownerLock, schemaLock = "636f6e76", "636f6e76746f6f6c"

// Create opens the archive of the role in a URL for writing, and makes it if it does not exist. A dry writer makes and
// writes nothing: it only returns the outcomes that writing would have.
func Create(ctx context.Context, url string, dry bool) (*archive.Writer, error) {
	s := parse(url)
	db, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the archive %s: %w", s.place, err)
	}
	return archive.NewWriter(ctx, archive.Database{
		DB: db, Place: s.place, Version: versionOf, Schema: schema, Known: schemaVersion,
		SchemaLock: "SELECT pg_advisory_xact_lock(x'" + schemaLock + "'::bigint)",
		Begin:      "SELECT pg_advisory_xact_lock(x'" + ownerLock + "'::integer, hashtext(session_user::text))",
		Find:       "SELECT id, hash, updated FROM convtools.conversations WHERE owner = session_user::text AND name = $1",
		Put: `INSERT INTO convtools.conversations (name, native, title, created, updated, archived, last, hash, imported)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, extract(epoch FROM now()))
			ON CONFLICT (name, owner) DO UPDATE SET native = excluded.native, title = excluded.title, created = excluded.created, updated = excluded.updated,
				archived = excluded.archived, last = excluded.last, hash = excluded.hash, imported = excluded.imported, change = excluded.change
			RETURNING id`,
		Clear:   "DELETE FROM convtools.messages WHERE owner = session_user::text AND conversation = $1",
		Delete:  "DELETE FROM convtools.conversations WHERE owner = session_user::text AND id = $1",
		Add:     addMessages,
		Failure: failure,
	}, dry)
}

// addMessages adds the messages of the conversation with an id, up to 2000 with one statement. The arguments of a
// statement are arrays, one for each column: many rows take the server as long as one.
func addMessages(ctx context.Context, tx *sql.Tx, id int64, messages []archive.Message) error {
	const most, mostBytes = 2000, 2 << 20
	for next := 0; next < len(messages); {
		var positions []int32
		var natives, names, texts [][]byte // none is nil, which would be NULL
		var kinds []string
		var times []*float64
		var active []bool
		for size := 0; next < len(messages) && len(positions) < most && size < mostBytes; next++ {
			m := &messages[next]
			size += len(m.Text)
			positions = append(positions, int32(next+1)) //nolint:gosec // a conversation in memory has fewer
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

const schemaVersion = 2

// schema makes the tables. The version is in the table "schema".
//
// Every role that can connect to the database can keep conversations in it. The owner of a row is the role that logged
// in, whatever it has set since. Recorded texts are bytes: a text of PostgreSQL cannot hold NUL.
//
// The owner is the last column of keys: before the server has counted the rows of a table, it can look up a
// key that begins with the owner by reading all of his rows.
const schema = `
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

// versionOf returns the version of the schema; 0 if there is none.
func versionOf(ctx context.Context, db *sql.DB) (version int, err error) {
	const undefinedTable = "42P01" // https://www.postgresql.org/docs/current/errcodes-appendix.html
	err = db.QueryRowContext(ctx, "SELECT version FROM convtools.schema").Scan(&version)
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == undefinedTable {
		return 0, nil
	}
	return version, err
}
