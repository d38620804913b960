package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Conversation is a conversation to be kept.
type Conversation struct {
	Kind     string // of export, such as "chatgpt"
	Native   string // its id there
	Title    string
	Created  time.Time // zero where that is not known
	Updated  time.Time
	Archived bool
	Messages []Message // in the order in which they are read
}

// Message is a message of a [Conversation].
type Message struct {
	Native string
	Kind   transcript.Kind // user, assistant, reasoning, tool call, tool result, or system
	Name   string          // of a tool, or a role that is not known
	Time   time.Time       // zero where that is not known
	Active bool            // it is on the path that the export has as the current one
	Text   []byte          // in UTF-8
}

// ID returns the id that a conversation has in the archive.
func (c *Conversation) ID() transcript.ID { return messagedb.ID(IDPrefix, c.Name()) }

// Name is what no other conversation of an archive has.
func (c *Conversation) Name() string { return c.Kind + "-" + c.Native }

// Times returns the time of the last message, and the newest of all; zero for none.
func (c *Conversation) Times() (last, newest time.Time) {
	for i := range c.Messages {
		last = c.Messages[i].Time
		if last.After(newest) {
			newest = last
		}
	}
	return last, newest
}

// Over returns what becomes of a conversation with a hash where one with its name is there,
// with the hash before and the time of its last change, in seconds, if it has one.
func (c *Conversation) Over(sum, before string, updated sql.NullFloat64) Outcome {
	switch {
	case before == sum:
		return Unchanged
	case updated.Valid && !c.Updated.IsZero() && updated.Float64 > Seconds(c.Updated):
		return Older
	}
	return Updated
}

// Outcome is what has become of a conversation.
type Outcome uint8

// The outcomes.
const (
	New       Outcome = iota
	Updated           // it was there, and has changed
	Unchanged         // it was there already
	Older             // what is there was changed later, and is kept
)

// Writer adds conversations to the archive. Each is added as a whole or not at all, also
// where the process is killed, and several processes may write at a time. It is for one
// goroutine.
type Writer struct {
	db      *sql.DB // nil for an archive that is not there, and not made
	conn    *sql.Conn
	dry     bool
	now     func() time.Time
	find    *sql.Stmt
	add     *sql.Stmt
	change  *sql.Stmt
	clear   *sql.Stmt
	message *sql.Stmt
	open    bool // a transaction
	pending int  // bytes that the transaction has written
	begun   Counts
	written Counts
}

// Counts are how many conversations were added and replaced.
type Counts struct{ New, Updated int }

// Written returns what is lasting, or would be.
func (w *Writer) Written() Counts { return w.written }

// Count counts a conversation by what has become of it.
func (c *Counts) Count(o Outcome) {
	switch o {
	case New:
		c.New++
	case Updated:
		c.Updated++
	}
}

// WriterOptions says how an archive is written.
type WriterOptions struct {
	Dir string // [Home]
	// DryRun finds out what would become of conversations, and writes nothing.
	DryRun bool
	Now    func() time.Time // nil means time.Now
}

// Create opens the archive for writing, and makes it where there is none.
func Create(ctx context.Context, o WriterOptions) (*Writer, error) {
	w := &Writer{dry: o.DryRun, now: o.Now}
	if w.now == nil {
		w.now = time.Now
	}
	path := filepath.Join(o.Dir, fileName)
	err := w.connect(ctx, path)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("opening the archive %s: %w", path, err)
	}
	return w, nil
}

// waitForOthers is how long another process may hold the lock of the archive, which is as
// long as writing some conversations takes.
const waitForOthers = 30 * time.Second

func (w *Writer) connect(ctx context.Context, path string) error {
	there, err := isDatabase(path)
	switch {
	case err != nil, w.dry && !there:
		return err
	case !w.dry:
		if err := makePrivate(path); err != nil {
			return err
		}
	}
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", waitForOthers.Milliseconds()), "trusted_schema(0)", "page_size(8192)", "journal_mode(wal)", "synchronous(normal)",
	}}
	if w.dry {
		query = url.Values{"_pragma": {"query_only(1)"}, "mode": {"ro"}}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	connector, err := sqlite.NewConnector(sqlitefile.URI(absolute, query))
	if err != nil {
		return err
	}
	w.db = sql.OpenDB(connector)
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if err := w.migrate(ctx); err != nil {
		return err
	}
	return w.prepare(ctx)
}

