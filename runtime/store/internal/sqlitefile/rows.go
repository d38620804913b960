package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
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
	// boundSorting bounds the bytes that are sorted at a time then. More would be put into a
	// temporary file, which there is no place for.
	boundSorting = "PRAGMA temp_store = file; PRAGMA cache_size = -65536"
)

// budget is the work that all connections of a database may still do.
type budget struct {
	time  atomic.Int64          // nanoseconds
	rows  int                   // of each query
	spent atomic.Pointer[error] // why it is not read on
}

func newBudget(size int64) *budget {
	b := &budget{rows: maxRows}
	b.time.Store(int64(leastTime + time.Duration(min(size, int64((mostTime-leastTime)/timePerByte)))*timePerByte))
	return b
}

// end has the database not read on.
func (b *budget) end(err error) error {
	b.spent.CompareAndSwap(nil, &err)
	return err
}

// conn is a connection, for one query at a time.
type conn struct {
	*sql.Conn
	handle   uintptr
	prepared map[string]*sql.Stmt
	isSet    bool         // [DB.Setup]
	begun    atomic.Int64 // when SQLite began to work, in nanoseconds; 0 while it does not
}

var errNoHandle = errors.New("the driver of SQLite has no handle that its work could be ended by")

// acquire returns a connection that nobody uses.
func (db *DB) acquire(ctx context.Context) (*conn, error) {
	db.mu.Lock()
	if last := len(db.free) - 1; last >= 0 {
		c := db.free[last]
		db.free = db.free[:last]
		db.mu.Unlock()
		return c, nil
	}
	db.mu.Unlock()
	inner, err := db.sql.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, prepared: map[string]*sql.Stmt{}}
	err = inner.Raw(func(driver any) error {
		handle := reflect.Indirect(reflect.ValueOf(driver)).FieldByName("db")
		if handle.Kind() != reflect.Uintptr {
			return errNoHandle
		}
		c.handle = uintptr(handle.Uint())
		return nil
	})
	for id, most := range map[int]int{lib.SQLITE_LIMIT_COLUMN: maxColumns, lib.SQLITE_LIMIT_LENGTH: maxValue, lib.SQLITE_LIMIT_ATTACHED: 0} {
		if err == nil {
			_, err = sqlite.Limit(inner, id, most)
		}
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	return c, nil
}

// query begins a query. What ends it is not the driver, which heeds a context up to the first
// row alone.
func (db *DB) query(ctx context.Context, c *conn, query string, args []any) (*sql.Rows, error) {
	if db.setup != "" && !c.isSet && strings.Contains(query, db.needs) {
		if _, err := c.ExecContext(ctx, db.setup); err != nil {
			return nil, err
		}
		if _, err := sqlite.Limit(c.Conn, lib.SQLITE_LIMIT_LENGTH, db.most); err != nil {
			return nil, err
		}
		c.isSet = true
	}
	statement, ok := c.prepared[query]
	if !ok {
		var err error
		if statement, err = c.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		c.prepared[query] = statement
	}
	return statement.QueryContext(ctx, args...)
}

// guard interrupts the work of a connection once a context is done, or the time of the
// database is over, until it is ended.
func (db *DB) guard(ctx context.Context, c *conn) (end func()) {
	const often = 10 * time.Millisecond // an interrupt just before the work begins has no effect
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tls := libc.NewTLS() // that of the connection is in use
		defer tls.Close()
		tick := time.NewTicker(often)
		defer tick.Stop()
		for done := ctx.Done(); ; {
			select {
			case <-ended:
				return
			case <-done:
				done = nil
			case <-tick.C:
			}
			begun := c.begun.Load()
			if begun != 0 && (ctx.Err() != nil || time.Now().UnixNano()-begun > db.budget.time.Load()) {
				lib.Xsqlite3_interrupt(tls, c.handle)
			}
		}
	}()
	return func() { close(ended); <-over }
}

// Rows are the rows of a query, which are read one after the other.
type Rows struct {
	*sql.Rows
	db    *DB
	conn  *conn
	ctx   context.Context
	end   func()
	left  func(error) // what follows Close; nil for nothing
	read  int
	err   error
	ended bool
}

// Query begins a query. The context ends reading its rows too.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	c, err := db.acquire(ctx)
	if err != nil {
		return nil, db.failure(ctx, err)
	}
	r := &Rows{db: db, conn: c, ctx: ctx, end: db.guard(ctx, c)}
	if r.begin() {
		r.Rows, err = db.query(context.WithoutCancel(ctx), c, query, args)
		r.done(err)
	}
	if r.err != nil {
		r.Close()
		return nil, r.err
	}
	return r, nil
}

// begin begins a part of the work, and reports whether there is time for it.
func (r *Rows) begin() bool {
	if spent := r.db.budget.spent.Load(); spent != nil {
		r.err = *spent
	} else if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err == nil {
		r.conn.begun.Store(time.Now().UnixNano())
	}
	return r.err == nil
}

// done ends a part of the work that had an error.
func (r *Rows) done(err error) {
	r.db.budget.time.Add(r.conn.begun.Swap(0) - time.Now().UnixNano())
	r.err = r.db.failure(r.ctx, err)
}

// Next advances to the next row. It returns false at the end, and where there is an error.
func (r *Rows) Next() bool {
	if r.err != nil || !r.begin() {
		return false
	}
	more := r.Rows.Next()
	r.done(r.Rows.Err())
	if r.read++; more && r.read > r.db.budget.rows {
		r.err = r.db.budget.end(ErrTooMuch)
	}
	return more && r.err == nil
}

// Err returns why there is no next row: nil at the end.
func (r *Rows) Err() error { return r.err }

// Close ends the query.
func (r *Rows) Close() {
	if r.ended {
		return
	}
	r.ended = true
	if r.Rows != nil {
		r.Rows.Close()
	}
	r.end()
	r.db.mu.Lock()
	r.db.free = append(r.db.free, r.conn)
	r.db.mu.Unlock()
	if r.left != nil {
		r.left(r.err)
	}
}
