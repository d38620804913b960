package messagedb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the databases of a store, opened for one query. It implements
// [store.Session].
type session struct {
	store     *Store
	databases []*database
	unread    []store.Problem

	mu       sync.Mutex
	isListed bool // found and problems are what all has found
	found    []store.Conversation
	problems []store.Problem
}

// database is an opened database.
type database struct {
	sqlitefile.Shared[*DB]
	store *Store
	path  string
}

// Close implements [store.Session].
func (s *session) Close() {
	for _, d := range s.databases {
		d.Release()
	}
	s.databases = nil
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
		return db.each(ctx, func(rows *sql.Rows) error {
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
	r := &record{database: d, stamp: db.Stamp}
	var title, version, native sql.NullString
	var created, updated, last any
	var order sql.NullInt64
	columns := []any{&r.key, &title, &created, &updated, &c.Archived, &version, &last, &order, &native}
	if names, _ := rows.Columns(); len(names) > len(columns) {
		columns = append(columns, &r.first, &r.last)
	}
	if err := rows.Scan(columns...); err != nil {
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
	r.id = ID(d.store.options.Prefix, name)
	c.ID, c.Source, c.Record, c.NativeID = r.id, d.store.Name(), r, name
	if native.Valid {
		c.NativeID = native.String
	}
	c.Title = strings.ToValidUTF8(title.String[:min(len(title.String), MaxText)], "\ufffd")
	c.CreatedAt, c.LastActivatedAt, c.LastAt = Moment(created), Moment(updated), Moment(last)
	c.Order = order.Int64
	return c, nil
}

// all returns the conversations of all databases in the order of their ids: where several have
// one, the first of them counts. They are looked up once: the rows of all messages may be read
// for that.
func (s *session) all(ctx context.Context) ([]store.Conversation, []store.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isListed {
		return s.found, slices.Clone(s.problems), nil
	}
	var found []store.Conversation
	var problems []store.Problem
	for _, d := range s.databases {
		more, err := d.collect(ctx, func(db *DB) string { return db.Conversations })
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, history.Problem("", store.Unreadable, d.path, err))
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	found = slices.CompactFunc(found, func(a, b store.Conversation) bool { return a.ID == b.ID })
	s.isListed, s.found, s.problems = true, found, problems
	return found, slices.Clone(problems), nil
}

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	all, problems, err := s.all(ctx)
	var list []store.Conversation
	for _, c := range all {
		if c.Archived && set&store.Archived != 0 || !c.Archived && set&store.Live != 0 {
			list = append(list, c)
		}
	}
	return list, problems, err
}

// Find implements [store.Session].
func (s *session) Find(ctx context.Context, want transcript.ID) (store.Conversation, error) {
	isWanted := func(c store.Conversation) bool { return c.ID == want }
	key := strings.TrimPrefix(string(want), s.store.options.Prefix)
	for _, d := range s.databases {
		found, err := d.collect(ctx, func(db *DB) string { return db.Conversation }, key)
		if err != nil {
			return store.Conversation{}, fmt.Errorf("%s: %w", d.path, err)
		}
		if i := slices.IndexFunc(found, isWanted); i >= 0 {
			return found[i], nil
		}
	}
	// A key need not be a text, and an id has a hash in place of some.
	all, _, err := s.all(ctx)
	if err != nil {
		return store.Conversation{}, err
	}
	if i := slices.IndexFunc(all, isWanted); i >= 0 {
		return all[i], nil
	}
	ids := make([]transcript.ID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	return store.Conversation{}, history.NotFound(want, s.store.Place(), ids, s.unread)
}
