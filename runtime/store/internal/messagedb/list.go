package messagedb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// database is a database of a listing.
type database struct {
	sqlitefile.Shared[*DB]
	store *Store
}

// MaxText is how many characters of a title are read.
const MaxText = 4 << 10

// scan returns the conversation of a row.
func (d *database) scan(db *DB, rows *sql.Rows) (c store.Conversation, err error) {
	r := &record{database: d}
	var title, version, native sql.NullString
	var created, updated, last any
	var order sql.NullInt64
	if err := rows.Scan(&r.key, &title, &created, &updated, &c.Archived, &version, &last, &order, &native); err != nil {
		return c, err
	}
	name := ""
	switch key := r.key.(type) {
	case nil:
	case []byte:
		name = string(key)
	default:
		name = fmt.Sprint(key)
	}
	r.version = cmp.Or(version.String, db.Stamp)
	r.id = ID(d.store.IDs, name)
	c.ID, c.Source, c.Record, c.NativeID = r.id, d.store.Kind, r, name
	if native.Valid {
		c.NativeID = native.String
	}
	c.Title = strings.ToValidUTF8(text.Cut(title.String, MaxText), "\ufffd")
	c.CreatedAt, c.LastActivatedAt, c.LastAt, c.Order = Moment(created), Moment(updated), Moment(last), order.Int64
	return c, nil
}

// List implements [store.Store]. Where several databases have a conversation, the first of them
// counts.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	databases, problems := s.Databases()
	var opened []*database
	l := &store.Listing{Problems: problems, Release: func() {
		for _, d := range opened {
			d.Release()
		}
	}}
	read := 0
	for _, at := range databases {
		d := &database{store: s}
		d.Open = at.Open
		d.Retain()
		opened = append(opened, d)
		found, err := d.list(ctx, scope)
		switch {
		case ctx.Err() != nil:
			l.Close()
			return nil, ctx.Err()
		case err == nil:
			read++
		case !errors.Is(err, ErrAbsent):
			l.Problems = append(l.Problems, history.Problem("", store.Unreadable, at.Path, err))
		}
		l.Conversations = append(l.Conversations, found...)
	}
	if p := l.Problems; read == 0 && len(p) > 0 && p[0].Kind != store.Unnamed {
		l.Close()
		return nil, fmt.Errorf("opening the conversations in %s: %w", p[0].Path, p[0].Err)
	}
	slices.SortStableFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	l.Conversations = slices.CompactFunc(l.Conversations, func(a, b store.Conversation) bool { return a.ID == b.ID })
	l.Keep(scope)
	return l, nil
}

// list returns the conversations of the database, and where only some are wanted, at least these.
func (d *database) list(ctx context.Context, scope store.Scope) (found []store.Conversation, err error) {
	all := len(scope.IDs) == 0
	for _, id := range scope.IDs {
		if key, ok := strings.CutPrefix(string(id), d.store.Prefix); ok {
			some, err := sqlitefile.Rows(ctx, &d.Shared, d.scan, func(db *DB) string { return db.Conversation }, key)
			if err != nil {
				return nil, err
			}
			found, all = append(found, some...), all || len(some) == 0
		}
	}
	if all { // a key need not be a text, and an id has a hash in place of some
		return sqlitefile.Rows(ctx, &d.Shared, d.scan, func(db *DB) string { return db.Conversations })
	}
	return found, nil
}
