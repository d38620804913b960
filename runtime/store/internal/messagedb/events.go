package messagedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is where a conversation is recorded. It implements [store.Record].
type record struct {
	database    *database
	id          transcript.ID
	key         any
	version     string
	stamp       string        // of the database in which first and last were found
	first, last sql.NullInt64 // places of messages
}

// Events implements [store.Record].
func (r *record) Events(_ context.Context) (store.Events, error) {
	r.database.Retain()
	e := &recorded.Events{}
	e.Begin(r.id, &messages{record: r})
	return e, nil
}

// Version implements [store.Record].
func (r *record) Version(ctx context.Context) (string, error) {
	r.database.Retain()
	defer r.database.Release()
	now, err := r.database.collect(ctx, func(db *DB) string { return db.Conversation }, r.key)
	if err == nil && len(now) == 0 {
		err = &store.NotFoundError{IDs: []transcript.ID{r.id}, Place: r.database.store.Place()}
	}
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", r.id, err)
	}
	return now[0].Record.(*record).version, nil
}

// messages reads the messages of a conversation. It implements [recorded.Script].
type messages struct {
	record   *record
	next     func() (recorded.Event, error, bool)
	stop     func()
	turn     int
	begun    bool // the turn has a message of the user
	tooLarge int
}

// errStopped ends reading where nobody wants more.
var errStopped = errors.New("no more is read")

// all are the messages of the conversation. Where the owner of the database changes it
// meanwhile, those that follow are read of what it has then.
func (m *messages) all(ctx context.Context) iter.Seq2[recorded.Event, error] {
	return func(yield func(recorded.Event, error) bool) {
		read := 0
		err := m.record.database.Do(ctx, func(db *DB) error {
			query := db.Messages
			if read > 0 {
				query += fmt.Sprintf(" LIMIT -1 OFFSET %d", read)
			}
			return db.each(ctx, func(rows *sql.Rows) error {
				x, ok, err := m.scan(db, rows)
				if err != nil {
					return err
				}
				if read++; ok && !yield(x, nil) {
					return errStopped
				}
				return nil
			}, query, m.record.args(db)...)
		})
		if errors.Is(err, sqlitefile.ErrCorrupt) {
			err = &store.DamageError{Err: err}
		}
		if err != nil && err != errStopped {
			yield(recorded.Event{}, err)
		}
	}
}

// args are those of the query for messages. The places of messages are those of the database
// that was listed.
func (r *record) args(db *DB) []any {
	switch {
	case !db.IsRanged:
		return []any{r.key}
	case r.stamp != db.Stamp || !r.first.Valid:
		return []any{r.key, math.MinInt64, math.MaxInt64}
	}
	return []any{r.key, r.first, r.last}
}

// scan returns the event that a row is, and false where it is too large.
func (m *messages) scan(db *DB, rows *sql.Rows) (x recorded.Event, ok bool, err error) {
	var role, name sql.RawBytes
	var content []byte
	var at any
	var size int
	if err := rows.Scan(&role, &name, &at, &size, &content); err != nil {
		return x, false, err
	}
	if size > MaxMessage || content == nil && size > 0 { // the second where less is read
		m.tooLarge++
		return x, false, nil
	}
	x.At = Moment(at)
	var called string
	x.Kind, called, x.Pieces = db.Read(role, name, content)
	if called != "" {
		quoted := transcript.AppendQuoted(nil, []byte(called))
		x.Name = quoted[1 : len(quoted)-1]
	}
	// Messages before the first one of the user are of the first turn.
	if x.Kind == transcript.KindUser {
		if m.begun {
			m.turn++
		}
		m.begun = true
	}
	m.turn = max(m.turn, 1)
	x.Turn = m.turn
	return x, true, nil
}

// Read implements [recorded.Script].
func (m *messages) Read(ctx context.Context, into *recorded.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.next == nil {
		m.next, m.stop = iter.Pull2(m.all(ctx))
	}
	x, err, more := m.next()
	switch {
	case err != nil:
		return err
	case !more:
		return io.EOF
	}
	into.Put(append(into.Free(), x), false)
	return nil
}

// Counts implements [recorded.Script].
func (m *messages) Counts() (turns, skipped, tooLarge int) { return m.turn, m.tooLarge, m.tooLarge }

// Rewind implements [recorded.Script].
func (m *messages) Rewind() {
	if m.stop != nil {
		m.stop()
	}
	m.next, m.stop, m.turn, m.begun, m.tooLarge = nil, nil, 0, false, 0
}

// Release implements [recorded.Script].
func (m *messages) Release() {
	m.Rewind()
	m.record.database.Release()
}
