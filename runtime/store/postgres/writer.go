package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
)

// Writer adds conversations to the archive of the role that logs in. Each is added as a
// whole or not at all, and several processes may write at a time. It is for one goroutine.
type Writer struct {
	server  *server
	db      *sql.DB // nil for an archive that is not there, and not made
	dry     bool
	now     func() time.Time
	tx      *sql.Tx // nil where none is open
	batch   batch
	pending int // bytes that the transaction has written, or will
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
	return w.server.failure(ctx, migrate(ctx, w.db))
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
const row = "SELECT id, hash, updated FROM convtools.conversations WHERE owner = session_user::text AND name = $1"

func (w *Writer) put(ctx context.Context, c *archive.Conversation) (outcome archive.Outcome, err error) {
	var q querier = w.db
	if !w.dry {
		q = w.tx
	}
	if w.batch.has(c.Name()) {
		if err := w.batch.write(ctx, w.tx); err != nil {
			return 0, err
		}
	}
	sum := c.Hash()
	var id int64
	var before string
	var updated sql.NullFloat64
	switch err := q.QueryRowContext(ctx, row, []byte(c.Name())).Scan(&id, &before, &updated); {
	case errors.Is(err, sql.ErrNoRows):
		outcome = archive.New
	case err != nil:
		return 0, err
	default:
		outcome = c.Over(sum, before, updated)
	}
	switch {
	case outcome == archive.Unchanged || outcome == archive.Older:
		return outcome, nil
	case w.dry:
		w.written.Count(outcome)
		return outcome, nil
	}
	of := w.batch.add(c, outcome == archive.Updated, facts{hash: sum, imported: archive.Seconds(w.now())})
	w.pending += rowSize
	for i := range c.Messages {
		w.pending += w.batch.addMessage(of, i+1, &c.Messages[i])
		if w.batch.isFull() {
			if err := w.batch.write(ctx, w.tx); err != nil {
				return 0, err
			}
		}
	}
	w.begun.Count(outcome)
	return outcome, nil
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
	err := w.batch.write(context.Background(), w.tx)
	if err == nil {
		err = w.tx.Commit()
	} else {
		_ = w.tx.Rollback() // the server does so too
	}
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
		w.batch.reset()
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
