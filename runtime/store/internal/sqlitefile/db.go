// Package sqlitefile reads SQLite databases of other programs, which may be writing
// them at the same time.
//
// It takes no lock and leaves no trace beside a database. One with nothing beside it is read
// in place, as a file that cannot change; where its owner changes it all the same, reading ends
// with [ErrChanged], and the caller opens it again. One with a write-ahead log, or with the
// journal of a transaction that has not ended, is copied with that into a directory of this
// process, where SQLite puts both together.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vfs"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// DB is a database as it was when it was opened. It is safe for concurrent use.
type DB struct {
	// Stamp is another text where the database has changed, or is another one.
	Stamp  string
	file   *file
	vfs    *vfs.FS
	sql    *sql.DB
	budget *budget
	setup  string // of each connection, where a query has needs
	needs  string
	most   int // bytes of a value after that
	uses   int // queries of a [Shared], and one for being open there; under its lock

	mu   sync.Mutex
	free []*conn
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
	f, err := openFile(ctx, root, name)
	if err != nil {
		return nil, err
	}
	db := &DB{Stamp: f.stamp, file: f, budget: newBudget(f.info.Size()), most: maxValue}
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
	connector, err := sqlite.NewConnector("file:" + fileName + "?vfs=" + name + options)
	if err != nil {
		return err
	}
	db.sql = sql.OpenDB(connector)
	return db.Each(ctx, func(*Rows) error { return nil }, "SELECT 1 FROM sqlite_schema LIMIT 1")
}

// Setup has each connection run statements before its first query that has a text, such as the
// name of the temporary table that they make. It is called before others use the database.
func (db *DB) Setup(text, statements string) { db.setup, db.needs = statements, text }

// BoundComputed has values bounded by [MaxComputed] from now on, and what is sorted: what the
// database computes needs no room in it. It is called in place of Setup.
func (db *DB) BoundComputed() { db.setup, db.most = boundSorting, MaxComputed }

// Close releases what the database holds. No rows are being read.
func (db *DB) Close() {
	if db.sql != nil {
		for _, c := range db.free {
			c.Close()
		}
		db.sql.Close()
	}
	if db.vfs != nil {
		db.vfs.Close()
	}
	db.file.close()
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
	// ErrSlow is the error where reading takes too long. All that follow have it too.
	ErrSlow error = stateError("reading it takes longer than its size explains")
	// ErrTooMuch is the error for too many rows, or too much to sort.
	ErrTooMuch error = stateError("it has more rows than are read")
	// ErrTooLarge is the error for a value that is too large.
	ErrTooLarge error = stateError("it has a value that is larger than what is read")
)

// stateError is an error about a database.
type stateError string

func (e stateError) Error() string { return string(e) }

// ForModel is what a model is told.
func (e stateError) ForModel() string { return string(e) }

// Each calls row for each row of the result of a query, until that returns an error. A
// query is prepared once: what differs between calls belongs into args.
func (db *DB) Each(ctx context.Context, row func(*Rows) error, query string, args ...any) error {
	rows, err := db.Query(ctx, query, args...)
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

// Result codes of SQLite, from https://www.sqlite.org/rescode.html.
const (
	codeInterrupt = 9
	codeIO        = 10
	codeCorrupt   = 11
	codeTooBig    = 18
	codeNotADB    = 26
	primaryCode   = 0xff
)

// failure returns why SQLite failed.
func (db *DB) failure(ctx context.Context, err error) error {
	switch code := codeOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case db.file.changed.Load():
		return ErrChanged
	case code == codeInterrupt:
		return db.budget.end(ErrSlow)
	case code == codeTooBig:
		return ErrTooLarge
	case code == codeIO && db.setup == boundSorting: // a temporary file was to be made
		return ErrTooMuch
	}
	return described(err)
}

func codeOf(err error) int {
	var code *sqlite.Error
	if errors.As(err, &code) {
		return code.Code() & primaryCode
	}
	return 0
}

// described returns the error for a file that is damaged, or no database.
func described(err error) error {
	switch codeOf(err) {
	case codeNotADB:
		return ErrNotDatabase
	case codeCorrupt:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
