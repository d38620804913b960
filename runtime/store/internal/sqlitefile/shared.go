package sqlitefile

import (
	"context"
	"errors"
	"sync"
)

// Shared is a database that several use at a time. It is opened where it is used, and
// again where its owner changes it while it is read. F is what its users have to know of
// its form. It is safe for concurrent use.
type Shared[F any] struct {
	open func(context.Context) (*DB, F, error)

	mu    sync.Mutex
	users int
	db    *DB // nil where it is not open
	form  F   // of db
}

// Share returns a database with one user, and which open opens.
func Share[F any](open func(context.Context) (*DB, F, error)) *Shared[F] {
	return &Shared[F]{open: open, users: 1}
}

// Retain adds a user.
func (s *Shared[F]) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release takes a user away. The database is closed behind the last one.
func (s *Shared[F]) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 && s.db != nil {
		s.retire()
	}
}

// acquire returns the database, opened where it is not, and its form.
func (s *Shared[F]) acquire(ctx context.Context) (*DB, F, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		db, form, err := s.open(ctx)
		if err != nil {
			return nil, form, err
		}
		s.db, s.form = db, form
		db.uses = 1
	}
	s.db.uses++
	return s.db, s.form, nil
}

// leave ends a query, which had an error.
func (s *Shared[F]) leave(db *DB, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == db && (errors.Is(err, ErrChanged) || s.users == 0) {
		s.retire()
	}
	db.drop()
}

// retire has the database not used again.
func (s *Shared[F]) retire() {
	s.db.drop()
	s.db = nil
}

// drop takes a use away. The database is closed behind the last one.
func (db *DB) drop() {
	if db.uses--; db.uses == 0 {
		db.Close()
	}
}

// Query begins a query, which may depend on the form of the database, and returns that too.
func (s *Shared[F]) Query(ctx context.Context, query func(F) string, args ...any) (Cursor, F, error) {
	db, form, err := s.acquire(ctx)
	if err != nil {
		return nil, form, err
	}
	rows, err := db.Query(ctx, query(form), args...)
	if err != nil {
		s.leave(db, err)
		return nil, form, err
	}
	rows.left = func(err error) { s.leave(db, err) }
	return rows, form, nil
}

// Cursor is [Rows], or those of another database.
type Cursor interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Each calls row for each of the rows that begin returns. Where the owner of the database
// changes it meanwhile, it begins again.
func Each(ctx context.Context, begin func() (Cursor, error), row func(Cursor) error) error {
	for attempt := 1; ; attempt++ {
		rows, err := begin()
		if err == nil {
			for err == nil && rows.Next() {
				err = row(rows)
			}
			if err == nil {
				err = rows.Err()
			}
			rows.Close()
		}
		if !Again(ctx, err, attempt) {
			return err
		}
	}
}
