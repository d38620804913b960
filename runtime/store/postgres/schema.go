package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

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
