package messagedb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// database is a database of a listing.
type database struct {
	sqlitefile.Shared[*DB]
	store *Store
}

const (
	// MaxText is how many bytes of a text beside the messages are read.
	MaxText = 64 << 10
	// maxListed is how many bytes the conversations of a database take in a list, about.
	maxListed = 256 << 20
)

// collect returns the conversations that a query has.
func (d *database) collect(ctx context.Context, query func(*DB) string, args ...any) ([]store.Conversation, error) {
	var found []store.Conversation
	err := d.Do(ctx, func(db *DB) error {
		found = nil
		held := 0
		return db.Each(ctx, func(rows *sql.Rows) error {
			c, err := d.scan(db, rows)
			if err != nil {
				return err
			}
			found = append(found, c)
			const row = 500 // bytes, about
			if held += row + len(c.NativeID) + len(c.Title); held > maxListed {
				return sqlitefile.ErrTooMuch
			}
			return nil
		}, query(db), args...)
	})
	return found, err
}

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
	r.id = ID(d.store.Prefix, name)
	c.ID, c.Source, c.Record, c.NativeID = r.id, d.store.Name(), r, name
	if native.Valid {
		c.NativeID = native.String
	}
	c.Title = strings.ToValidUTF8(title.String[:min(len(title.String), MaxText)], "\ufffd")
	c.CreatedAt, c.LastActivatedAt, c.LastAt = Moment(created), Moment(updated), Moment(last)
	c.Order = order.Int64
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
func (d *database) list(ctx context.Context, scope store.Scope) ([]store.Conversation, error) {
	var found []store.Conversation
	missing := len(scope.IDs) == 0
	for _, id := range scope.IDs {
		key, ok := strings.CutPrefix(string(id), d.store.Prefix)
		if !ok {
			continue
		}
		some, err := d.collect(ctx, func(db *DB) string { return db.Conversation }, key)
		if err != nil {
			return nil, err
		}
		found, missing = append(found, some...), missing || len(some) == 0
	}
	if !missing {
		return found, nil
	}
	// A key need not be a text, and an id has a hash in place of some.
	return d.collect(ctx, func(db *DB) string { return db.Conversations })
}
