package sqlitefile

import (
	"context"
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
	latest *opening[D] // nil where it is not open
}

// opening is a database as it was opened once.
type opening[D interface{ Close() error }] struct {
	db    D
	using int
	over  bool // it is closed once nobody is using it
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
	if s.users--; s.users <= 0 && s.latest != nil {
		s.latest.using++
		s.done(s.latest, true)
	}
}

// Do does something with the database, and again with it as it is then where its owner has
// changed it meanwhile.
func (s *Shared[D]) Do(ctx context.Context, do func(D) error) error {
	return Retry(ctx, func() error {
		o, err := s.use(ctx)
		if err != nil {
			return err
		}
		err = do(o.db)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done(o, errors.Is(err, ErrChanged))
		return err
	})
}

// use returns the database, opened.
func (s *Shared[D]) use(ctx context.Context) (*opening[D], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == nil {
		db, err := s.Open(ctx)
		if err != nil {
			return nil, err
		}
		s.latest = &opening[D]{db: db}
	}
	s.latest.using++
	return s.latest, nil
}

// done ends a use. over is set where nobody is to use it any more.
func (s *Shared[D]) done(o *opening[D], over bool) {
	o.using--
	if o.over = o.over || over; o.over && s.latest == o {
		s.latest = nil
	}
	if o.over && o.using == 0 {
		o.db.Close()
	}
}
