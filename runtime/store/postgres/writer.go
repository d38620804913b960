package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/transcript"
)

// Writer adds conversations to the archive of the role that logs in. Each is added as a
// whole or not at all, and several processes may write at a time. It is for one goroutine.
type Writer struct {
	server  *server
	db      *sql.DB // nil for an archive that is not there, and not made
	dry     bool
	now     func() time.Time
	tx      *sql.Tx // nil where none is open
	pending int     // bytes that the transaction has written
	begun   archive.Counts
	written archive.Counts
}

// WriterOptions says how an archive is written.
type WriterOptions struct {
	URL string // [URL]
	// DryRun finds out what would become of conversations, and writes nothing.
	DryRun bool
	Now    func() time.Time // nil means time.Now
}

// Create opens the archive for writing, and makes it where there is none.
func Create(ctx context.Context, o WriterOptions) (*Writer, error) {
	w := &Writer{server: parse(o.URL), dry: o.DryRun, now: o.Now}
	if w.now == nil {
		w.now = time.Now
	}
	if err := w.connect(ctx); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("opening the archive %s: %w", w.server.place, err)
	}
	return w, nil
}

func (w *Writer) connect(ctx context.Context) (err error) {
	if w.dry {
		w.db, err = w.server.openArchive(ctx)
		if errors.Is(err, messagedb.ErrAbsent) {
			err = nil
		}
		return err
	}
	if w.db, err = w.server.open(ctx); err != nil {
		return err
	}
	if err = migrate(ctx, w.db); err == nil {
		err = addTrigrams(ctx, w.db)
	}
	return w.server.failure(ctx, err)
}

// Written returns what is lasting, or would be.
func (w *Writer) Written() archive.Counts { return w.written }

// flushAt is how many bytes are written in a transaction, which may hold several
// conversations, and rowSize about how much a row takes beside its text.
const flushAt, rowSize = 4 << 20, 64

// Put adds a conversation, or replaces the one with its id. What it has added is there
// for others after [Writer.Flush].
func (w *Writer) Put(ctx context.Context, c *archive.Conversation) (archive.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if w.db == nil {
		w.written.Count(archive.New)
		return archive.New, nil
	}
	err := w.begin(ctx)
	var outcome archive.Outcome
	if err == nil {
		outcome, err = w.put(context.WithoutCancel(ctx), c) // what has begun is ended
	}
	if err == nil && w.pending >= flushAt {
		err = w.Flush()
	}
	if err != nil {
		w.rollback()
		return 0, fmt.Errorf("adding to the archive: %w", w.server.failure(ctx, err))
	}
	return outcome, nil
}

// row is what is there of a conversation.
const row = "SELECT id, hash, updated, folding FROM convtools.conversations WHERE owner = session_user::text AND name = $1"

func (w *Writer) put(ctx context.Context, c *archive.Conversation) (outcome archive.Outcome, err error) {
	var q querier = w.db
	if !w.dry {
		q = w.tx
	}
	f := foldingOf(c)
	sum := c.Hash()
	var id int64
	var before string
	var folding sql.NullString
	var updated sql.NullFloat64
	switch err := q.QueryRowContext(ctx, row, []byte(c.Name())).Scan(&id, &before, &updated, &folding); {
	case errors.Is(err, sql.ErrNoRows):
		outcome = archive.New
	case err != nil:
		return 0, err
	default:
		outcome = c.Over(sum, before, updated)
		if outcome == archive.Unchanged && folding.String != f {
			outcome = archive.Updated // it was written by another version of the program
		}
	}
	switch {
	case outcome == archive.Unchanged || outcome == archive.Older:
		return outcome, nil
	case w.dry:
		w.written.Count(outcome)
		return outcome, nil
	}
	last, newest := c.Times()
	facts := []any{[]byte(c.Native), []byte(c.Title), at(c.Created), at(c.Updated), at(last), at(newest), c.Archived, sum, archive.Seconds(w.now()), text(f), tools(c)}
	if outcome == archive.New {
		err = w.tx.QueryRowContext(ctx, `INSERT INTO convtools.conversations (native, title, created, updated, last, newest, archived, hash, imported, folding, tools, name)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id`, append(facts, []byte(c.Name()))...).Scan(&id)
	} else if _, err = w.tx.ExecContext(ctx, `UPDATE convtools.conversations SET native = $1, title = $2, created = $3, updated = $4, last = $5, newest = $6,
			archived = $7, hash = $8, imported = $9, folding = $10, tools = $11, change = DEFAULT WHERE owner = session_user::text AND id = $12`, append(facts, id)...); err == nil {
		_, err = w.tx.ExecContext(ctx, "DELETE FROM convtools.messages WHERE owner = session_user::text AND conversation = $1", id)
	}
	if err != nil {
		return 0, err
	}
	w.pending += rowSize
	if err := w.messages(ctx, id, c.Messages, f != ""); err != nil {
		return 0, err
	}
	w.begun.Count(outcome)
	return outcome, nil
}

