package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// Retry does something, and again where the owner of the database has changed it meanwhile.
// From the second time on it waits before, each time longer, for four seconds in all: an owner
// that moves its log into the database changes it many times in a row.
func Retry(ctx context.Context, do func() error) error {
	const most = 13
	for attempt := 1; ; attempt++ {
		err := do()
		if !errors.Is(err, ErrChanged) || attempt == most || ctx.Err() != nil {
			return err
		}
		if attempt > 1 {
			select {
			case <-time.After(time.Millisecond << (attempt - 1)):
			case <-ctx.Done():
			}
		}
	}
}

// Shared is a database that several use at a time, as D. It is opened where it is used first,
// and again after [ErrChanged]. It is safe for concurrent use.
type Shared[D interface{ Close() error }] struct {
	// Open opens the database.
	Open func(context.Context) (D, error)

	mu     sync.Mutex
	users  int
	opened int // times
	isOpen bool
	db     D
}

// Retain adds a user.
func (s *Shared[D]) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release takes a user away. The database is closed after the last one.
func (s *Shared[D]) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users <= 0 {
		s.close()
	}
}

func (s *Shared[D]) close() {
	if s.isOpen {
		s.isOpen = false
		s.db.Close()
	}
}

// Do does something with the database, and again with it as it is then where its owner has
// changed it meanwhile.
func (s *Shared[D]) Do(ctx context.Context, do func(D) error) error {
	return Retry(ctx, func() error {
		db, opened, err := s.get(ctx)
		if err != nil {
			return err
		}
		if err = do(db); errors.Is(err, ErrChanged) {
			s.mu.Lock()
			if s.opened == opened {
				s.close()
			}
			s.mu.Unlock()
		}
		return err
	})
}

// get returns the database, and the number of times that it was opened.
func (s *Shared[D]) get(ctx context.Context) (db D, opened int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOpen {
		if s.db, err = s.Open(ctx); err != nil {
			return db, 0, err
		}
		s.isOpen = true
		s.opened++
	}
	return s.db, s.opened, nil
}

// Each calls row for each row of the result of a query, until that returns an error.
func Each(ctx context.Context, db *sql.DB, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
