package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/sqlitetable"
)

// ErrNoTable is the error for what cannot be sifted: a view, a virtual table, one without
// rowids, or one with columns that are made of others.
var ErrNoTable = errors.New("there is no such table, or it is no plain one")

// Table returns the pages of a table, to look at columns of it. Names are in lower case. The
// error is [ErrNoTable] where it is no plain one.
func (db *DB) Table(ctx context.Context, name string, columns ...string) (*sqlitetable.Table, error) {
	t := &sqlitetable.Table{File: db.snapshot, Size: db.snapshot.size}
	err := db.Each(ctx, func(rows *sql.Rows) error {
		var statement string
		if err := rows.Scan(&t.Root, &statement); err != nil {
			return err
		}
		// As words of something else they cost speed.
		statement = strings.ToUpper(statement)
		if strings.Contains(statement, "VIRTUAL") || strings.Contains(statement, "WITHOUT") {
			t.Root = 0
		}
		return nil
	}, "SELECT rootpage, sql FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1", name)
	if err == nil && t.Root != 0 {
		err = db.Each(ctx, func(rows *sql.Rows) error {
			var column string
			var place, key, hidden int
			err := rows.Scan(&place, &column, &key, &hidden)
			// A column with another value than that of the record: of a key it may be the rowid.
			if slices.Contains(columns, column) {
				if t.Columns = append(t.Columns, place); key != 0 {
					t.Root = 0
				}
			}
			if hidden != 0 || column == "rowid" {
				t.Root = 0
			}
			return err
		}, "SELECT cid, lower(name), pk, hidden FROM pragma_table_xinfo(?1)", name)
	}
	if err == nil && (t.Root == 0 || len(t.Columns) < len(columns)) {
		err = ErrNoTable
	}
	return t, err
}

// Sift does what [sqlitetable.Table.Sift] does. The error is [ErrChanged] where the owner of
// the database has changed it.
func (db *DB) Sift(ctx context.Context, t *sqlitetable.Table, may func(part []byte) bool, found func(rowid int64) bool) error {
	return db.failure(ctx, t.Sift(ctx, may, found))
}
