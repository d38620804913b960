package sqlitefile

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"sync"
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

// Errors for a database that has more than is read. After the first two it is not read on:
// all that follow have the same.
var (
	// ErrSlow is the error where reading takes too long.
	ErrSlow error = stateError("reading it takes longer than its size explains")
	// ErrTooMuch is the error for too many rows.
	ErrTooMuch error = stateError("it has more rows than are read")
	// ErrTooLarge is the error for a value that is too large.
	ErrTooLarge error = stateError("it has a value that is larger than what is read")
)

// budget is what is left to do with a database, by all its connections.
type budget struct {
	time     atomic.Int64          // nanoseconds
	rows     int                   // of each query
	computed atomic.Bool           // values need no room in the database
	spent    atomic.Pointer[error] // why it is not read on
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

func (b *budget) err() error {
	if err := b.spent.Load(); err != nil {
		return *err
	}
	return nil
}

// connector makes connections whose work ends with the context that it is done for, and with
// the budget of their database. The driver by itself heeds a context up to the first row.
type connector struct {
	driver.Connector
	budget *budget
}

var errNoHandle = errors.New("the driver of SQLite has no handle that its work could be ended by")

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	handle := reflect.Indirect(reflect.ValueOf(inner)).FieldByName("db")
	if handle.Kind() != reflect.Uintptr {
		inner.Close()
		return nil, errNoHandle
	}
	conn := &conn{Conn: inner, handle: uintptr(handle.Uint()), budget: c.budget}
	conn.limit(lib.SQLITE_LIMIT_COLUMN, maxColumns)
	conn.limit(lib.SQLITE_LIMIT_LENGTH, maxValue)
	conn.limit(lib.SQLITE_LIMIT_ATTACHED, 0)
	return conn, nil
}

// conn is a connection.
type conn struct {
	driver.Conn
	handle uintptr
	budget *budget
	bound  bool // as what is computed is
}

// bind binds the connection as what is computed is.
func (c *conn) bind(ctx context.Context) error {
	if c.bound || !c.budget.computed.Load() {
		return nil
	}
	exec, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return errNoHandle
	}
	_, err := exec.ExecContext(ctx, boundSorting, nil)
	c.limit(lib.SQLITE_LIMIT_LENGTH, MaxComputed)
	c.bound = err == nil
	return err
}

func (c *conn) limit(id, value int32) {
	tls := libc.NewTLS()
	defer tls.Close()
	lib.Xsqlite3_limit(tls, c.handle, id, value)
}

// interrupt ends what is being done.
func (c *conn) interrupt() {
	tls := libc.NewTLS() // that of the connection is in use
	defer tls.Close()
	lib.Xsqlite3_interrupt(tls, c.handle)
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	w := c.watch(ctx)
	defer w.stop()
	if err := w.begin(); err != nil {
		return nil, err
	}
	s, err := c.Prepare(query)
	if err = w.done(err); err != nil {
		return nil, err
	}
	return &stmt{Stmt: s, conn: c}, nil
}

// stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn *conn
}

// QueryContext implements [driver.StmtQueryContext].
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	query, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errNoHandle
	}
	if err := s.conn.bind(ctx); err != nil {
		return nil, err
	}
	w := s.conn.watch(ctx)
	if err := w.begin(); err != nil {
		w.stop()
		return nil, err
	}
	// The work up to the first row is watched here too.
	rows, err := query.QueryContext(context.WithoutCancel(ctx), args)
	if err = w.done(err); err != nil {
		w.stop()
		if rows != nil {
			rows.Close()
		}
		return nil, err
	}
	return &result{Rows: rows, watch: w}, nil
}

// result is the rows of a query.
type result struct {
	driver.Rows
	watch *watch
	read  int
}

// Next implements [driver.Rows].
func (r *result) Next(dest []driver.Value) error {
	b := r.watch.conn.budget
	if r.read++; r.read > b.rows {
		return b.end(ErrTooMuch)
	}
	if err := r.watch.begin(); err != nil {
		return err
	}
	return r.watch.done(r.Rows.Next(dest))
}

// Close implements [driver.Rows].
func (r *result) Close() error {
	r.watch.stop()
	return r.Rows.Close()
}

// watch ends the work of a connection on a query in time.
type watch struct {
	conn  *conn
	begun time.Time
	timer *time.Timer // of the budget
	free  func() bool // the context of the watch

	mu      sync.Mutex
	working bool
	why     error // that it is ended
}

func (c *conn) watch(ctx context.Context) *watch {
	w := &watch{conn: c}
	w.timer = time.AfterFunc(mostTime, func() { w.end(ErrSlow) })
	w.timer.Stop()
	w.free = context.AfterFunc(ctx, func() { w.end(context.Cause(ctx)) })
	return w
}

// begin begins a part of the work.
func (w *watch) begin() error {
	b := w.conn.budget
	if err := b.err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why != nil {
		return w.why
	}
	w.working, w.begun = true, time.Now()
	w.timer.Reset(time.Duration(b.time.Load()))
	return nil
}

// done ends a part of the work that had an error, and returns why.
func (w *watch) done(err error) error {
	w.timer.Stop()
	b := w.conn.budget
	b.time.Add(-int64(time.Since(w.begun)))
	w.mu.Lock()
	w.working = false
	why := w.why
	w.mu.Unlock()
	var code *sqlite.Error
	switch {
	case err == nil || !errors.As(err, &code):
		return err
	case why == ErrSlow: //nolint:errorlint // itself
		return b.end(why)
	case why != nil:
		return why
	case code.Code()&primaryCode == codeTooBig:
		return ErrTooLarge
	case code.Code()&primaryCode == codeIO && w.conn.bound: // a temporary file was to be made
		return ErrTooMuch
	}
	return err
}

// end ends the work, and lets no other begin.
func (w *watch) end(why error) {
	const again = 5 * time.Millisecond // where it begins just now, an interrupt may be too early
	for w.interrupt(why) {
		time.Sleep(again)
	}
}

// interrupt interrupts the work, and reports whether there was any.
func (w *watch) interrupt(why error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == nil {
		w.why = why
	}
	if w.working {
		w.conn.interrupt()
	}
	return w.working
}

// stop ends the watch.
func (w *watch) stop() {
	w.free()
	w.timer.Stop()
}
