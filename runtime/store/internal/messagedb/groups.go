package messagedb

import (
	"context"
	"database/sql"
	"sync"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// groups are the rows of messages of a database, by where their conversation stands in it. They
// are looked up once, in one pass: without an index a query for each conversation would read
// all messages.
type groups struct {
	mu sync.Mutex
	of map[int64]string // JSON arrays of rowids; nil before they are looked up
}

// rowsOf, as the last argument of a query, stands for the rows of the messages of a
// conversation where [Form.Groups] has the query ask for them, and else for nothing.
type rowsOf struct{ *info }

// messagesOf returns the arguments of [Form.Messages].
func (d *database) messagesOf(i *info) []any {
	if _, ok := d.Shared.(sqlite); ok {
		return []any{i.key, rowsOf{i}}
	}
	return []any{i.key}
}

// arguments returns the arguments of a query, with what they stand for.
func (f *Form) arguments(ctx context.Context, db *sqlitefile.DB, args []any) ([]any, error) {
	last := len(args) - 1
	if last < 0 {
		return args, nil
	}
	of, ok := args[last].(rowsOf)
	if !ok {
		return args, nil
	}
	args = args[:last:last]
	if f.Groups == "" {
		return args, nil
	}
	rows, err := f.rowsOf(ctx, db, of.info)
	return append(args, rows), err
}

// rowsOf returns the rows of the messages of a conversation as a JSON array.
func (f *Form) rowsOf(ctx context.Context, db *sqlitefile.DB, i *info) (string, error) {
	order := i.order
	if i.form != f { // the database has changed, or the conversation was not listed
		err := db.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&order) }, f.First, i.key)
		if err != nil {
			return "", err
		}
	}
	const none = "[]"
	if !order.Valid {
		return none, nil
	}
	f.groups.mu.Lock()
	defer f.groups.mu.Unlock()
	if f.groups.of == nil {
		of := map[int64]string{}
		err := db.Each(ctx, func(rows *sql.Rows) error {
			var order int64
			var ids string
			err := rows.Scan(&order, &ids)
			of[order] = ids
			return err
		}, f.Groups)
		if err != nil {
			return "", err
		}
		f.groups.of = of
	}
	return f.groups.of[order.Int64], nil
}

// now returns a conversation as the database has it now: as it was listed, as long as that is
// what is read. There is none where it is gone.
func (d *database) now(ctx context.Context, i *info) ([]*info, error) {
	var form *Form
	err := d.Each(ctx, func() {}, nil, func(f *Form) string {
		form = f
		return "SELECT 1 WHERE FALSE"
	})
	if err == nil && form == i.form && i.form != nil {
		return []*info{i}, nil
	}
	if err != nil {
		return nil, err
	}
	return d.find(ctx, i.key)
}
