package messagedb

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// errForm is the error for a database with other tables.
var errForm error = store.StateError("its tables have another form, which may be that of a later version")

// Tables returns the function Queries of a store of a program's SQLite databases, of which it reads only plain tables
// without generated columns.
//
// The function queries returns two queries. The first selects the sessions that have messages, in columns called key,
// parent, agent, title, dir, created, updated, archived and version, as in [Queries]. The second selects the messages of
// the session with the key ?1, in columns called role, at, about, data and place (by which they are ordered). Columns
// can have any value. has reports whether there is a column. ok is false if a necessary one is missing.
func Tables(queries func(has func(table, column string) bool) (sessions, messages string, ok bool)) func(context.Context, *sqlitefile.DB) (*Queries, error) {
	text := func(column string) string {
		return fmt.Sprintf("coalesce(substr(CAST(%s AS TEXT), 1, %d), '')", column, MaxText)
	}
	return func(ctx context.Context, db *sqlitefile.DB) (*Queries, error) {
		columns, err := columns(ctx, db)
		if err != nil {
			return nil, err
		}
		sessions, messages, ok := queries(func(table, column string) bool { return columns[table+"."+column] })
		if !ok {
			return nil, errForm
		}
		// The driver converts plain columns by their declared types, and expressions not.
		return &Queries{
			Conversations: fmt.Sprintf("SELECT %s, %s, agent, %s, %s, coalesce(created, NULL), coalesce(updated, NULL), archived, %s, NULL, 0, '' FROM (%s)",
				text("key"), text("parent"), text("title"), text("dir"), text("version"), sessions),
			Messages: fmt.Sprintf(`SELECT coalesce(CAST(role AS TEXT), ''), CAST(substr(about, 1, %d) AS BLOB), coalesce(at, NULL),
				CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END FROM (%s) WHERE data IS NOT NULL ORDER BY place`, MaxText, MaxMessage, messages),
		}, nil
	}
}

// columns returns the plain columns of plain tables, as TABLE.COLUMN. It leaves out views and virtual tables, which have
// no root page.
func columns(ctx context.Context, db *sqlitefile.DB) (map[string]bool, error) {
	found := map[string]bool{}
	err := db.Each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		found[name] = true
		return err
	}, "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden = 0")
	return found, err
}

// mostSeconds is a time after the year 9999 in seconds since 1970, and in 1978 in milliseconds.
const mostSeconds = 1 << 38

// Moment returns the time that is recorded as seconds since 1970, a number or a text, as milliseconds, a whole number,
// or in ISO 8601. It is zero for the number 0, for other values, and for times outside the years 0 to 9999.
func Moment(value any) time.Time {
	const maxTime = 64 // bytes
	switch v := value.(type) {
	case int64:
		if v >= mostSeconds {
			return transcript.InRange(time.UnixMilli(v).UTC())
		}
		return seconds(float64(v))
	case float64:
		return seconds(v)
	case []byte:
		return Moment(string(v))
	case string:
		text := strings.TrimSpace(v)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return seconds(n)
		}
		if span, err := iso8601.Parse(text[:min(len(text), maxTime)]); err == nil {
			return transcript.InRange(span.First)
		}
	}
	return time.Time{}
}

// seconds returns a time from seconds since 1970, rounded to microseconds: a float64 is not more exact.
func seconds(n float64) time.Time {
	if n == 0 || !(math.Abs(n) < mostSeconds) {
		return time.Time{}
	}
	return transcript.InRange(time.UnixMicro(int64(math.Round(n * 1e6))).UTC())
}
