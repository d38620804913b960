package messagedb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// Has reports whether a table of a database has a column.
type Has func(table, column string) bool

// Or returns the name of a column, or instead, an SQL expression such as "NULL", if the table does not have the column.
func (has Has) Or(table, column, instead string) string {
	if has(table, column) {
		return column
	}
	return instead
}

// Tables returns a function for the field Queries of a [Store]. For a database, that function calls queries, and makes
// the [Queries] of the two SQL queries that the call returns. The database must be SQLite. The argument has reports its
// plain columns of plain tables: views and generated columns, which run code of the database's author, are not read.
//
// The query sessions selects the sessions that have messages, in columns called key, parent, agent, title, dir,
// created, updated, archived and version, as in [Queries]. The query messages selects the messages of the session with
// the key ?1, in columns called role, at, about, data and place; place orders the messages. Columns can have values of
// any type. ok is false if the database lacks a necessary column.
func Tables(queries func(has Has) (sessions, messages string, ok bool)) func(context.Context, *sqlitefile.DB) (*Queries, error) {
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
			return nil, store.StateError("its tables have another form, which may be that of a later version")
		}
		// The driver converts plain columns by their declared types. coalesce(x, NULL) is x, and is not converted.
		return &Queries{
			Conversations: fmt.Sprintf("SELECT %s, %s, agent, %s, %s, coalesce(created, NULL), coalesce(updated, NULL), archived, %s, NULL, 0, '' FROM (%s)",
				text("key"), text("parent"), text("title"), text("dir"), text("version"), sessions),
			Messages: fmt.Sprintf(`SELECT coalesce(CAST(role AS TEXT), ''), CAST(substr(about, 1, %d) AS BLOB), coalesce(at, NULL),
				CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END FROM (%s) WHERE data IS NOT NULL ORDER BY place`, MaxText, MaxMessage, messages),
		}, nil
	}
}

// columns returns the plain columns of plain tables, as TABLE.COLUMN. Views and virtual tables have no root page.
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

// Decompress returns the content of zstd data; nil if the data is damaged, or if the content has more than most bytes.
func Decompress(data []byte, most int64) []byte {
	const maxWindow = 128 << 20
	d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil
	}
	defer d.Close()
	text, err := io.ReadAll(io.LimitReader(d, most+1))
	if err != nil || int64(len(text)) > most {
		return nil
	}
	return text
}
