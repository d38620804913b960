package opencode

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// database is a database of opencode. It implements [source].
type database struct {
	sqlitefile.Shared[*opencodeDB]
	file string
}

// opencodeDB is an opened database, and the names of the columns of each table.
type opencodeDB struct {
	*sqlitefile.DB
	tables map[string][]string
}

// newDatabase returns a database with one user.
func newDatabase(path string) *database {
	d := &database{file: path}
	d.Open = func(ctx context.Context) (*opencodeDB, error) { return openDatabase(ctx, path) }
	d.Retain()
	return d
}

func (d *database) path() string { return d.file }

// required are the columns without which the tables cannot be read.
const required = "session.id session.directory message.id message.session_id message.time_created message.data part.id part.message_id part.data"

// openDatabase opens a database, and reads which columns the tables have. A view in
// place of a table is none: looking at it could take any time.
func openDatabase(ctx context.Context, path string) (*opencodeDB, error) {
	opened, err := sqlitefile.OpenPath(ctx, path)
	if err != nil {
		return nil, err
	}
	db := &opencodeDB{opened, map[string][]string{}}
	err = db.Each(ctx, func(rows *sql.Rows) error {
		var table, column string
		err := rows.Scan(&table, &column)
		db.tables[table] = append(db.tables[table], column)
		return err
	}, `SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part') AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	for _, name := range strings.Fields(required) {
		table, column, _ := strings.Cut(name, ".")
		if err == nil && db.column(table, column) != name {
			err = &schemaError{name}
		}
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// schemaError is the error for a database of a form that is not known.
type schemaError struct{ column string }

func (e *schemaError) Error() string {
	return fmt.Sprintf("it has no column %s: it is of another version of opencode than the known ones", e.column)
}

// column returns an expression for a column that a table need not have.
func (db *opencodeDB) column(table, name string) string {
	if slices.Contains(db.tables[table], name) {
		return table + "." + name
	}
	return "NULL"
}

// collect returns what scan makes of each row of a query.
func collect[T any](ctx context.Context, d *database, scan func(*sql.Rows) (T, error), query func(*opencodeDB) string, args ...any) (found []T, err error) {
	err = d.Do(ctx, func(db *opencodeDB) error {
		found = nil
		return db.Each(ctx, func(rows *sql.Rows) error {
			x, err := scan(rows)
			found = append(found, x)
			return err
		}, query(db), args...)
	})
	return found, err
}

// maxText is how many characters of a text beside the parts are read.
const maxText = 64 << 10

// number returns an expression for a number that is recorded; what has another type than it should
// have counts as missing.
func number(expression string) string {
	return fmt.Sprintf("CASE WHEN typeof(%s) IN ('integer', 'real') THEN CAST(%s AS INTEGER) END", expression, expression)
}

func (d *database) sessions(ctx context.Context, session string) ([]*info, []store.Problem, error) {
	all, err := collect(ctx, d, func(rows *sql.Rows) (*info, error) {
		i := &info{source: d}
		var id, parent, dir, title, undone sql.NullString
		var created, archived, begun sql.NullInt64
		err := rows.Scan(&id, &parent, &dir, &title, &undone, &created, &archived, &begun)
		i.session, i.parent, i.dir, i.title = id.String, parent.String, dir.String, strings.ToValidUTF8(title.String, "\ufffd")
		i.Created, i.Archived, i.begun = created.Int64, archived.Int64, begun.Int64
		jsontext.Decode([]byte(undone.String), &i.revert)
		return i, err
	}, func(db *opencodeDB) string {
		var columns []string
		for _, name := range []string{"id", "parent_id", "directory", "title", "revert"} {
			columns = append(columns, fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", db.column("session", name), maxText))
		}
		for _, name := range []string{"time_created", "time_archived"} {
			columns = append(columns, number(db.column("session", name)))
		}
		return "SELECT " + strings.Join(columns, ", ") + ", (SELECT " + number("min(time_created)") + " FROM message WHERE message.session_id = session.id)" +
			" FROM session WHERE EXISTS (SELECT 1 FROM message WHERE message.session_id = session.id) AND (?1 = '' OR session.id = ?1)"
	}, session)
	return slices.DeleteFunc(all, func(i *info) bool { return !isSession(i.session) }), nil, err
}

func (d *database) messages(ctx context.Context, session string, last int) ([]message, error) {
	found, err := collect(ctx, d, func(rows *sql.Rows) (m message, err error) {
		var created sql.NullInt64
		var data sql.RawBytes
		if err := rows.Scan(&m.id, &created, &data); err != nil {
			return m, err
		}
		m.created = created.Int64
		m.decode(bytes.Clone(data))
		return m, nil
	}, func(*opencodeDB) string {
		return fmt.Sprintf(`SELECT CAST(id AS TEXT), CASE WHEN typeof(time_created) = 'integer' THEN time_created END, substr(CAST(data AS TEXT), 1, %d)
			FROM message WHERE session_id = ? AND id IS NOT NULL ORDER BY time_created DESC, id DESC LIMIT ?`, maxText)
	}, session, last)
	slices.Reverse(found)
	return found, err
}

func (d *database) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = d.Do(ctx, func(db *opencodeDB) error {
		p = partsOf{}
		return db.Each(ctx, func(rows *sql.Rows) error {
			var id string
			var large bool
			var data sql.RawBytes
			err := rows.Scan(&id, &large, &data)
			if large {
				p.left++
			} else {
				p.add(id, bytes.Clone(data))
			}
			return err
		}, fmt.Sprintf(`SELECT CAST(id AS TEXT), octet_length(data) > %d, CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END
			FROM part WHERE message_id = ? AND id IS NOT NULL AND data IS NOT NULL ORDER BY id`, maxPart, maxPart), message)
	})
	return p, err
}

func (d *database) version(ctx context.Context, session string) (string, error) {
	found, err := collect(ctx, d, func(rows *sql.Rows) (version string, err error) {
		err = rows.Scan(&version)
		return version, err
	}, func(db *opencodeDB) string {
		latest := func(table, of string) string {
			return fmt.Sprintf("(SELECT count(*) || ' ' || coalesce(max(%s), '') FROM %s WHERE %s)", db.column(table, "time_updated"), table, of)
		}
		parts := "message_id IN (SELECT id FROM message WHERE session_id = session.id)"
		if db.column("part", "session_id") != "NULL" {
			parts = "session_id = session.id"
		}
		return fmt.Sprintf("SELECT coalesce(%s, '') || ' ' || %s || ' ' || %s FROM session WHERE id = ?",
			db.column("session", "time_updated"), latest("message", "session_id = session.id"), latest("part", parts))
	}, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// latest returns the parts of the last messages of the sessions that were changed last, with
// the ids of these sessions in place of their own.
func (d *database) latest(ctx context.Context) ([]part, error) {
	return collect(ctx, d, func(rows *sql.Rows) (p part, err error) {
		var raw []byte
		err = rows.Scan(&p.id, &raw)
		jsontext.Decode(raw, &p)
		return p, err
	}, func(db *opencodeDB) string {
		const sessions, messages = 32, 4
		return fmt.Sprintf(`SELECT CAST(s.id AS TEXT), CAST(part.data AS BLOB)
			FROM (SELECT id FROM session WHERE id IS NOT NULL ORDER BY %s DESC LIMIT %d) AS s CROSS JOIN part
			WHERE part.message_id IN (SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT %d) AND octet_length(part.data) <= %d`,
			db.column("session", "time_updated"), sessions, messages, maxText)
	})
}