// isDatabase reports whether the file of the database is there. That and those beside it are
// regular files, or not there: SQLite would wait for a FIFO.
func isDatabase(path string) (there bool, err error) {
	for _, suffix := range []string{"-shm", "-journal", "-wal", ""} {
		info, err := os.Stat(path + suffix)
		there = err == nil
		if there && !info.Mode().IsRegular() {
			return false, &fs.PathError{Op: "open", Path: path + suffix, Err: safefile.ErrNotRegular}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return there, nil
}

// makePrivate makes the file of the database, for its user alone.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, _, err := safefile.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// migrate brings the schema up to date.
func (w *Writer) migrate(ctx context.Context) error {
	version := 0
	read := func() error { return w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version) }
	all := migrations()
	if err := read(); err != nil || version == len(all) || w.dry && version < len(all) {
		return err
	}
	if version > len(all) {
		return &NewerError{Version: version, Known: len(migrations())}
	}
	return w.transact(ctx, func() error {
		if err := read(); err != nil { // another process may have been faster
			return err
		}
		for ; version < len(all); version++ {
			if _, err := w.conn.ExecContext(ctx, all[version]); err != nil {
				return err
			}
		}
		_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// transact does something in a transaction.
func (w *Writer) transact(ctx context.Context, do func() error) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := do(); err != nil {
		w.rollback()
		return err
	}
	return w.Flush()
}

func (w *Writer) prepare(ctx context.Context) error {
	var failed error
	prepare := func(query string) *sql.Stmt {
		s, err := w.conn.PrepareContext(ctx, query)
		failed = cmp.Or(failed, err)
		return s
	}
	w.find = prepare("SELECT id, hash, updated FROM conversations WHERE name = ?")
	w.add = prepare("INSERT INTO conversations (name, native, title, created, updated, archived, last, newest, hash, imported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id")
	w.change = prepare("UPDATE conversations SET title = ?, created = ?, updated = ?, archived = ?, last = ?, newest = ?, hash = ?, imported = ? WHERE id = ?")
	w.clear = prepare(fmt.Sprintf("DELETE FROM messages WHERE id BETWEEN ?1 << %d AND (?1 + 1 << %d) - 1", positionBits, positionBits))
	w.message = prepare("INSERT INTO messages (id, native, kind, name, time, active, text) VALUES (?, ?, ?, ?, ?, ?, ?)")
	return failed
}

// flushAt is how many bytes are written in a transaction, which may hold several
// conversations: each of them on its own would take longer.
const flushAt = 4 << 20

// Put adds a conversation, or replaces the one with its id. What it has added is there
// for others after [Writer.Flush].
func (w *Writer) Put(ctx context.Context, c *Conversation) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// What has begun is ended: the driver would ask after each statement whether it should.
	ctx = context.WithoutCancel(ctx)
	sum := c.Hash()
	_, outcome, err := w.look(ctx, c, sum)
	if err != nil || outcome == Unchanged || outcome == Older {
		return outcome, err
	}
	if w.dry {
		w.written.Count(outcome)
		return outcome, nil
	}
	if err := w.begin(ctx); err != nil {
		return 0, fmt.Errorf("adding to the archive: %w", err)
	}
	outcome, err = w.write(ctx, c, sum)
	if err == nil && w.pending >= flushAt {
		err = w.Flush()
	}
	if err != nil {
		w.rollback()
		return 0, fmt.Errorf("adding to the archive: %w", err)
	}
	return outcome, nil
}

// look returns what is there of a conversation.
func (w *Writer) look(ctx context.Context, c *Conversation, sum string) (id int64, outcome Outcome, err error) {
	if w.find == nil {
		return 0, New, nil
	}
	var before string
	var updated sql.NullFloat64
	err = w.find.QueryRowContext(ctx, c.Name()).Scan(&id, &before, &updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, New, nil
	case err != nil:
		return 0, 0, fmt.Errorf("reading the archive: %w", err)
	}
	return id, c.Over(sum, before, updated), nil
}

func (w *Writer) write(ctx context.Context, c *Conversation, sum string) (Outcome, error) {
	id, outcome, err := w.look(ctx, c, sum)
	if err != nil || outcome == Unchanged || outcome == Older { // another process was faster
		return outcome, err
	}
	last, newest := c.Times()
	facts := []any{c.Title, at(c.Created), at(c.Updated), c.Archived, at(last), at(newest), sum, Seconds(w.now())}
	if outcome == New {
		err = w.add.QueryRowContext(ctx, append([]any{c.Name(), c.Native}, facts...)...).Scan(&id)
	} else if _, err = w.change.ExecContext(ctx, append(facts, id)...); err == nil {
		_, err = w.clear.ExecContext(ctx, id)
	}
	if err != nil {
		return 0, err
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if _, err := w.message.ExecContext(ctx, id<<positionBits|int64(i+1), text(m.Native), m.Kind.String(), text(m.Name), at(m.Time), m.Active, string(m.Text)); err != nil {
			return 0, err
		}
		w.pending += len(m.Text) + rowSize
	}
	w.pending += rowSize
	w.begun.Count(outcome)
	return outcome, nil
}

// rowSize is about how much a row takes beside its text.
const rowSize = 64

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return Seconds(t)
}

// Seconds returns a time as an archive has it, in seconds since 1970.
func Seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (w *Writer) begin(ctx context.Context) error {
	if w.open {
		return nil
	}
	_, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	w.open = err == nil
	return err
}

// Flush makes what was added lasting.
func (w *Writer) Flush() error {
	if !w.open {
		return nil
	}
	w.pending = 0
	_, err := w.conn.ExecContext(context.Background(), "COMMIT")
	if err != nil {
		w.rollback()
		return fmt.Errorf("writing the archive: %w", err)
	}
	w.written.New += w.begun.New
	w.written.Updated += w.begun.Updated
	w.open, w.begun = false, Counts{}
	return nil
}

func (w *Writer) rollback() {
	if w.open {
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK") // SQLite may have done so
		w.open, w.pending, w.begun = false, 0, Counts{}
	}
}

// Close ends writing. What was not flushed is flushed.
func (w *Writer) Close() error {
	if w.db == nil {
		return nil
	}
	err := w.Flush()
	for _, s := range []*sql.Stmt{w.find, w.add, w.change, w.clear, w.message} {
		if s != nil {
			s.Close()
		}
	}
	if w.conn != nil {
		w.conn.Close()
	}
	return cmp.Or(err, w.db.Close())
}

// Hash returns a text that is the same for the same conversation.
func (c *Conversation) Hash() string {
	sum := summer{Hash: sha256.New()}
	sum.text(c.Title)
	sum.moment(c.Created)
	sum.moment(c.Updated)
	sum.flag(c.Archived)
	for i := range c.Messages {
		m := &c.Messages[i]
		sum.text(m.Native)
		sum.text(m.Kind.String())
		sum.text(m.Name)
		sum.moment(m.Time)
		sum.flag(m.Active)
		sum.bytes(m.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// summer is a hash of values, which no other values have.
type summer struct {
	hash.Hash
	buf []byte
}

func (s *summer) number(n uint64) {
	s.buf = binary.LittleEndian.AppendUint64(s.buf[:0], n)
	s.Write(s.buf)
}

func (s *summer) bytes(b []byte) {
	s.number(uint64(len(b)))
	s.Write(b)
}

func (s *summer) text(text string) {
	s.buf = append(binary.LittleEndian.AppendUint64(s.buf[:0], uint64(len(text))), text...)
	s.Write(s.buf)
}

func (s *summer) moment(t time.Time) {
	if t.IsZero() {
		s.number(math.MaxUint64)
	} else {
		s.number(uint64(t.UnixMicro()))
	}
}

func (s *summer) flag(set bool) {
	if set {
		s.number(1)
	} else {
		s.number(0)
	}
}
