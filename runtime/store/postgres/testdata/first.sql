-- What the first version of the program made.
CREATE SCHEMA convtools;
CREATE TABLE convtools.schema (version integer NOT NULL);
INSERT INTO convtools.schema VALUES (0);
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
	folding  text,                       -- version of the folding of its text; NULL where that is not kept
	tools    bytea[] NOT NULL,           -- names of those that are called
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
CREATE TABLE convtools.folded (
	owner        text NOT NULL DEFAULT session_user,
	conversation bigint NOT NULL,
	position     integer NOT NULL,
	kind         text NOT NULL,
	time         bigint,                 -- in microseconds
	text         text COLLATE "C" NOT NULL,
	PRIMARY KEY (conversation, position, owner),
	FOREIGN KEY (conversation, position, owner) REFERENCES convtools.messages ON DELETE CASCADE
);
CREATE INDEX folded_newest ON convtools.folded (owner, time DESC NULLS LAST, conversation, position);

ALTER TABLE convtools.conversations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE convtools.messages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE convtools.folded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON convtools.conversations USING (owner = session_user::text);
CREATE POLICY own ON convtools.messages USING (owner = session_user::text);
CREATE POLICY own ON convtools.folded FOR INSERT WITH CHECK (owner = session_user::text);

-- find returns the messages of some conversations of who calls it of which the folded
-- text matches, and all those of the conversations in "whole": the newest first, those
-- without a time last; the first of them behind a place, or, where "most" is NULL, one
-- row with their number.
CREATE FUNCTION convtools.find(
	among bigint[], whole bigint[], pattern text, is_like boolean, kinds text[], since bigint, until bigint,
	behind boolean, after_time bigint, after_conversation bigint, after_position bigint, most bigint
) RETURNS TABLE (conversation bigint, "position" bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	matches text := CASE WHEN is_like THEN 'f.text LIKE $3' ELSE 'strpos(f.text, $3) > 0' END;
	query text := ' FROM convtools.folded AS f WHERE f.owner = session_user::text AND f.conversation = ANY ($1)';
BEGIN
	IF pattern IS NOT NULL THEN
		IF cardinality(whole) > 0 THEN
			matches := '(' || matches || ' OR f.conversation = ANY ($2))';
		END IF;
		query := query || ' AND ' || matches;
	END IF;
	IF kinds IS NOT NULL THEN query := query || ' AND f.kind = ANY ($4)'; END IF;
	IF since IS NOT NULL THEN query := query || ' AND f.time >= $5'; END IF;
	IF until IS NOT NULL THEN query := query || ' AND f.time <= $6'; END IF;
	IF most IS NULL THEN
		query := 'SELECT NULL::bigint, count(*)' || query;
	ELSE
		IF behind AND after_time IS NULL THEN
			query := query || ' AND f.time IS NULL AND (f.conversation, f.position) > ($8, $9)';
		ELSIF behind THEN
			query := query || ' AND (f.time < $7 OR f.time IS NULL OR f.time = $7 AND (f.conversation, f.position) > ($8, $9))';
		END IF;
		query := 'SELECT f.conversation, f.position::bigint' || query ||
			' ORDER BY f.time DESC NULLS LAST, f.conversation, f.position LIMIT $10';
	END IF;
	RETURN QUERY EXECUTE query USING among, whole, pattern, kinds, since, until, after_time, after_conversation, after_position, most;
END
$$;

GRANT USAGE ON SCHEMA convtools TO PUBLIC;
GRANT SELECT ON convtools.schema TO PUBLIC;
GRANT USAGE ON SEQUENCE convtools.changes TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON convtools.conversations, convtools.messages TO PUBLIC;
GRANT INSERT ON convtools.folded TO PUBLIC;
