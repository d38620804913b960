package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// OldScript is a script of a store that reads with [Events] still.
type OldScript interface {
	Read(ctx context.Context, into *Stream) error
	Rewind()
	Counts() (turns, skipped, tooLarge int)
	Release()
}

// Events reads the events of a script. It implements [store.Events].
type Events struct {
	Stream
	id     transcript.ID
	script OldScript
	err    error // io.EOF at the end
}

// Begin begins with the events of a conversation.
func (e *Events) Begin(id transcript.ID, script OldScript) {
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
		damage.Event = e.count
		return damage
	}
	return fmt.Errorf("reading the events of %s: %w", e.id, e.err)
}

// Totals implements [store.Events].
func (e *Events) Totals() store.Totals {
	turns, skipped, tooLarge := e.script.Counts()
	t := store.Totals{Turns: turns, Skipped: skipped, TooLarge: tooLarge}
	if e.Err() != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.count, e.last
	return t
}

// Restart implements [store.Events].
func (e *Events) Restart() {
	e.err = nil
	e.script.Rewind()
	e.Stream = Stream{}
}

// Close implements [store.Events].
func (e *Events) Close() { e.script.Release() }
