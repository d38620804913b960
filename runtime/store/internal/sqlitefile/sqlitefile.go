// Package sqlitefile reads SQLite databases of other programs, which can be writing them at the same time.
//
// It takes no lock and leaves no trace beside a database. A database without a write-ahead log and
// without the journal of an unfinished transaction is read in place, as immutable. If its owner changes
// it meanwhile, reading ends with [ErrChanged]. Otherwise database and log, or journal, are copied
// into a temporary directory, and SQLite merges the copies.
//
// A store uses it in these steps:
//
//   - It makes a [Shared] for each database, with an Open that calls [OpenPath]. List calls Retain, and
//     the Release of its listing calls Release, so that a listing copies a database at most once for
//     each change.
//   - It queries with [Rows] or [Shared.Do]. Both open the database when it is first needed, and start
//     again after [ErrChanged]: what a function collects in Do, it resets at its beginning.
//   - The version of a store is [Version], or [DB.Stamp] of an open database.
//   - It selects only the tables and columns that it needs: others can hold tokens. It casts and cuts
//     every column, because SQLite columns can have values of any type and size.
//
// Views and generated columns are code by the author of a database. A store that reads databases of unknown
// origin must read plain tables only.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// DB is a database as it was when it was opened. It is safe for concurrent use.
type DB struct {
	*sql.DB
	// Stamp is a text that changes when the database does.
	Stamp string

	file *file
	vfs  *vfs.FS
}

// OpenPath opens the database of a path, which may be a link: its write-ahead log is
// beside what that leads to.
func OpenPath(ctx context.Context, path string) (*DB, error) {
	root, name, err := dirOf(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return Open(ctx, root, name)
}

// Version returns a text that changes when the database at a path does. It reads a few bytes.
func Version(path string) (string, error) {
	root, name, err := dirOf(path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	parts, err := openParts(root, name)
	if err != nil {
		return "", err
	}
	defer closeParts(parts)
	return stampOf(parts), nil
}

// dirOf returns the directory and the name of the file that a path leads to.
func dirOf(path string) (root *os.Root, name string, err error) {
	if path, err = filepath.EvalSymlinks(path); err == nil {
		root, err = safefile.OpenDir(filepath.Dir(path))
	}
	return root, filepath.Base(path), err
}

// Open opens the database of a name below a root, which may be closed then. The error is
// [ErrChanged] where it has just been changed, and a [*store.CopyTooLargeError] where it had to
// be copied and is too large for that.
func Open(ctx context.Context, root *os.Root, name string) (*DB, error) {
	f, stamp, err := openFile(ctx, root, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Stamp: stamp, file: f}
	if err := db.connect(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context) error {
	name, files, err := vfs.New(db.file)
	if err != nil {
		return err
	}
	db.vfs = files
	// Nothing recorded may make it do what a query does not ask for, or hold more than
	// the query needs.
	const options = "&mode=ro&immutable=1&_pragma=trusted_schema(0)&_pragma=mmap_size(0)&_pragma=temp_store(2)"
	if db.DB, err = sql.Open("sqlite", "file:"+fileName+"?vfs="+name+options); err != nil {
		return err
	}
	return db.Each(ctx, func(*sql.Rows) error { return nil }, "SELECT 1 FROM sqlite_schema LIMIT 1")
}

// Close closes the database. No query may be running.
func (db *DB) Close() error {
	var err error
	if db.DB != nil {
		err = db.DB.Close()
	}
	if db.vfs != nil {
		db.vfs.Close()
	}
	db.file.close()
	return err
}

// Each calls row for each row of the result of a query, until that returns an error. What has to be
// done before the first row, as for sorting, ends when it takes longer than the size of the
// database explains.
func (db *DB) Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	const least, perByte, most = 5 * time.Second, time.Microsecond, 10 * time.Minute
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	slow := time.AfterFunc(min(least+time.Duration(db.file.info.Size())*perByte, most), cancel)
	defer slow.Stop()
	err := Each(bounded, db.DB, func(rows *sql.Rows) error {
		slow.Stop()
		return row(rows)
	}, query, args...)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return ErrSlow
	}
	return db.Failure(ctx, err)
}

// Each is [DB.Each] of any database.
func Each(ctx context.Context, db *sql.DB, row func(*sql.Rows) error, query string, args ...any) error {
	const most = 1_000_000
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n == most {
			return ErrTooMuch
		}
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Failure returns why SQLite failed.
func (db *DB) Failure(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil && db.file.changed.Load():
		return ErrChanged
	}
	return described(err)
}

// described returns the error for a file that is damaged, or no database,
// https://www.sqlite.org/rescode.html.
func described(err error) error {
	var code *sqlite.Error
	if !errors.As(err, &code) {
		return err
	}
	switch code.Code() & 0xff {
	case lib.SQLITE_NOTADB:
		return ErrNotDatabase
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Errors about a database that name nothing in it.
var (
	// ErrChanged is the error where the owner of a database has changed it while it is
	// read. Opened again, the database has its present content.
	ErrChanged error = stateError("the database was changed while it was read")
	// ErrJoint is the error for a transaction that has not ended in several databases.
	ErrJoint error = stateError("a transaction in several databases has not ended, and the others are not read")
	// ErrNotDatabase is the error for a file of another kind.
	ErrNotDatabase error = stateError("it is no SQLite database")
	// ErrCorrupt is wrapped by the error for a damaged database.
	ErrCorrupt error = stateError("it is damaged")
	// ErrSlow is the error where reading takes too long.
	ErrSlow error = stateError("reading it takes longer than its size explains")
	// ErrTooMuch is the error for too many rows.
	ErrTooMuch error = stateError("it has more rows than are read")
)

// stateError is an error about a database.
type stateError string

func (e stateError) Error() string { return string(e) }

// ForModel is what a model is told.
func (e stateError) ForModel() string { return string(e) }

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

// Queries is what reads an opened database.
type Queries interface {
	// Each calls row for each row of the result of a query, until that returns an error.
	Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error
	Close() error
}

// Opened is an opened database, as who reads it has it.
type Opened interface {
	comparable
	Queries
}

// Rows returns the values that scan returns for the rows of a query.
func Rows[D Opened, T any](ctx context.Context, s *Shared[D], scan func(D, *sql.Rows) (T, error), query func(D) string, args ...any) (found []T, err error) {
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

// Shared is a database with several users at a time. It is opened at its first use and after
// [ErrChanged], and closed after its last user. It is safe for concurrent use.
type Shared[D Opened] struct {
	// Open opens the database.
	Open func(context.Context) (D, error)

	mu     sync.Mutex
	users  int
	latest D   // the zero value where it is not open
	all    []D // that were opened, as others may still use what was changed since
}

// Retain counts one user more.
func (s *Shared[D]) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release counts one user less, and closes the database after the last one.
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

// Do calls do with the open database. If the owner changes the database meanwhile, it calls do again
// with the new state.
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

// use returns the open database. It opens it again if changed is its latest state.
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
