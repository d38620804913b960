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
	sqlitefile.Shared[*sqlitefile.DB]
	file string
}

// newDatabase returns a database with one user.
func newDatabase(path string) *database {
	d := &database{file: path}
	d.Open = func(ctx context.Context) (*sqlitefile.DB, error) { return sqlitefile.OpenPath(ctx, path) }
	d.Retain()
	return d
}

func (d *database) path() string { return d.file }

// collect returns what scan makes of each row of a query.
func collect[T any](ctx context.Context, d *database, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	return sqlitefile.Rows(ctx, &d.Shared,
		func(_ *sqlitefile.DB, rows *sql.Rows) (T, error) { return scan(rows) }, func(*sqlitefile.DB) string { return query }, args...)
}

// maxText is how many characters of a text beside the parts are read.
const maxText = 64 << 10

// number is a column with a number. What has another type than it should have counts as 0.
type number int64

// Scan implements [sql.Scanner].
func (n *number) Scan(value any) error {
	i, _ := value.(int64)
	*n = number(i)
	return nil
}

func (d *database) sessions(ctx context.Context, session string) ([]*info, []store.Problem, error) {
	const of = "FROM message WHERE session_id = session.id"
	query := "SELECT "
	for _, name := range []string{"id", "parent_id", "directory", "title", "revert"} {
		query += fmt.Sprintf("coalesce(substr(CAST(%s AS TEXT), 1, %d), ''), ", name, maxText)
	}
	query += "time_created, time_archived, (SELECT min(time_created) " + of + ") FROM session WHERE EXISTS (SELECT 1 " + of + ") AND (?1 = '' OR id = ?1)"
	all, err := collect(ctx, d, func(rows *sql.Rows) (*info, error) {
		i := &info{source: d}
		var undone []byte
		var created, archived, begun number
		err := rows.Scan(&i.session, &i.Parent, &i.Dir, &i.Title, &undone, &created, &archived, &begun)
		i.Title = strings.ToValidUTF8(i.Title, "\ufffd")
		i.Time.Created, i.Time.Archived, i.begun = int64(created), int64(archived), int64(begun)
		jsontext.Decode(undone, &i.Revert)
		return i, err
	}, query, session)
	return slices.DeleteFunc(all, func(i *info) bool { return !isSession(i.session) }), nil, err
}

func (d *database) messages(ctx context.Context, session string, last int) ([]message, error) {
	found, err := collect(ctx, d, func(rows *sql.Rows) (m message, err error) {
		var created number
		var data []byte
		err = rows.Scan(&m.id, &created, &data)
		m.created = int64(created)
		m.decode(data)
		return m, err
	}, fmt.Sprintf(`SELECT CAST(id AS TEXT), time_created, substr(CAST(data AS TEXT), 1, %d)
		FROM message WHERE session_id = ? AND id IS NOT NULL ORDER BY time_created DESC, id DESC LIMIT ?`, maxText), session, last)
	slices.Reverse(found)
	return found, err
}

func (d *database) parts(ctx context.Context, message string) (p partsOf, err error) {
	err = d.Do(ctx, func(db *sqlitefile.DB) error {
		p = partsOf{}
		return db.Each(ctx, func(rows *sql.Rows) error {
			var id string
			var data sql.RawBytes
			err := rows.Scan(&id, &data)
			p.add(id, bytes.Clone(data))
			return err
		}, fmt.Sprintf(`SELECT CAST(id AS TEXT), CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END
			FROM part WHERE message_id = ? AND id IS NOT NULL AND data IS NOT NULL ORDER BY id`, maxPart), message)
	})
	return p, err
}

func (d *database) version(ctx context.Context, session string) (string, error) {
	const latest = "(SELECT count(*) || ' ' || coalesce(max(time_updated), '') FROM %s WHERE session_id = session.id)"
	found, err := collect(ctx, d, func(rows *sql.Rows) (version string, err error) {
		err = rows.Scan(&version)
		return version, err
	}, fmt.Sprintf("SELECT coalesce(time_updated, '') || ' ' || "+latest+" || ' ' || "+latest+" FROM session WHERE id = ?", "message", "part"), session)
	return strings.Join(found, ""), err
}

// latest returns the parts of the last messages of the sessions that were changed last, with
// the ids of these sessions in place of their own.
func (d *database) latest(ctx context.Context) ([]part, error) {
	const sessions, messages = 32, 4
	return collect(ctx, d, func(rows *sql.Rows) (p part, err error) {
		var raw []byte
		err = rows.Scan(&p.id, &raw)
		jsontext.Decode(raw, &p)
		return p, err
	}, fmt.Sprintf(`SELECT CAST(s.id AS TEXT), CAST(part.data AS BLOB)
		FROM (SELECT id FROM session WHERE id IS NOT NULL ORDER BY time_updated DESC LIMIT %d) AS s CROSS JOIN part
		WHERE part.message_id IN (SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT %d) AND octet_length(part.data) <= %d`,
		sessions, messages, maxText))
}
