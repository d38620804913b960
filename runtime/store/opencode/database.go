package opencode

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
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
func (d *database) retain()      { d.Retain() }
func (d *database) release()     { d.Release() }

// required are the columns without which the tables cannot be read.
var required = [...]struct{ table, column string }{
	{"session", "id"},
	{"session", "directory"},
	{"message", "id"},
	{"message", "session_id"},
	{"message", "time_created"},
	{"message", "data"},
	{"part", "id"},
	{"part", "message_id"},
	{"part", "data"},
}

// openDatabase opens a database, and reads which columns the tables have. A view in
// place of a table is none: looking at it could take any time.
func openDatabase(ctx context.Context, path string) (*sqlitefile.DB, tables, error) {
	db, err := sqlitefile.OpenPath(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	t := tables{}
	err = db.Each(ctx, func(rows *sql.Rows) error {
		var table, column string
		err := rows.Scan(&table, &column)
		t[table] = append(t[table], column)
		return err
	}, `SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part') AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	for _, r := range required {
		if err == nil && !slices.Contains(t[r.table], r.column) {
			err = &schemaError{r.table, r.column}
		}
	}
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, t, nil
}

// schemaError is the error for a database of a form that is not known.
type schemaError struct{ table, column string }

func (e *schemaError) Error() string {
	return fmt.Sprintf("it has no column %s.%s: it is of another version of opencode than the known ones", e.table, e.column)
}

// column returns an expression for a column that a table need not have.
func (t tables) column(table, name string) string {
	if slices.Contains(t[table], name) {
		return table + "." + name
	}
	return "NULL"
}

// collect returns what scan makes of each row.
func collect[T any](ctx context.Context, d *database, scan func(*sql.Rows) (T, error), query func(tables) string, args ...any) ([]T, error) {
	return sqlitefile.Collect(ctx, d.Shared, scan, query, args...)
}

func fixed(query string) func(tables) string { return func(tables) string { return query } }

// open opens the database, to find out whether it can be read.
func (d *database) open(ctx context.Context) error {
	return d.Each(ctx, func() {}, func(*sql.Rows) error { return nil }, fixed("SELECT 1"))
}

// maxText is how many characters of a text beside the messages are read.
const maxText = 64 << 10

func (d *database) scanInfo(rows *sql.Rows) (*info, error) {
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
	if most == 0 {
		most = -1
	}
	found, err := collect(ctx, d, func(rows *sql.Rows) (message, error) {
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
		FROM message WHERE session_id = ? AND id IS NOT NULL ORDER BY time_created DESC, id DESC LIMIT ?`, maxText)), session, most)
	slices.Reverse(found)
	return found, err
}

func (d *database) begin(ctx context.Context, session string) (time.Time, error) {
	found, err := collect(ctx, d, func(rows *sql.Rows) (ms sql.NullInt64, err error) {
		err = rows.Scan(&ms)
		return ms, err
	}, fixed("SELECT CASE WHEN typeof(time_created) = 'integer' THEN time_created END FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1"), session)
	if err != nil || len(found) == 0 || !found[0].Valid {
		return time.Time{}, err
	}
	return milliseconds(found[0].Int64), nil
}

// Sizes of parts, in bytes.
const (
	smallPart = 64 << 10 // that is read before it is known what it is
	maxPart   = jsonl.MaxLine
	beginSize = 512 // of a part's beginning, which has its type
)

// sized is a part that was not read yet.
type sized struct {
	id   string
	size int
	file bool
}

// choose returns the parts that are read, how many bytes they have, and those of which
// nothing is told but that there is one; left is how many are too long.
func choose(all []sized) (chosen []sized, total int, files []part, left int) {
	for _, p := range all {
		switch {
		case p.file:
			files = append(files, part{id: p.id, file: true})
		case total+p.size > maxPart:
			left++
		default:
			total += p.size
			chosen = append(chosen, p)
		}
	}
	return chosen, total, files, left
}

// ordered returns parts in their order.
func ordered(parts []part) []part {
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.id, b.id) })
	return parts
}

func (d *database) parts(ctx context.Context, message string, buffer *store.Buffer) (_ []part, left, unread int, _ error) {
	if err := buffer.Reserve(ctx, jsonl.Chunk); err != nil {
		return nil, 0, 0, err
	}
	var all []sized
	var small []part
	begin := func() { all, small, buffer.Bytes = nil, nil, buffer.Bytes[:0] }
	err := d.Each(ctx, begin, func(rows *sql.Rows) error {
		var p sized
		var data sql.RawBytes
		if err := rows.Scan(&p.id, &p.size, &data); err != nil {
			return err
		}
		if p.size > smallPart {
			p.file = isFile(data) // not known of one that is too long
		} else if start := len(buffer.Bytes); start+len(data) <= cap(buffer.Bytes) {
			buffer.Bytes = append(buffer.Bytes, data...)
			small = append(small, part{id: p.id, raw: buffer.Bytes[start:]})
		}
		all = append(all, p)
		return nil
	}, fixed(fmt.Sprintf(`SELECT CAST(id AS TEXT), octet_length(data), CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB)
			WHEN octet_length(data) <= %d THEN substr(CAST(data AS TEXT), 1, %d) END
		FROM part WHERE message_id = ? AND id IS NOT NULL AND data IS NOT NULL ORDER BY id`, smallPart, maxPart, beginSize)), message)
	if err != nil || len(small) == len(all) {
		return small, 0, 0, err
	}
	chosen, total, files, left := choose(all)
	if err := buffer.Reserve(ctx, max(total, jsonl.Chunk)); err != nil {
		return nil, 0, 0, err
	}
	var parts []part
	for from, to := 0, 0; from < len(chosen); from = to {
		// Those between two large ones are read at once.
		most := max(smallPart, chosen[from].size)
		for to = from + 1; most == smallPart && to < len(chosen) && chosen[to].size <= smallPart; {
			to++
		}
		size, before := len(buffer.Bytes), len(parts)
		err := d.Each(ctx, func() { buffer.Bytes, parts = buffer.Bytes[:size], parts[:before] }, func(rows *sql.Rows) error {
			var p part
			var data sql.RawBytes
			if err := rows.Scan(&p.id, &data); err != nil {
				return err
			}
			start := len(buffer.Bytes)
			buffer.Bytes = append(buffer.Bytes, data...)
			p.raw = buffer.Bytes[start:]
			parts = append(parts, p)
			return nil
		}, fixed(`SELECT CAST(id AS TEXT), CAST(data AS BLOB) FROM part
			WHERE message_id = ? AND id BETWEEN ? AND ? AND octet_length(data) <= ? ORDER BY id`), message, chosen[from].id, chosen[to-1].id, most)
		if err != nil {
			return nil, 0, 0, err
		}
	}
	return ordered(append(parts, files...)), left, 0, nil
}

func (d *database) version(ctx context.Context, session string) (string, error) {
	found, err := collect(ctx, d, func(rows *sql.Rows) (version string, err error) {
		err = rows.Scan(&version)
		return version, err
	}, func(t tables) string {
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
