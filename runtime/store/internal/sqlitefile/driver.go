package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Bounds on what SQLite does with a database, which may have views and generated columns that
// never end. Tables alone keep far within them.
const (
	// leastTime is how long it works on a database that is open, timePerByte how much longer
	// for each byte of it, and mostTime the most of that.
	leastTime   = 5 * time.Second
	timePerByte = time.Microsecond
	mostTime    = 10 * time.Minute
	// maxRows is how many rows a query has.
	maxRows = 1_000_000
	// maxValue is how many bytes a value has, and maxColumns how many of them a row.
	maxValue   = 65 << 20
	maxColumns = 300
	// MaxComputed is how many bytes a value has after [DB.BoundComputed].
	MaxComputed = 4 << 20
)

// BoundComputed has values bounded by [MaxComputed] from now on, and what is sorted: what the
// database computes needs no room in it. It is called before others use the database.
func (db *DB) BoundComputed() { db.computed = true }

// connector connects to a database through the driver, and bounds what connections do.
type connector struct {
	driver.Connector
	db *DB
}

var errNoHandle = errors.New("the driver of SQLite has no handle that its work could be ended by")

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.db.failure(ctx, err)
	}
	handle := reflect.Indirect(reflect.ValueOf(inner)).FieldByName("db")
	if handle.Kind() != reflect.Uintptr {
		inner.Close()
		return nil, errNoHandle
	}
	c.db.users.Add(1)
	opened := &conn{Conn: inner, db: c.db, handle: uintptr(handle.Uint())}
	opened.limit(lib.SQLITE_LIMIT_LENGTH, maxValue)
	opened.limit(lib.SQLITE_LIMIT_COLUMN, maxColumns)
	opened.limit(lib.SQLITE_LIMIT_ATTACHED, 0)
	return opened, nil
}

// conn is a connection.
type conn struct {
	driver.Conn
	db      *DB
	handle  uintptr
	bounded bool // as [DB.BoundComputed] has it
}

// Close implements [driver.Conn].
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.db.release()
	return err
}

func (c *conn) limit(id, most int32) {
	tls := libc.NewTLS()
	defer tls.Close()
	lib.Xsqlite3_limit(tls, c.handle, id, most)
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.db.computed && !c.bounded {
		// More than the cache would be put into a temporary file, which there is no place for.
		set, err := c.query(ctx, "PRAGMA temp_store = file; PRAGMA cache_size = -65536", nil)
		if err != nil {
			return nil, err
		}
		set.Close()
		c.limit(lib.SQLITE_LIMIT_LENGTH, MaxComputed)
		c.bounded = true
	}
	found, err := c.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &rows{Rows: found, conn: c, ctx: ctx}, nil
}

// query begins a query. What ends it is not the driver, which heeds a context up to the first
// row alone.
func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (found driver.Rows, err error) {
	err = c.work(ctx, func() error {
		found, err = c.Conn.(driver.QueryerContext).QueryContext(context.WithoutCancel(ctx), query, args)
		return err
	})
	return found, err
}

// rows are the rows of a query.
type rows struct {
	driver.Rows
	conn *conn
	ctx  context.Context //nolint:containedctx // that of the query, which ends reading its rows too
	read int
}

// Next implements [driver.Rows].
func (r *rows) Next(row []driver.Value) error {
	err := r.conn.work(r.ctx, func() error { return r.Rows.Next(row) })
	if r.read++; err == nil && r.read > r.conn.db.rows {
		err = r.conn.db.end(ErrTooMuch)
	}
	return err
}

// work has SQLite work, until a context is done or the time of the database is over.
func (c *conn) work(ctx context.Context, do func() error) error {
	if spent := c.db.spent.Load(); spent != nil {
		return *spent
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var mu sync.Mutex
	ended := false
	interrupt := func() {
		const often = 10 * time.Millisecond // an interrupt just before the work begins has no effect
		tls := libc.NewTLS()                // that of the connection is in use
		defer tls.Close()
		for mu.Lock(); !ended; mu.Lock() {
			lib.Xsqlite3_interrupt(tls, c.handle)
			mu.Unlock()
			time.Sleep(often)
		}
		mu.Unlock()
	}
	begun := time.Now()
	over := time.AfterFunc(time.Duration(c.db.left.Load()), interrupt)
	heeded := context.AfterFunc(ctx, interrupt)
	err := do()
	over.Stop()
	heeded()
	mu.Lock()
	ended = true
	mu.Unlock()
	c.db.left.Add(-int64(time.Since(begun)))
	if err == io.EOF {
		return err
	}
	return c.db.failure(ctx, err)
}

// end has the database not read on.
func (db *DB) end(err error) error {
	db.spent.CompareAndSwap(nil, &err)
	return err
}

// failure returns why SQLite failed.
func (db *DB) failure(ctx context.Context, err error) error {
	switch primary := codeOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case db.file.changed.Load():
		return ErrChanged
	case primary == lib.SQLITE_INTERRUPT:
		return db.end(ErrSlow)
	case primary == lib.SQLITE_TOOBIG:
		return ErrTooLarge
	case primary == lib.SQLITE_IOERR && db.computed: // a temporary file was to be made
		return ErrTooMuch
	}
	return described(err)
}

// codeOf returns the primary code of an error, https://www.sqlite.org/rescode.html.
func codeOf(err error) int {
	var code *sqlite.Error
	if errors.As(err, &code) {
		return code.Code() & 0xff
	}
	return 0
}

// described returns the error for a file that is damaged, or no database.
func described(err error) error {
	switch codeOf(err) {
	case lib.SQLITE_NOTADB:
		return ErrNotDatabase
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
