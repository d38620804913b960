// Package sqlitefile reads SQLite databases of other programs, which can be writing them at the same time.
//
// It takes no lock and leaves no trace beside a database. A database without a write-ahead log and
// without the journal of an unfinished transaction is read in place, as immutable. If its owner changes
// it meanwhile, reading ends with [ErrChanged]. Otherwise database and log, or journal, are copied
// into a temporary directory, and SQLite merges the copies.
//
// A store uses it in these steps:
//
//   - It makes a [Shared] for each database, with its Path. List calls Retain, and
//     the Release of its listing calls Release, so that a listing copies a database at most once for
//     each change.
//   - It queries in [Shared.Do], which opens the database when it is first needed, and starts again
//     after [ErrChanged]: what a function collects in Do, it resets at its beginning.
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
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/convtools/convtools/runtime/store"
)

// DB is a database as it was when it was opened. It is safe for concurrent use.
type DB struct {
	*sql.DB
	Stamp string // changes when the database does; empty for a database on a server
	// Failure, if there is one, converts the errors of a driver other than SQLite's.
	Failure func(context.Context, error) error

	original *snapshot // the files that are read in place; nil for a copy
	dir      string    // the temporary directory of a copy
}

// Open opens the database at a path, which can be a link: its log is beside the target. The error is [ErrChanged] if it
// has just been changed, and a [*store.CopyTooLargeError] if it is too large for the copy that is needed.
func Open(ctx context.Context, path string) (*DB, error) {
	s, err := takeSnapshot(path)
	if err != nil {
		return nil, err
	}
	// The clock of a file system moves in steps: a change just after this one would have the same time.
	const tick = 10 * time.Millisecond
	if age := time.Since(s.database.ModTime()); s.hot() == nil && age >= 0 && age < tick {
		return nil, ErrChanged
	}
	db := &DB{Stamp: s.stamp(), original: s}
	options := url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"trusted_schema(0)", "temp_store(2)"}} // 2 is memory
	file := s.path
	if s.hot() != nil {
		db.original = nil // changes do not matter to a copy
		if err := db.copy(ctx, s); err != nil {
			db.Close()
			return nil, err
		}
		file = filepath.Join(db.dir, copyName)
		options = url.Values{"_pragma": append(options["_pragma"], "busy_timeout(10000)", "synchronous(off)", "query_only(1)")}
	}
	connector, err := sqlite.NewConnector(URI(file, options))
	if err == nil {
		db.DB = sql.OpenDB(connector)
		err = db.Each(ctx, func(*sql.Rows) error { return nil }, "SELECT 1 FROM sqlite_schema LIMIT 1")
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// Version returns a text that changes when the database at a path does. It reads a few bytes.
func Version(path string) (string, error) {
	s, err := takeSnapshot(path)
	if err != nil {
		return "", err
	}
	return s.stamp(), nil
}

// URI returns the name of a file for SQLite's driver. The path is absolute.
func URI(path string, options url.Values) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: options.Encode()}).String()
}

// Close closes the database, and removes its copy if there is one.
func (db *DB) Close() {
	if db.dir != "" {
		os.RemoveAll(db.dir)       // first, so that SQLite does not merge what nobody reads
		defer os.RemoveAll(db.dir) // for systems that do not remove open files
	}
	if db.DB != nil {
		db.DB.Close()
	}
}

// Each calls row for each row of the result of a query, until row returns an error.
func (db *DB) Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return db.failure(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if db.isChanged() {
			return ErrChanged
		}
		if err := row(rows); err != nil {
			return err
		}
	}
	return db.failure(ctx, rows.Err())
}

// isChanged reports whether the file of the database was changed, replaced or removed after it was opened.
func (db *DB) isChanged() bool {
	if db.original == nil { // rows are read from a copy of the file, or from a server
		return false
	}
	info, err := os.Stat(db.original.path)
	return err != nil || !isSame(info, db.original.database) // the state of the file when it was opened
}

// failure returns the error of a query that the driver ended with err, which may be nil: the reason for err, or else err.
// If the file has changed, the rows may be wrong even if err is nil, and the error is [ErrChanged].
func (db *DB) failure(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case db.Failure != nil: // for errors of another driver than SQLite's
		return db.Failure(ctx, err)
	case db.isChanged():
		return ErrChanged
	}
	var code *sqlite.Error
	if !errors.As(err, &code) {
		return err
	}
	switch code.Code() & 0xff { // the primary code: https://www.sqlite.org/rescode.html
	case lib.SQLITE_NOTADB:
		return ErrNotDatabase
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Errors about a database that contain nothing recorded in it.
var (
	// ErrChanged is the error if a database changes while it is read. Opened again, it has its new content.
	ErrChanged error = store.StateError("the database was changed while it was read")
	// ErrJoint is the error for an unfinished transaction in several databases.
	ErrJoint error = store.StateError("it has an unfinished transaction that includes other databases, which are not read")
	// ErrNotDatabase is the error for a file of another kind.
	ErrNotDatabase error = store.StateError("it is no SQLite database")
	// ErrCorrupt is wrapped by the error for a damaged database.
	ErrCorrupt error = store.StateError("it is damaged")
)

// Shared is a database with several users at a time. It is opened at its first use and after
// [ErrChanged], and closed after its last user. It is safe for concurrent use.
type Shared struct {
	Path string                             // of the file
	Open func(context.Context) (*DB, error) // nil opens the file at Path

	mu     sync.Mutex
	users  int
	latest *DB   // nil if it is not open
	all    []*DB // that were opened: others may still use those before the latest
}

// Retain adds a user.
func (s *Shared) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release removes a user. The database is closed after the last one.
func (s *Shared) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	for _, db := range s.all {
		db.Close()
	}
	s.latest, s.all = nil, nil
}

// Do calls do with the open database. If do returns [ErrChanged], because the owner of the database changed it, Do
// opens the database again and calls do again: first at once, and then after longer and longer waits, four seconds in
// all. An owner that merges its log into its database changes the database many times in a row.
func (s *Shared) Do(ctx context.Context, do func(*DB) error) error {
	s.Retain()
	defer s.Release()
	var changed *DB // the state of the database in the last attempt, which the owner has changed since
	const most = 13 // attempts
	for attempt := 1; ; attempt++ {
		db, err := s.openLatest(ctx, changed) // opens the database again if its latest state is that in changed
		if err == nil {
			err = do(db)
			changed = db
		}
		if !errors.Is(err, ErrChanged) || attempt == most || ctx.Err() != nil {
			return err
		}
		if attempt > 1 {
			select {
			case <-time.After(time.Millisecond << (attempt - 1)): // 2 ms, then twice as long each time, at last 2048 ms
			case <-ctx.Done():
			}
		}
	}
}

// openLatest returns the latest state of the database. It opens the database if there is no state, or if the latest is
// stale, a state that changed while the caller read it. stale is nil at the caller's first attempt.
func (s *Shared) openLatest(ctx context.Context, stale *DB) (*DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == stale { // both are nil before the first use
		open := s.Open
		if open == nil {
			open = func(ctx context.Context) (*DB, error) { return Open(ctx, s.Path) }
		}
		db, err := open(ctx)
		if err != nil {
			return nil, err
		}
		s.latest, s.all = db, append(s.all, db)
	}
	return s.latest, nil
}
