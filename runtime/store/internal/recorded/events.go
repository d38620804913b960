package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation, record by record.
type Script interface {
	// Read puts the events of the next record into a stream, which may be none. The error
	// is [io.EOF] at the end, and a [*store.DamageError] where the events end early.
	Read(ctx context.Context, into *Stream) error
	// Rewind begins again with the first record.
	Rewind()
	// Counts returns how many turns there are up to here, and how many records were left out.
	Counts() (turns, skipped int)
	// Release releases what the script holds. It is called once.
	Release()
}

// Events reads the events of a script. It implements [store.Events].
type Events struct {
	Stream
	id     transcript.ID
	script Script
	err    error // io.EOF at the end
	closed bool
}

// Begin begins with the events of a conversation.
func (e *Events) Begin(id transcript.ID, script Script) {
	e.id, e.script = id, script
	e.Restart()
}

// Next implements [store.Events].
func (e *Events) Next(ctx context.Context) bool {
	for !e.Stream.Next() {
		if e.err == nil {
			e.err = e.script.Read(ctx, &e.Stream)
		}
		if e.err != nil {
			return false
		}
	}
	return true
}

// Err implements [store.Events].
func (e *Events) Err() error {
	var damage *store.DamageError
	switch {
	case e.err == nil, e.err == io.EOF:
		return nil
	case errors.As(e.err, &damage):
		damage.Event = e.Count()
		return damage
	}
	return fmt.Errorf("reading the events of %s: %w", e.id, e.err)
}

// Totals implements [store.Events].
func (e *Events) Totals() store.Totals {
	turns, skipped := e.script.Counts()
	t := store.Totals{Turns: turns, Skipped: skipped}
	if e.Err() != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.Count(), e.Last()
	return t
}

// Restart implements [store.Events].
func (e *Events) Restart() {
	e.err = nil
	e.script.Rewind()
	e.Reset()
}

// Close implements [store.Events].
func (e *Events) Close() {
	if !e.closed {
		e.closed = true
		e.script.Release()
	}
}

// Rewritten returns the error of a script whose file was rewritten while it was read.
func Rewritten() error {
	return &store.DamageError{Err: errors.New("the file was rewritten while it was read")}
}
