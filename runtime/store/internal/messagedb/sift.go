package messagedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// Sifted is a table of a database in SQLite that has text of conversations, which is found
// in the pages of the database before anything is queried.
type Sifted struct {
	Table   string   // in lower case
	Columns []string // those with the text, in lower case
	// Key is the query for the key of the conversation that the row with the rowid ?1 is of.
	Key string
}

// sifter is a [Shared] in which conversations are found by what their rows have.
type sifter interface {
	// holding returns the keys of the conversations in whose text may may be true of a part,
	// and possibly of others. ok is false where a query is to be made in place of that.
	holding(ctx context.Context, may func(part []byte) bool) (keys []any, ok bool, err error)
}

// maxRows is how many rows may have what is looked for. To query each of more of them takes
// longer than to query all there are at once.
const maxRows = 20_000

func (s sqlite) holding(ctx context.Context, may func(part []byte) bool) (keys []any, ok bool, err error) {
	err = s.Use(ctx, func(db *sqlitefile.DB, form *Form) error {
		keys, ok = nil, false
		if len(form.Sifted) == 0 || form.Groups != "" {
			return nil
		}
		seen := map[string]bool{}
		rows := 0
		for _, t := range form.Sifted {
			ids, err := sift(ctx, db, &t, may, maxRows-rows)
			if err != nil {
				return err
			}
			rows += len(ids)
			for _, id := range ids {
				err := db.Each(ctx, func(rows *sql.Rows) error {
					var key any
					err := rows.Scan(&key)
					if name := fmt.Sprintf("%T %v", key, key); !seen[name] {
						seen[name] = true
						keys = append(keys, key)
					}
					return err
				}, t.Key, id)
				if err != nil {
					return err
				}
			}
		}
		ok = true
		return nil
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, sqlitefile.ErrChanged) {
		return nil, false, nil // what is wrong with it, if anything, a query reports
	}
	return keys, ok, err
}

var errTooMany = errors.New("too many rows")

// sift returns the rowids of rows in which may may be true of a part, in their order.
func sift(ctx context.Context, db *sqlitefile.DB, t *Sifted, may func(part []byte) bool, most int) ([]int64, error) {
	table, err := db.Table(ctx, t.Table, t.Columns...)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var ids []int64
	err = db.Sift(ctx, table, may, func(rowid int64) bool {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, rowid)
		return len(ids) <= most
	})
	if err == nil && len(ids) > most {
		err = errTooMany
	}
	slices.Sort(ids)
	return ids, err
}

// ListHolding implements [store.Narrower].
func (s *session) ListHolding(ctx context.Context, set store.Set, may func(part []byte) bool) ([]store.Conversation, bool, error) {
	var found []*info
	for n, d := range s.databases {
		holding, ok, err := d.holding(ctx, may)
		if !ok || err != nil {
			return nil, false, err
		}
		if n > 0 && len(holding) > maxElsewhere {
			return nil, false, nil
		}
		for _, i := range holding {
			elsewhere, err := s.isIn(ctx, s.databases[:n], i)
			if err != nil {
				return nil, false, err
			}
			if !elsewhere {
				found = append(found, i)
			}
		}
	}
	return s.listed(found, set), true, nil
}

// maxElsewhere is how many conversations of a database are looked up in those before it.
const maxElsewhere = 1000

// holding returns the conversations in whose text may may be true of a part, and possibly
// others.
func (d *database) holding(ctx context.Context, may func(part []byte) bool) (found []*info, ok bool, err error) {
	shared, ok := d.Shared.(sifter)
	if !ok {
		return nil, false, nil
	}
	keys, ok, err := shared.holding(ctx, may)
	if !ok || err != nil {
		return nil, false, err
	}
	for _, key := range keys {
		infos, err := d.collect(ctx, func(f *Form) string { return f.Listed }, key)
		if err != nil {
			return nil, false, err
		}
		found = append(found, infos...)
	}
	return found, true, nil
}

// isIn reports whether one of some databases has a conversation with the same id, which need
// not have the same key: it may be another type of it.
func (s *session) isIn(ctx context.Context, databases []*database, i *info) (bool, error) {
	if len(databases) == 0 {
		return false, nil
	}
	keys := []any{i.name, []byte(i.name)}
	if n, err := strconv.ParseInt(i.name, 10, 64); err == nil {
		keys = append(keys, n)
	}
	if x, err := strconv.ParseFloat(i.name, 64); err == nil {
		keys = append(keys, x)
	}
	if i.name == "" {
		keys = append(keys, nil)
	}
	for _, d := range databases {
		for _, key := range keys {
			same, err := d.find(ctx, key)
			if err != nil || slices.ContainsFunc(same, func(other *info) bool { return other.name == i.name }) {
				return true, err
			}
		}
	}
	return false, nil
}
