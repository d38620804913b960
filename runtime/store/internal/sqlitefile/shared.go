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

// Queries is an opened database, as who reads it has it.
type Queries interface {
	comparable
	// Each calls row for each row of the result of a query, until that returns an error.
	Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error
	Close() error
}

// Rows returns what scan makes of each row of a query of a database.
func Rows[D Queries, T any](ctx context.Context, s *Shared[D], scan func(D, *sql.Rows) (T, error), query func(D) string, args ...any) (found []T, err error) {
	err = s.Do(ctx, func(db D) error {
		found = nil
		return db.Each(ctx, func(rows *sql.Rows) error {
			x, err := scan(db, rows)
			found = append(found, x)
			return err
		}, query(db), args...)
	})
	return found, err
}

// Shared is a database that several use at a time, as D. It is opened where it is used first,
// and again after [ErrChanged], and closed after its last user. It is safe for concurrent use.
type Shared[D Queries] struct {
	// Open opens the database.
	Open func(context.Context) (D, error)

	mu     sync.Mutex
	users  int
	latest D   // the zero value where it is not open
	all    []D // that were opened, as others may still use what was changed since
}

// Retain adds a user.
func (s *Shared[D]) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release takes a user away.
func (s *Shared[D]) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	for _, db := range s.all {
		db.Close()
	}
	var none D
	s.latest, s.all = none, nil
}

// Do does something with the database, and again with it as it is then where its owner has
// changed it meanwhile.
func (s *Shared[D]) Do(ctx context.Context, do func(D) error) error {
	s.Retain()
	defer s.Release()
	var changed D
	return Retry(ctx, func() error {
		db, err := s.use(ctx, changed)
		if err == nil {
			err = do(db)
			changed = db
		}
		return err
	})
}

// use returns the database, opened, but not as it was before it changed.
func (s *Shared[D]) use(ctx context.Context, changed D) (db D, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == changed { // also where both are none
		if db, err = s.Open(ctx); err != nil {
			return db, err
		}
		s.latest, s.all = db, append(s.all, db)
	}
	return s.latest, nil
}
