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
	"io/fs"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
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
	Active bool            // it is on the path that is current in the export
	Text   []byte          // in UTF-8
}

// ID returns the id of a conversation in the archive.
func (c *Conversation) ID() transcript.ID { return messagedb.ID(IDs(), c.name()) }

func (c *Conversation) name() string { return c.Kind + "-" + c.Native }

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
	Left              // the user has forgotten it
)

// Database is a database that a [Writer] writes to, with its SQL statements.
type Database struct {
	*sql.DB        // nil for a dry writer if there is no archive
	Place   string // for people
	// Version returns the version of the schema; 0 if there is none.
	Version func(context.Context, *sql.DB) (int, error)
	// Schema has the statements that make the schema, whose version is Known.
	Schema string
	Known  int
	// SchemaLock and Begin begin a transaction that changes the schema, or adds a conversation; empty for none.
	SchemaLock, Begin string
	// Find selects the id, the hash and the time of the last change of the conversation with a
	// name. Texts in arguments are bytes.
	Find string
	// Put adds or replaces a conversation, and returns its id. Its arguments are name, native id, title, times of
	// creation and of the last change, whether it is archived, time of the last message, and hash.
	Put    string
	Clear  string // deletes the messages of the conversation with an id
	Delete string // deletes the conversation with an id, without its messages
	// Add adds the messages of the conversation with an id.
	Add func(ctx context.Context, tx *sql.Tx, id int64, messages []Message) error
	// Failure converts an error of the database for the caller of the writer.
	Failure func(context.Context, error) error
}

// CheckVersion checks the version of the schema of a database. It returns nil for the known version,
// [fs.ErrNotExist] for 0, which means that there is no schema yet, and else a [store.StateError].
func CheckVersion(version, known int) error {
	switch version {
	case 0:
		return fs.ErrNotExist
	case known:
		return nil
	}
	return store.StateError(fmt.Sprintf("another version of the program made it (schema %d, known here: %d)", version, known))
}

// checkSchema returns the error of reading the version of the schema, or of [CheckVersion] for it.
func (d *Database) checkSchema(ctx context.Context) error {
	version, err := d.Version(ctx, d.DB)
	return cmp.Or(err, CheckVersion(version, d.Known))
}

// createSchema makes the schema, unless another process has just made it: SchemaLock waits for such a process.
func (d *Database) createSchema(ctx context.Context) error {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	if _, err = tx.ExecContext(ctx, d.SchemaLock); err == nil {
		err = d.checkSchema(ctx) // nil if there is a schema, fs.ErrNotExist if not
	}
	if isMissing := errors.Is(err, fs.ErrNotExist); !isMissing {
		return err
	}
	if _, err = tx.ExecContext(ctx, d.Schema); err != nil {
		return err
	}
	return tx.Commit()
}

// Writer adds conversations to an archive. Each is added in a transaction: as a whole or not at all,
// also if the process is killed. Several processes can write at a time. It is for one goroutine.
type Writer struct {
	// Forgotten reports whether the user has forgotten a conversation, which is not added then; nil for none.
	Forgotten func(transcript.ID) bool

	to  Database
	dry bool
}

// NewWriter returns a writer to a database, which [Writer.Close] closes. It makes the schema if there is none. A
// dry writer returns the outcomes and writes nothing.
func NewWriter(ctx context.Context, to Database, dry bool) (*Writer, error) {
	w := &Writer{to: to, dry: dry}
	if to.DB == nil {
		return w, nil
	}
	err := to.checkSchema(ctx)
	if errors.Is(err, fs.ErrNotExist) && dry { // without an archive all conversations are new
		w.Close()
		w.to.DB = nil
		return w, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = to.createSchema(ctx)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("opening the archive %s: %w", to.Place, to.Failure(ctx, err))
	}
	return w, nil
}

