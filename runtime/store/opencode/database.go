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
)

// database is a database of opencode. It implements [source].
type database struct {
	*sqlitefile.Shared[tables]
	file string
}

// tables are the names of the columns of each table.
type tables map[string][]string

// newDatabase returns a database with one user.
func newDatabase(path string) *database {
	return &database{sqlitefile.Share(func(ctx context.Context) (*sqlitefile.DB, tables, error) { return openDatabase(ctx, path) }), path}
}

func (d *database) path() string { return d.file }

// required are the columns without which the tables cannot be read.
const required = "session.id session.directory message.id message.session_id message.time_created message.data part.id part.message_id part.data"

// openDatabase opens a database, and reads which columns the tables have. A view in
// place of a table is none: looking at it could take any time.
func openDatabase(ctx context.Context, path string) (*sqlitefile.DB, tables, error) {
	db, err := sqlitefile.OpenPath(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	t := tables{}
	err = db.Each(ctx, func(rows *sqlitefile.Rows) error {
		var table, column string
		err := rows.Scan(&table, &column)
		t[table] = append(t[table], column)
		return err
	}, `SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part') AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	for _, name := range strings.Fields(required) {
		table, column, _ := strings.Cut(name, ".")
		if err == nil && t.column(table, column) != name {
			err = &schemaError{name}
		}
	}
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, t, nil
}

// schemaError is the error for a database of a form that is not known.
type schemaError struct{ column string }

func (e *schemaError) Error() string {
	return fmt.Sprintf("it has no column %s: it is of another version of opencode than the known ones", e.column)
}

// column returns an expression for a column that a table need not have.
func (t tables) column(table, name string) string {
	if slices.Contains(t[table], name) {
		return table + "." + name
	}
	return "NULL"
}

// collect returns what scan makes of each row of a query.
func collect[T any](ctx context.Context, d *database, scan func(sqlitefile.Cursor) (T, error), query func(tables) string, args ...any) (found []T, err error) {
	err = sqlitefile.Each(ctx, func() (sqlitefile.Cursor, error) {
		found = nil
		rows, _, err := d.Query(ctx, query, args...)
		return rows, err
	}, func(rows sqlitefile.Cursor) error {
		x, err := scan(rows)
		found = append(found, x)
		return err
	})
	return found, err
}

// text scans a row of one text.
func text(rows sqlitefile.Cursor) (s string, err error) {
	err = rows.Scan(&s)
	return s, err
}

func fixed(query string) func(tables) string { return func(tables) string { return query } }

// open opens the database, to find out whether it can be read.
func (d *database) open(ctx context.Context) error {
	_, err := collect(ctx, d, text, fixed("SELECT '' WHERE FALSE"))
	return err
}

// maxText is how many characters of a text beside the messages are read.
const maxText = 64 << 10

func (d *database) scanInfo(rows sqlitefile.Cursor) (*info, error) {
	var session, parent, dir, title, undone sql.NullString
	var created, archived sql.NullInt64
	if err := rows.Scan(&session, &parent, &dir, &title, &undone, &created, &archived); err != nil {
		return nil, err
	}
	i := &info{
		source: d, session: session.String, parent: parent.String, dir: dir.String,
		title: strings.ToValidUTF8(title.String, "\ufffd"), revert: decodeRevert([]byte(undone.String)),
	}
	if created.Valid {
		i.created = milliseconds(created.Int64)
	}
	if archived.Valid {
		i.archivedAt = milliseconds(archived.Int64)
	}
	return i, nil
}

// selectInfo returns the query for sessions in which something is recorded. What has
// another type than it should have counts as missing.
func selectInfo(where string) func(tables) string {
	return func(t tables) string {
		var columns []string
		for _, name := range []string{"id", "parent_id", "directory", "title", "revert"} {
			columns = append(columns, fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", t.column("session", name), maxText))
		}
		for _, name := range []string{"time_created", "time_archived"} {
			c := t.column("session", name)
			columns = append(columns, fmt.Sprintf("CASE WHEN typeof(%s) IN ('integer', 'real') THEN CAST(%s AS INTEGER) END", c, c))
		}
		return "SELECT " + strings.Join(columns, ", ") +
			" FROM session WHERE EXISTS (SELECT 1 FROM message WHERE message.session_id = session.id)" + where
	}
}

func (d *database) sessions(ctx context.Context) ([]*info, []store.Problem, error) {
	all, err := collect(ctx, d, d.scanInfo, selectInfo(""))
	return slices.DeleteFunc(all, func(i *info) bool { return !isSession(i.session) }), nil, err
}

func (d *database) find(ctx context.Context, session string) (*info, error) {
	found, err := collect(ctx, d, d.scanInfo, selectInfo(" AND session.id = ?"), session)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (d *database) messages(ctx context.Context, session string, most int) ([]message, error) {
	direction, limit := "DESC", most
	switch {
	case most == 0:
		limit = -1
	case most < 0:
		direction, limit = "ASC", -most
	}
	found, err := collect(ctx, d, func(rows sqlitefile.Cursor) (message, error) {
		var m message
		var created sql.NullInt64
		var data sql.RawBytes
		if err := rows.Scan(&m.id, &created, &data); err != nil {
			return m, err
		}
		if created.Valid {
			m.created = milliseconds(created.Int64)
		}
		m.decode(data)
		return m, nil
	}, fixed(fmt.Sprintf(`SELECT CAST(id AS TEXT), CASE WHEN typeof(time_created) = 'integer' THEN time_created END, substr(CAST(data AS TEXT), 1, %d)
		FROM message WHERE session_id = ? AND id IS NOT NULL ORDER BY time_created %s, id %s LIMIT ?`, maxText, direction, direction)), session, limit)
	if most >= 0 {
		slices.Reverse(found)
	}
	return found, err
}

func (d *database) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = sqlitefile.Each(ctx, func() (sqlitefile.Cursor, error) {
		p = partsOf{}
		rows, _, err := d.Query(ctx, fixed(fmt.Sprintf(`SELECT CAST(id AS TEXT), octet_length(data) > %d, CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END
			FROM part WHERE message_id = ? AND id IS NOT NULL AND data IS NOT NULL ORDER BY id`, maxPart, maxPart)), message)
		return rows, err
	}, func(rows sqlitefile.Cursor) error {
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
	})
	return p, err
}

func (d *database) version(ctx context.Context, session string) (string, error) {
	found, err := collect(ctx, d, text, func(t tables) string {
		latest := func(table, session string) string {
			return fmt.Sprintf("(SELECT count(*) || ' ' || coalesce(max(%s), '') FROM %s WHERE %s)", t.column(table, "time_updated"), table, session)
		}
		parts := latest("part", "message_id IN (SELECT id FROM message WHERE session_id = session.id)")
		if t.column("part", "session_id") != "NULL" {
			parts = latest("part", "session_id = session.id")
		}
		return fmt.Sprintf("SELECT coalesce(%s, '') || ' ' || %s || ' ' || %s FROM session WHERE id = ?",
			t.column("session", "time_updated"), latest("message", "session_id = session.id"), parts)
	}, session)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}