// batch is the columns of messages that are written at once.
type batch struct {
	positions         []int32
	natives, names    [][]byte
	kinds             []string
	times             []*float64
	active            []bool
	texts             [][]byte
	foldedTimes       []*int64
	folded            []string
	foldedPositions   []int32
	foldedKinds       []string
	pending, messages int
}

// maxBatch is how many messages are written at once, of not many more than flushAt bytes.
const maxBatch = 1000

// messages writes the messages of a conversation.
func (w *Writer) messages(ctx context.Context, id int64, list []archive.Message, fold bool) error {
	b := &batch{}
	for i := range list {
		b.add(i+1, &list[i], fold)
		if b.messages == maxBatch || b.pending >= flushAt || i == len(list)-1 {
			if err := w.write(ctx, id, b); err != nil {
				return err
			}
			*b = batch{}
		}
	}
	return nil
}

func (b *batch) add(position int, m *archive.Message, fold bool) {
	b.positions = append(b.positions, int32(position)) //nolint:gosec // a conversation in memory has fewer
	b.natives = append(b.natives, optional(m.Native))
	b.names = append(b.names, optional(m.Name))
	b.kinds = append(b.kinds, m.Kind.String())
	var seconds *float64
	var recorded any
	if !m.Time.IsZero() {
		n := archive.Seconds(m.Time)
		seconds, recorded = &n, n
	}
	b.times = append(b.times, seconds)
	b.active = append(b.active, m.Active)
	b.texts = append(b.texts, append([]byte{}, m.Text...))
	b.pending += len(m.Text) + rowSize
	b.messages++
	if !fold {
		return
	}
	e := form().Event([]byte(m.Kind.String()), []byte(m.Name), recorded, m.Text)
	var micros *int64
	if t := e.Time(); !t.IsZero() {
		n := t.UnixMicro()
		micros = &n
	}
	b.foldedPositions = append(b.foldedPositions, int32(position)) //nolint:gosec // as above
	b.foldedKinds = append(b.foldedKinds, e.Kind.String())
	b.foldedTimes = append(b.foldedTimes, micros)
	b.folded = append(b.folded, folded(searched(&e)))
}

func (w *Writer) write(ctx context.Context, id int64, b *batch) error {
	_, err := w.tx.ExecContext(ctx, `INSERT INTO convtools.messages (conversation, position, native, kind, name, time, active, text)
		SELECT $1, * FROM unnest($2::integer[], $3::bytea[], $4::text[], $5::bytea[], $6::float8[], $7::boolean[], $8::bytea[])`,
		id, b.positions, b.natives, b.kinds, b.names, b.times, b.active, b.texts)
	if err == nil && len(b.folded) > 0 {
		_, err = w.tx.ExecContext(ctx, `INSERT INTO convtools.folded (conversation, position, kind, time, text)
			SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::bigint[], $5::text[])`,
			id, b.foldedPositions, b.foldedKinds, b.foldedTimes, b.folded)
	}
	w.pending += b.pending
	return err
}

// maxFolded is the largest text that is kept folded, in bytes: an index on a larger one
// takes the server much memory.
const maxFolded = 16 << 20

// foldingOf returns the version of the folding of a conversation; empty where its text is
// not kept folded, because it is too large or is none.
func foldingOf(c *archive.Conversation) string {
	if slices.ContainsFunc(c.Messages, func(m archive.Message) bool {
		return len(m.Text) > maxFolded || !utf8.Valid(m.Text) || !utf8.ValidString(m.Name)
	}) {
		return ""
	}
	return fold.Version
}

// tools returns the names of the tools that are called in a conversation.
func tools(c *archive.Conversation) [][]byte {
	names := [][]byte{}
	seen := map[string]bool{}
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Kind == transcript.KindToolCall && !seen[m.Name] {
			seen[m.Name] = true
			names = append(names, []byte(m.Name))
		}
	}
	return names
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func optional(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return archive.Seconds(t)
}

// ownerLock is the first half of the key of the advisory lock that a writer of an owner
// has: two that write the same conversations in another order would wait for each other.
const ownerLock = 0x636f6e76

func (w *Writer) begin(ctx context.Context) (err error) {
	if w.tx != nil || w.dry {
		return nil
	}
	if w.tx, err = w.db.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1::integer, hashtext(session_user::text))", ownerLock)
	return err
}

// Flush makes what was added lasting.
func (w *Writer) Flush() error {
	if w.tx == nil {
		return nil
	}
	err := w.tx.Commit()
	w.tx, w.pending = nil, 0
	if err != nil {
		w.begun = archive.Counts{}
		return fmt.Errorf("writing the archive: %w", w.server.failure(context.Background(), err))
	}
	w.written.New += w.begun.New
	w.written.Updated += w.begun.Updated
	w.begun = archive.Counts{}
	return nil
}

func (w *Writer) rollback() {
	if w.tx != nil {
		_ = w.tx.Rollback() // the server does so too
		w.tx, w.pending, w.begun = nil, 0, archive.Counts{}
	}
}

// Close ends writing. What was not flushed is flushed.
func (w *Writer) Close() error {
	if w.db == nil {
		return nil
	}
	return cmp.Or(w.Flush(), w.db.Close())
}