// Put adds a conversation, or replaces the version of it that the archive has, and returns the outcome. It leaves out
// a conversation that the user has forgotten, and does not replace the same version or a later one.
func (w *Writer) Put(ctx context.Context, c *Conversation) (Outcome, error) {
	if w.Forgotten != nil && w.Forgotten(c.ID()) {
		return Left, nil
	}
	outcome, err := w.put(ctx, c, c.hash())
	if err != nil {
		return 0, fmt.Errorf("adding to the archive: %w", w.to.Failure(ctx, err))
	}
	return outcome, nil
}

// put is [Writer.Put] for a conversation that is not forgotten, and its hash. It reads and writes the archive in one
// transaction; a dry writer only reads. The error is that of the context or the database.
func (w *Writer) put(ctx context.Context, c *Conversation, sum string) (outcome Outcome, err error) {
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case w.to.DB == nil: // a dry writer without an archive
		return New, nil
	case w.dry:
		return compare(w.to.QueryRowContext(ctx, w.to.Find, []byte(c.name())), c, sum)
	}
	// The statement Begin can wait for another writer, at most until ctx is done. Writing itself is not cancelled: with
	// ctx, the drivers would look after each statement whether ctx is done.
	whole := context.WithoutCancel(ctx)
	tx, err := w.to.BeginTx(whole, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	if _, err = tx.ExecContext(ctx, w.to.Begin); err == nil {
		outcome, err = compare(tx.QueryRowContext(ctx, w.to.Find, []byte(c.name())), c, sum)
	}
	if err != nil || outcome == Unchanged || outcome == Older {
		return outcome, err
	}
	if err = w.write(whole, tx, c, sum); err == nil {
		err = tx.Commit()
	}
	return outcome, err
}

// compare returns the outcome of adding a conversation with the hash sum. found is the row that the archive has of
// the conversation: id, hash and time of the last change. The error is that of reading the row.
func compare(found *sql.Row, c *Conversation, sum string) (Outcome, error) {
	var id int64
	var before string
	var updated sql.NullFloat64
	err := found.Scan(&id, &before, &updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return New, nil
	case err != nil:
		return 0, err
	case before == sum:
		return Unchanged, nil
	case updated.Valid && !c.Updated.IsZero() && updated.Float64 > *Seconds(c.Updated):
		return Older, nil
	}
	return Updated, nil
}

// write adds or replaces the row of a conversation with the hash sum, and replaces the messages of the conversation.
func (w *Writer) write(ctx context.Context, tx *sql.Tx, c *Conversation, sum string) error {
	var id int64
	var last time.Time
	if n := len(c.Messages); n > 0 {
		last = c.Messages[n-1].Time
	}
	err := tx.QueryRowContext(ctx, w.to.Put, []byte(c.name()), []byte(c.Native), []byte(c.Title), Seconds(c.Created), Seconds(c.Updated), c.Archived,
		Seconds(last), sum).Scan(&id)
	if err == nil {
		_, err = tx.ExecContext(ctx, w.to.Clear, id)
	}
	if err == nil {
		err = w.to.Add(ctx, tx, id, c.Messages)
	}
	return err
}

// Delete deletes the conversation with an id, and reports whether there was one.
func (w *Writer) Delete(ctx context.Context, id transcript.ID) (found bool, err error) {
	if w.to.DB == nil {
		return false, nil
	}
	tx, err := w.to.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	var row int64
	var hash string
	var updated sql.NullFloat64
	name := strings.TrimPrefix(string(id), IDs().Prefix)
	err = tx.QueryRowContext(ctx, w.to.Find, []byte(name)).Scan(&row, &hash, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	for _, statement := range []string{w.to.Clear, w.to.Delete} {
		if err == nil {
			_, err = tx.ExecContext(ctx, statement, row)
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return false, fmt.Errorf("deleting from the archive: %w", w.to.Failure(ctx, err))
	}
	return true, nil
}

// Close closes the database.
func (w *Writer) Close() error {
	if w.to.DB == nil {
		return nil
	}
	return w.to.DB.Close()
}
