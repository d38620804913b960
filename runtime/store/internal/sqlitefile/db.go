package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vfs"
)

// DB is a database as it was when it was opened. It is safe for concurrent use.
type DB struct {
	snapshot *snapshot
	vfs      *vfs.FS
	sql      *sql.DB
	budget   *budget

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// Open opens the database of a name below a root, which may be closed then.
func Open(ctx context.Context, root *os.Root, name string) (*DB, error) {
	s, err := openSnapshot(root, name)
	if err != nil {
		return nil, err
	}
	db := &DB{snapshot: s, prepared: map[string]*sql.Stmt{}}
	if err := db.connect(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context) error {
	name, files, err := vfs.New(db.snapshot)
	if err != nil {
		return err
	}
	db.vfs = files
	// Nothing recorded may make it do what a query does not ask for, or hold more than
	// the query needs.
	const options = "&mode=ro&immutable=1&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=mmap_size(0)&_pragma=temp_store(2)"
	inner, err := sqlite.NewConnector("file:" + fileName + "?vfs=" + name + options)
	if err != nil {
		return err
	}
	db.budget = newBudget(db.snapshot.size)
	db.sql = sql.OpenDB(connector{inner, db.budget})
	return db.Each(ctx, func(*sql.Rows) error { return nil }, "SELECT 1 FROM sqlite_schema LIMIT 1")
}

// BoundComputed has values bounded by [MaxComputed] from now on, and what is sorted: what the
// database computes needs no room in it.
func (db *DB) BoundComputed() { db.budget.computed.Store(true) }

// Close releases what the database holds.
func (db *DB) Close() {
	if db.sql != nil {
		db.sql.Close()
	}
	if db.vfs != nil {
		db.vfs.Close()
	}
	db.snapshot.close()
}

// Errors that end reading rows before their end.
var (
	// ErrStop, returned by a function that is called for rows, ends them without an
	// error.
	ErrStop = errors.New("stop")
	// ErrNotDatabase is the error for what is no database.
	ErrNotDatabase error = stateError("it is no SQLite database")
	// ErrCorrupt is wrapped by the error for a damaged database.
	ErrCorrupt error = stateError("it is damaged")
)

// stateError is an error about a database that names nothing in it.
type stateError string

func (e stateError) Error() string { return string(e) }

// ForModel is what a model is told.
func (e stateError) ForModel() string { return string(e) }

// Each calls row for each row of the result of a query, until that returns an error. A
// query is prepared once: what differs between calls belongs into args.
func (db *DB) Each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		switch err := row(rows); {
		case errors.Is(err, ErrStop):
			return nil
		case err != nil:
			return err
		}
	}
	return db.failure(ctx, rows.Err())
}

func (db *DB) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := db.prepare(ctx, query)
	if err != nil {
		return nil, db.failure(ctx, err)
	}
	rows, err := statement.QueryContext(ctx, args...)
	return rows, db.failure(ctx, err)
}

func (db *DB) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if s, ok := db.prepared[query]; ok {
		return s, nil
	}
	s, err := db.sql.PrepareContext(ctx, query)
	if err == nil {
		db.prepared[query] = s
	}
	return s, err
}

// Result codes of SQLite, from https://www.sqlite.org/rescode.html.
const (
	codeIO      = 10
	codeCorrupt = 11
	codeTooBig  = 18
	codeNotADB  = 26
	primaryCode = 0xff
)

// failure returns why SQLite failed.
func (db *DB) failure(ctx context.Context, err error) error {
	var code *sqlite.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case db.snapshot.changed.Load():
		return ErrChanged
	case errors.As(err, &code) && code.Code()&primaryCode == codeNotADB:
		return ErrNotDatabase
	case errors.As(err, &code) && code.Code()&primaryCode == codeCorrupt:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
