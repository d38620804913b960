package archive

import (
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

// Conversation is a conversation to be added to an archive.
type Conversation struct {
	Kind     string // of export, such as "chatgpt"
	Native   string // its id in the export
	Title    string
	Created  time.Time // zero if it is not known
	Updated  time.Time
	Archived bool
	Messages []Message // in the order in which they are read
}

// Message is a message of a [Conversation].
type Message struct {
	Native string
	Kind   transcript.Kind // user, assistant, reasoning, tool call, tool result, or system
	Name   string          // of a tool, or an unknown role
	Time   time.Time       // zero if it is not known
	Active bool            // it is on the path that the export has as the current one
	Text   []byte          // in UTF-8
}

// ID returns the id of a conversation in the archive.
func (c *Conversation) ID() transcript.ID { return messagedb.ID(IDs(), c.name()) }

// name returns the key of a conversation. It is unique in an archive.
func (c *Conversation) name() string { return c.Kind + "-" + c.Native }

// times returns the time of the last message, and the newest time of a message; zero for none.
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
	_ = json.NewEncoder(sum).Encode(c) // a hash has no errors, and every conversation can be encoded
	return hex.EncodeToString(sum.Sum(nil))
}

// Seconds returns a time as the databases have it, in seconds since 1970; nil for none.
func Seconds(t time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	n := float64(t.UnixMicro()) / 1e6
	return &n
}

// Outcome is the result of adding a conversation.
type Outcome uint8

// The outcomes.
const (
	New       Outcome = iota
	Updated           // the archive had another version, and it was replaced
	Unchanged         // the archive had it already
	Older             // the archive has a later version, which stays
)

// Database is a database that a [Writer] writes to, with its SQL statements.
type Database struct {
	*sql.DB // nil for a dry run if there is no archive

	// Begin is the first statement of a transaction; empty for none.
	Begin string
	// Find selects the id, the hash and the time of the last change of the conversation with a
	// name.
	Find string
	// Put adds or replaces a conversation, and returns its id. Its arguments are name, native id,
	// title, times of creation and of the last change, whether it is archived, times of the last
	// and the newest message, hash, and the time of the import.
	Put string
	// Clear deletes the messages of the conversation with an id.
	Clear string
	// Add adds the messages of the conversation with an id.
	Add func(ctx context.Context, tx *sql.Tx, id int64, messages []Message) error
	// Text converts a text for the database.
	Text func(string) any
	// Failure converts an error of the database for the caller of the writer.
	Failure func(context.Context, error) error
}

// Writer adds conversations to an archive. Each is added in a transaction: as a whole or not at all,
// also if the process is killed. Several processes can write at a time. It is for one goroutine.
type Writer struct {
	to  Database
	dry bool
	now func() time.Time
}

// NewWriter returns a writer to a database, which [Writer.Close] closes. If it is dry, it returns the
// outcomes and writes nothing. A nil now means [time.Now].
func NewWriter(to Database, dry bool, now func() time.Time) *Writer {
	if now == nil {
		now = time.Now
	}
	return &Writer{to: to, dry: dry, now: now}
}

// Put adds a conversation, or replaces the one with its id.
func (w *Writer) Put(ctx context.Context, c *Conversation) (Outcome, error) {
	outcome, err := w.put(ctx, c, c.hash())
	if err != nil {
		return 0, fmt.Errorf("adding to the archive: %w", w.to.Failure(ctx, err))
	}
	return outcome, nil
}

func (w *Writer) put(ctx context.Context, c *Conversation, sum string) (outcome Outcome, err error) {
	switch err = ctx.Err(); {
	case err != nil || w.to.DB == nil:
		return New, err
	case w.dry:
		return look(w.to.QueryRowContext(ctx, w.to.Find, w.to.Text(c.name())), c, sum)
	}
	// Waiting for another writer can be cancelled. Writing is finished: the drivers would otherwise look
	// after each statement whether the context is done.
	whole := context.WithoutCancel(ctx)
	tx, err := w.to.BeginTx(whole, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	if w.to.Begin != "" {
		_, err = tx.ExecContext(ctx, w.to.Begin)
	}
	if err == nil {
		outcome, err = look(tx.QueryRowContext(ctx, w.to.Find, w.to.Text(c.name())), c, sum)
	}
	if err != nil || outcome == Unchanged || outcome == Older {
		return outcome, err
	}
	if err = w.write(whole, tx, c, sum); err == nil {
		err = tx.Commit()
	}
	return outcome, err
}

// look returns the outcome of adding a conversation with a hash. found is the result of the query Find.
func look(found *sql.Row, c *Conversation, sum string) (Outcome, error) {
	var id int64
	var before string
	var updated sql.NullFloat64
	err := found.Scan(&id, &before, &updated)
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

func (w *Writer) write(ctx context.Context, tx *sql.Tx, c *Conversation, sum string) error {
	last, newest := c.times()
	text := w.to.Text
	var id int64
	err := tx.QueryRowContext(ctx, w.to.Put, text(c.name()), text(c.Native), text(c.Title), Seconds(c.Created), Seconds(c.Updated), c.Archived,
		Seconds(last), Seconds(newest), sum, Seconds(w.now())).Scan(&id)
	if err == nil {
		_, err = tx.ExecContext(ctx, w.to.Clear, id)
	}
	if err == nil {
		err = w.to.Add(ctx, tx, id, c.Messages)
	}
	return err
}

// Close closes the database.
func (w *Writer) Close() error {
	if w.to.DB == nil {
		return nil
	}
	return w.to.DB.Close()
}
