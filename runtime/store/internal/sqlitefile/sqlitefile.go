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
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vfs"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// DB is a database as it was when it was opened. What SQLite does with it is bounded, as
// [work] has it. It is safe for concurrent use, and closed while its rows are read, these are
// still there.
type DB struct {
	*sql.DB
	// Stamp is another text where the database has changed, or is another one.
	Stamp string

	file     *file
	vfs      *vfs.FS
	users    atomic.Int64 // connections, and one for being open
	left     atomic.Int64 // nanoseconds that SQLite may still work
	rows     int          // that a query has at the most
	spent    atomic.Pointer[error]
	computed bool
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

// Version returns a text that is another one when the database of a path has changed, or
// is another one. It reads a few bytes.
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
	db := &DB{Stamp: stamp, file: f, rows: maxRows}
	db.users.Store(1)
	db.left.Store(int64(min(leastTime+time.Duration(f.info.Size())*timePerByte, mostTime)))
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
	inner, err := sqlite.NewConnector("file:" + fileName + "?vfs=" + name + options)
	if err != nil {
		return err
	}
	db.DB = sql.OpenDB(connector{inner, db})
	var one int
	err = db.QueryRowContext(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1").Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// Close closes the database.
func (db *DB) Close() error {
	var err error
	if db.DB != nil {
		err = db.DB.Close()
	}
	db.release()
	return err
}

// release takes a user away. What the database holds is closed after the last one.
func (db *DB) release() {
	if db.users.Add(-1) > 0 {
		return
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
