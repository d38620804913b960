package sqlitefile

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// OpenPath opens the database of a path, which may be a link: its write-ahead log is
// beside what that leads to.
func OpenPath(ctx context.Context, path string) (*DB, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	root, err := safefile.OpenDir(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return Open(ctx, root, filepath.Base(real))
}

// Shared is a database that several use at a time. It is opened where it is used, and
// again where its owner changes it while it is read. F is what its users have to know of
// its form. It is safe for concurrent use.
type Shared[F any] struct {
	open func(context.Context) (*DB, F, error)

	mu      sync.Mutex
	users   int        // of the database
	current *handle[F] // nil where it is not open
}

// handle is a database that was opened.
type handle[F any] struct {
	*DB
	form    F
	users   int // queries
	retired bool
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
	if s.users--; s.users == 0 {
		s.retire(s.current)
	}
}

// retire closes a handle once nothing is read from it.
func (s *Shared[F]) retire(h *handle[F]) {
	if h == nil {
		return
	}
	if s.current == h {
		s.current = nil
	}
	h.retired = true
	if h.users == 0 && h.DB != nil {
		h.Close()
		h.DB = nil
	}
}

// acquire returns the handle of the database, opened where there is none.
func (s *Shared[F]) acquire(ctx context.Context) (*handle[F], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		db, form, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		s.current = &handle[F]{DB: db, form: form}
	}
	s.current.users++
	return s.current, nil
}

// leave ends the use of a handle, which is not used again where it is outdated.
func (s *Shared[F]) leave(h *handle[F], outdated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.users--
	if outdated || h.retired || s.users == 0 {
		s.retire(h)
	}
}

// maxAttempts bounds how often something is read again because the owner of the database
// changes it. It is tried for four seconds.
const maxAttempts = 13

// Again reports whether what failed with an error is to be read again: where the owner of the
// database has changed it. From the second time on it waits before, each time longer: an owner
// that moves its log into the database changes it many times in a row.
func Again(ctx context.Context, err error, attempt int) bool {
	if !errors.Is(err, ErrChanged) || attempt >= maxAttempts {
		return false
	}
	if attempt > 1 {
		wait := time.NewTimer(time.Millisecond << (attempt - 1))
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done(): // which the next attempt finds out
		}
	}
	return true
}

// Use calls use with the database as it is now, which has a form, and again where the
// database changes meanwhile.
func (s *Shared[F]) Use(ctx context.Context, use func(db *DB, form F) error) error {
	for attempt := 1; ; attempt++ {
		h, err := s.acquire(ctx)
		if err == nil {
			err = use(h.DB, h.form)
			s.leave(h, errors.Is(err, ErrChanged))
		}
		if !Again(ctx, err, attempt) {
			return err
		}
	}
}

// Each calls row for each row of a query, which may depend on the form of the database.
// Where the database changes, it calls begin and starts again.
func (s *Shared[F]) Each(ctx context.Context, begin func(), row func(*sql.Rows) error, query func(F) string, args ...any) error {
	return s.Use(ctx, func(db *DB, form F) error {
		begin()
		return db.Each(ctx, row, query(form), args...)
	})
}

// Collect returns what scan makes of each row of a query.
func Collect[F, T any](ctx context.Context, s *Shared[F], scan func(*sql.Rows) (T, error), query func(F) string, args ...any) ([]T, error) {
	var found []T
	err := s.Each(ctx, func() { found = nil }, func(rows *sql.Rows) error {
		x, err := scan(rows)
		found = append(found, x)
		return err
	}, query, args...)
	return found, err
}

// Version returns a text that is another one when the database of a path has changed, or
// is another one. It reads a few bytes.
func Version(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, suffix := range []string{"", "-wal", "-journal"} {
		f, info, err := safefile.Open(path + suffix)
		if errors.Is(err, fs.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			return "", err
		}
		// The counter of changes of a database, the salt of a log.
		var header [headerSize]byte
		n, err := f.ReadAt(header[:], 0)
		f.Close()
		if err != nil && err != io.EOF {
			return "", err
		}
		fmt.Fprintf(&b, "%s %d %d %x;", suffix, info.Size(), info.ModTime().UnixNano(), sha256.Sum256(header[:n]))
	}
	return b.String(), nil
}

// headerSize is how long the header of a database is.
const headerSize = 100

// Rows are the rows of a query, which are read one after the other. Their database stays
// open until they are closed.
type Rows[F any] struct {
	*sql.Rows
	Form   F
	shared *Shared[F]
	handle *handle[F]
	err    error // of Failure
}

// Query begins a query, which may depend on the database and its form.
func (s *Shared[F]) Query(ctx context.Context, query func(*DB, F) (string, []any, error)) (*Rows[F], error) {
	for attempt := 1; ; attempt++ {
		h, err := s.acquire(ctx)
		if err == nil {
			var rows *sql.Rows
			text, args, e := query(h.DB, h.form)
			if err = e; err == nil {
				rows, err = h.query(ctx, text, args...)
			}
			if err == nil {
				return &Rows[F]{Rows: rows, Form: h.form, shared: s, handle: h}, nil
			}
			s.leave(h, errors.Is(err, ErrChanged))
		}
		if !Again(ctx, err, attempt) {
			return nil, err
		}
	}
}

// Failure returns why there is no next row: nil at the end, and [ErrChanged] where the
// owner of the database has changed it.
func (r *Rows[F]) Failure(ctx context.Context) error {
	r.err = r.handle.failure(ctx, r.Err())
	return r.err
}

// Close ends the query.
func (r *Rows[F]) Close() {
	r.Rows.Close()
	r.shared.leave(r.handle, errors.Is(r.err, ErrChanged))
}
