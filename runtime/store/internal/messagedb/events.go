package messagedb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is where a conversation is recorded. It implements [store.Record].
type record struct {
	store *Store
	info  *info
}

// Events implements [store.Record].
func (r *record) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	r.info.database.Retain()
	e := &events{record: r, buffer: buffer}
	e.Restart()
	if err := e.open(ctx); err != nil {
		e.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", r.store.id(r.info), err)
	}
	return e, nil
}

// Finder implements [store.Findable].
func (r *record) Finder() store.MessageFinder {
	finder, _ := r.info.database.Shared.(store.MessageFinder)
	return finder
}

// Version implements [store.Record].
func (r *record) Version(ctx context.Context) (string, error) {
	version, err := r.version(ctx)
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", r.store.id(r.info), err)
	}
	return version, nil
}

func (r *record) version(ctx context.Context) (string, error) {
	d := r.info.database
	d.Retain()
	defer d.Release()
	now, err := d.now(ctx, r.info)
	switch {
	case err != nil:
		return "", err
	case len(now) == 0:
		return "", &store.NotFoundError{IDs: []transcript.ID{r.store.id(r.info)}, Place: r.store.Place()}
	case now[0].version != "":
		return now[0].version, nil
	}
	var sum *digest
	err = d.Each(ctx, func() { sum = digestOf(now[0]) }, func(rows *sql.Rows) error {
		var m message
		err := m.scan(rows)
		sum.add(&m)
		return err
	}, func(f *Form) string { return f.Messages }, d.messagesOf(now[0])...)
	if err != nil {
		return "", err
	}
	return sum.version(), nil
}

// IsDigested implements [store.Digested].
func (r *record) IsDigested() bool { return r.info.version == "" }

// digest is the version of a conversation of which the database has none.
type digest struct {
	hash hash.Hash
	head []byte
}

func digestOf(i *info) *digest {
	d := &digest{hash: sha256.New()}
	fmt.Fprintf(d.hash, "%q %v %v %v", i.title, i.created, i.updated, i.archived)
	return d
}

func (d *digest) add(m *message) {
	b := append(append(append(d.head[:0], 0), m.role...), 0)
	b = append(append(b, m.name...), 0)
	switch at := m.time.(type) {
	case string:
		b = append(b, at...)
	default:
		b = fmt.Append(b, at)
	}
	b = append(strconv.AppendInt(append(b, ' '), int64(m.size), 10), ' ')
	d.head = b
	_, _ = d.hash.Write(b)
	_, _ = d.hash.Write(m.content)
}

func (d *digest) version() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// message is a row of the query for messages. It is valid until the next row.
type message struct {
	role, name, content sql.RawBytes
	time                any
	size                int
}

func (m *message) scan(rows interface{ Scan(...any) error }) error {
	return rows.Scan(&m.role, &m.name, &m.time, &m.size, &m.content)
}

// events reads the messages of a conversation. It implements [store.Events].
type events struct {
	record   *record
	buffer   *store.Buffer
	rows     Rows // nil where they are not open
	form     *Form
	read     int // rows
	stream   recorded.Stream
	turn     int
	begun    bool // the turn has a message of the user
	tooLarge int
	digest   *digest // of the rows; nil where the database has a version
	err      error
	closed   bool
}

// open begins to read rows, those that were read already left out.
func (e *events) open(ctx context.Context) error {
	rows, form, err := e.record.info.database.Query(ctx, func(f *Form) string {
		if e.read == 0 {
			return f.Messages
		}
		return f.Messages + fmt.Sprintf(" LIMIT -1 OFFSET %d", e.read)
	}, e.record.info.database.messagesOf(e.record.info)...)
	if err == nil {
		e.rows, e.form = rows, form
	}
	return err
}

// next reads a row, and makes what it holds the next event. It returns false at the end.
func (e *events) next(ctx context.Context) (bool, error) {
	for attempt := 1; ; attempt++ {
		var err error
		if e.rows == nil {
			err = e.open(ctx)
		}
		if err == nil && e.rows.Next() {
			e.read++
			return true, e.put(ctx)
		}
		if err == nil {
			err = e.rows.Failure(ctx)
		}
		if !sqlitefile.Again(ctx, err, attempt) {
			return false, err
		}
		e.rest()
	}
}

// put makes the current row the next event.
func (e *events) put(ctx context.Context) error {
	var m message
	if err := m.scan(e.rows); err != nil {
		return err
	}
	if e.digest != nil {
		e.digest.add(&m)
	}
	if m.size > MaxMessage || m.content == nil && m.size > 0 { // the second where a form reads less
		e.tooLarge++
		return nil
	}
	if err := e.buffer.Reserve(ctx, max(len(m.content), jsonl.Chunk)); err != nil {
		return err
	}
	e.buffer.Bytes = append(e.buffer.Bytes, m.content...)
	x := e.form.Event(m.role, m.name, m.time, e.buffer.Bytes)
	// What stands before the first message of the user is of the first turn.
	if x.Kind == transcript.KindUser {
		if e.begun {
			e.turn++
		}
		e.begun = true
	}
	x.Turn = max(e.turn, 1)
	e.turn = x.Turn
	e.stream.Put(append(e.stream.Free(), x), false)
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

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	for !e.stream.Next() {
		if e.err != nil {
			return false
		}
		var more bool
		if more, e.err = e.next(ctx); !more {
			e.rest()
			return false
		}
	}
	return true
}

// rest closes the rows.
func (e *events) rest() {
	if e.rows != nil {
		e.rows.Close()
		e.rows = nil
	}
}

// Event implements [store.Events].
func (e *events) Event() *transcript.Event { return e.stream.Event() }

// Err implements [store.Events].
func (e *events) Err() error {
	switch {
	case e.err == nil:
		return nil
	case errors.Is(e.err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Event: e.stream.Count(), Err: e.err}
	}
	return fmt.Errorf("reading the events of %s: %w", e.record.store.id(e.record.info), e.err)
}

// Totals implements [store.Events].
func (e *events) Totals() store.Totals {
	t := store.Totals{Turns: e.turn, Skipped: e.tooLarge, TooLarge: e.tooLarge}
	if e.err != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.stream.Count(), e.stream.Last()
	return t
}

// Restart implements [store.Events].
func (e *events) Restart() {
	e.rest()
	e.read, e.turn, e.begun, e.tooLarge, e.err = 0, 0, false, 0, nil
	e.stream.Reset()
	if e.digest = nil; e.record.IsDigested() {
		e.digest = digestOf(e.record.info)
	}
}

// Version implements [store.DigestedEvents].
func (e *events) Version() string { return e.digest.version() }

// Close implements [store.Events].
func (e *events) Close() {
	if !e.closed {
		e.closed = true
		e.rest()
		e.record.info.database.Release()
	}
}
