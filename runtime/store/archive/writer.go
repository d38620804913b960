package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/messagedb"
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
func (c *Conversation) ID() transcript.ID { return messagedb.ID(IDs(), c.name()) }

// name is what no other conversation of an archive has.
func (c *Conversation) name() string { return c.Kind + "-" + c.Native }

// times returns the time of the last message, and the newest of all; zero for none.
func (c *Conversation) times() (last, newest time.Time) {
	for i := range c.Messages {
		last = c.Messages[i].Time
		if last.After(newest) {
			newest = last
		}
	}
	return last, newest
}

// hash returns a text that is the same for the same conversation.
func (c *Conversation) hash() string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(c) // a hash has no errors, and JSON has any of this
	return hex.EncodeToString(sum.Sum(nil))
}

// Seconds returns a time as an archive has it, in seconds since 1970; nil for none.
func Seconds(t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	n := float64(t.UnixMicro()) / 1e6
	return &n
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

// Counts are how many conversations were added and replaced.
type Counts struct{ New, Updated int }

// count counts a conversation by what has become of it.
func (c *Counts) count(o Outcome) {
	switch o {
	case New:
		c.New++
	case Updated:
		c.Updated++
	}
}

// Database is where a [Writer] writes.
type Database struct {
	*sql.DB // nil for an archive that is not there, and not made

	// Begin is a statement that a transaction begins with; empty for none.
	Begin string
	// Find is the query for the id, the hash and the time of the last change of the conversation
	// of a name.
	Find string
	// Put is the statement that adds or replaces a conversation, and returns its id: its name,
	// native id, title, times of creation and of the last change, whether it is archived, times
	// of the last and the newest message, hash, and the time now.
	Put string
	// Clear is the statement that removes the messages of the conversation with an id.
	Clear string
	// Add adds the messages of the conversation with an id.
	Add func(ctx context.Context, tx *sql.Tx, id int64, messages []Message) error
	// Text returns a text as the database takes it.
	Text func(string) any
	// Failure returns what an error is for who writes.
	Failure func(context.Context, error) error
}

// Writer adds conversations to an archive. Each is added as a whole or not at all, also
// where the process is killed, and several processes may write at a time. It is for one
// goroutine.
type Writer struct {
	to      Database
	dry     bool
	now     func() time.Time
	tx      *sql.Tx // nil where none is open
	pending int     // bytes that the transaction has written
	begun   Counts
	written Counts
}

// NewWriter returns a writer, which closes the database with it. Where it is dry, it finds out what
// would become of conversations, and writes nothing. A nil now means [time.Now].
func NewWriter(to Database, dry bool, now func() time.Time) *Writer {
	if now == nil {
		now = time.Now
	}
	return &Writer{to: to, dry: dry, now: now}
}

// Written returns what is lasting, or would be.
func (w *Writer) Written() Counts { return w.written }

// flushAt is about how many bytes are written in a transaction, which may hold several
// conversations: each of them on its own would take longer. rowSize is about how much a row takes
// beside its text.
const flushAt, rowSize = 4 << 20, 64

// Put adds a conversation, or replaces the one with its id. What it has added is there
// for others after [Writer.Flush].
func (w *Writer) Put(ctx context.Context, c *Conversation) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	outcome, err := w.put(ctx, c)
	if err == nil && w.pending >= flushAt {
		err = w.Flush()
	}
	if err != nil {
		w.rollback()
		return 0, fmt.Errorf("adding to the archive: %w", w.to.Failure(ctx, err))
	}
	return outcome, nil
}

func (w *Writer) put(ctx context.Context, c *Conversation) (Outcome, error) {
	sum := c.hash()
	outcome, err := w.look(ctx, c, sum)
	if outcome == Unchanged || outcome == Older || err != nil {
		return outcome, err
	}
	if w.dry {
		w.written.count(outcome)
		return outcome, nil
	}
	if w.tx == nil {
		// What has begun is ended: the driver would ask after each statement whether it should.
		if w.tx, err = w.to.BeginTx(context.WithoutCancel(ctx), nil); err == nil && w.to.Begin != "" {
			_, err = w.tx.ExecContext(ctx, w.to.Begin)
		}
		if err == nil {
			outcome, err = w.look(ctx, c, sum) // another process may have been faster
		}
		if outcome == Unchanged || outcome == Older || err != nil {
			return outcome, err
		}
	}
	return outcome, w.write(context.WithoutCancel(ctx), c, outcome, sum)
}

// look returns what becomes of a conversation with a hash.
func (w *Writer) look(ctx context.Context, c *Conversation, sum string) (Outcome, error) {
	if w.to.DB == nil {
		return New, nil
	}
	find := w.to.QueryRowContext
	if w.tx != nil {
		find = w.tx.QueryRowContext
	}
	var id int64
	var before string
	var updated sql.NullFloat64
	err := find(ctx, w.to.Find, w.to.Text(c.name())).Scan(&id, &before, &updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return New, nil
	case before == sum:
		return Unchanged, err
	case updated.Valid && !c.Updated.IsZero() && updated.Float64 > *Seconds(c.Updated):
		return Older, err
	}
	return Updated, err
}

func (w *Writer) write(ctx context.Context, c *Conversation, outcome Outcome, sum string) error {
	last, newest := c.times()
	text, now := w.to.Text, w.now()
	var id int64
	err := w.tx.QueryRowContext(ctx, w.to.Put, text(c.name()), text(c.Native), text(c.Title), Seconds(c.Created), Seconds(c.Updated), c.Archived,
		Seconds(last), Seconds(newest), sum, Seconds(now)).Scan(&id)
	if err == nil && outcome == Updated {
		_, err = w.tx.ExecContext(ctx, w.to.Clear, id)
	}
	if err == nil {
		err = w.to.Add(ctx, w.tx, id, c.Messages)
	}
	w.pending += rowSize
	for i := range c.Messages {
		w.pending += len(c.Messages[i].Text) + rowSize
	}
	w.begun.count(outcome)
	return err
}

// Flush makes what was added lasting.
func (w *Writer) Flush() error {
	if w.tx == nil {
		return nil
	}
	begun := w.begun
	err := w.tx.Commit()
	w.tx, w.pending, w.begun = nil, 0, Counts{}
	if err != nil {
		return fmt.Errorf("writing the archive: %w", w.to.Failure(context.Background(), err))
	}
	w.written.New += begun.New
	w.written.Updated += begun.Updated
	return nil
}

func (w *Writer) rollback() {
	if w.tx != nil {
		_ = w.tx.Rollback() // the database may have done so
		w.tx, w.pending, w.begun = nil, 0, Counts{}
	}
}

// Close ends writing. What was not flushed is flushed.
func (w *Writer) Close() error {
	if w.to.DB == nil {
		return nil
	}
	return cmp.Or(w.Flush(), w.to.DB.Close())
}
