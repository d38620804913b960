package messagedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is where a conversation is recorded. It implements [store.Record].
type record struct {
	database *database
	id       transcript.ID
	key      any
	version  string
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
	now, err := r.database.collect(ctx, func(f *Form) string { return f.Conversation }, r.key)
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
	content  []byte
	rows     sqlitefile.Cursor // nil where they are not open
	form     *Form
	read     int // rows
	turn     int
	begun    bool // the turn has a message of the user
	tooLarge int
}

// open begins to read rows, those that were read already left out.
func (m *messages) open(ctx context.Context) (err error) {
	m.rows, m.form, err = m.record.database.Query(ctx, func(f *Form) string {
		if m.read == 0 {
			return f.Messages
		}
		return f.Messages + fmt.Sprintf(" LIMIT -1 OFFSET %d", m.read)
	}, m.record.key)
	if err != nil {
		m.rows = nil
	}
	return err
}

// Read implements [recorded.Script].
func (m *messages) Read(ctx context.Context, into *recorded.Stream) error {
	for attempt := 1; ; attempt++ {
		var err error
		if m.rows == nil {
			err = m.open(ctx)
		}
		if err == nil && m.rows.Next() {
			m.read++
			return m.put(ctx, into)
		}
		if err == nil {
			err = m.rows.Err()
		}
		m.close()
		switch {
		case err == nil:
			return io.EOF
		case errors.Is(err, sqlitefile.ErrCorrupt):
			return &store.DamageError{Err: err}
		case !sqlitefile.Again(ctx, err, attempt):
			return err
		}
	}
}

// put puts the event of the current row into a stream.
func (m *messages) put(ctx context.Context, into *recorded.Stream) error {
	var role, name, content sql.RawBytes
	var at any
	var size int
	if err := m.rows.Scan(&role, &name, &at, &size, &content); err != nil {
		return err
	}
	if size > MaxMessage || content == nil && size > 0 { // the second where a form reads less
		m.tooLarge++
		return nil
	}
	m.content = append(m.content[:0], content...)
	x := m.form.Event(role, name, at, m.content)
	// Messages before the first one of the user are of the first turn.
	if x.Kind == transcript.KindUser {
		if m.begun {
			m.turn++
		}
		m.begun = true
	}
	m.turn = max(m.turn, 1)
	x.Turn = m.turn
	into.Put(append(into.Free(), x), false)
	return nil
}

// Event returns the event that a message is, by its role, name, time and content.
func (f *Form) Event(role, name []byte, at any, content []byte) recorded.Event {
	x := recorded.Event{At: moment(at)}
	if x.Kind, name = f.Kind(role, name); len(name) > 0 {
		quoted := transcript.AppendQuoted(nil, name)
		x.Name = quoted[1 : len(quoted)-1]
	}
	x.Pieces = f.AppendPieces(nil, content)
	return x
}

// close closes the rows.
func (m *messages) close() {
	if m.rows != nil {
		m.rows.Close()
		m.rows = nil
	}
}

// Counts implements [recorded.Script].
func (m *messages) Counts() (turns, skipped, tooLarge int) { return m.turn, m.tooLarge, m.tooLarge }

// Rewind implements [recorded.Script].
func (m *messages) Rewind() {
	m.close()
	m.read, m.turn, m.begun, m.tooLarge = 0, 0, false, 0
}

// Release implements [recorded.Script].
func (m *messages) Release() {
	m.close()
	m.record.database.Release()
}
