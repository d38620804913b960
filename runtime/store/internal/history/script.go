package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation.
type Script interface {
	// Tell tells the events that were not told. The error is [ErrStopped] where no more are
	// wanted, and a [*store.DamageError] where they end early.
	Tell(ctx context.Context, t *Teller) error
}

// ErrStopped ends the telling of events where no more are wanted.
var ErrStopped = errors.New("no more events are wanted")

// ErrRewritten is the error of a script whose file was rewritten while it was read.
var ErrRewritten error = &store.DamageError{Err: errors.New("the file was rewritten while it was read")}

// Teller hands over the events of a conversation, and describes them, as [store.Record] has it.
type Teller struct {
	// Totals describes the events up to here.
	Totals store.Totals
	// Yield is called with each of them; nil counts them alone.
	Yield func(*transcript.Event) bool
	event transcript.Event
}

// Tell hands over an event, which has no index yet.
func (t *Teller) Tell(x transcript.Event) error {
	x.Index = t.Totals.Events
	t.Totals.Events++
	t.Totals.LastAt = x.Time
	t.event = x
	if t.Yield != nil && !t.Yield(&t.event) {
		return ErrStopped
	}
	return nil
}

// TellAll hands over the events that a talk has, which another conversation may have too.
func (t *Teller) TellAll(talk *Talk, copied bool) error {
	t.Totals.Turns = talk.Turn
	t.Totals.Skipped += talk.Skipped
	talk.Skipped = 0
	for _, x := range talk.Take() {
		x.Copied = copied
		if err := t.Tell(x); err != nil {
			return err
		}
	}
	return nil
}

// End returns the totals, and why the events end, where that is an error.
func (t *Teller) End(id transcript.ID, err error) (store.Totals, error) {
	if err == nil || err == ErrStopped {
		return t.Totals, nil
	}
	var damage *store.DamageError
	if errors.As(err, &damage) {
		err = &store.DamageError{Event: t.Totals.Events, Err: damage.Err}
	} else {
		err = fmt.Errorf("reading the events of %s: %w", id, err)
	}
	t.Totals.Events, t.Totals.LastAt, t.Totals.Uncounted = 0, time.Time{}, err
	return t.Totals, err
}

// Growing is a [Script] in a file of lines that is appended to.
type Growing interface {
	Script
	// Grown returns the file; nil where the script could not go on after what was read.
	Grown() *Grown
	// Goes has the script go on after what has been read, and reports whether what follows
	// changes nothing of that.
	Goes(ctx context.Context) (bool, error)
}

// Grown is the file of a [Growing] script.
type Grown struct {
	File   *os.File
	Opened fs.FileInfo // what it was before anything of it was read
	Read   *int64      // how many bytes of it have been read: whole lines
	State  any         // points to what else is known after what has been read, as JSON
}

// unchanged reports whether a file is what it was before it was read. Else what was read need
// not be what it has.
func (g *Grown) unchanged() bool {
	info, err := g.File.Stat()
	return err == nil && info.Size() == g.Opened.Size() && info.ModTime().Equal(g.Opened.ModTime())
}

// mark is what is known after what has been read of a file, and that it was read.
type mark struct {
	Read   int64
	Sum    uint32
	Totals store.Totals
	State  json.RawMessage
}

// Read reads a script from its beginning, or from a mark, as [store.Record] has it.
func Read(ctx context.Context, id transcript.ID, script Script, at *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := Teller{Yield: yield}
	var from mark
	growing, canGrow := script.(Growing)
	if at != nil && len(*at) > 0 {
		if !canGrow || !from.resume(ctx, growing, *at) {
			return store.Totals{}, store.ErrChanged
		}
		t.Totals = from.Totals
	}
	err := script.Tell(ctx, &t)
	if at != nil && err != ErrStopped {
		if *at = nil; canGrow && err == nil {
			*at = from.next(ctx, growing, t.Totals)
		}
	}
	return t.End(id, err)
}

// next returns what is needed to go on after all events; nil where that is not possible.
func (m mark) next(ctx context.Context, script Growing, totals store.Totals) []byte {
	f := script.Grown()
	if f == nil {
		return nil
	}
	if m.Read > *f.Read {
		m = mark{}
	}
	state, failed := json.Marshal(f.State)
	sum, err := jsonl.Sum(ctx, f.File, m.Sum, m.Read, *f.Read)
	if err != nil || failed != nil || !f.unchanged() {
		return nil
	}
	data, _ := json.Marshal(mark{*f.Read, sum, totals, state})
	return data
}

// resume goes on after the events of a mark, and reports whether it can.
func (m *mark) resume(ctx context.Context, script Growing, data []byte) bool {
	f := script.Grown()
	if f == nil || json.Unmarshal(data, m) != nil || json.Unmarshal(m.State, f.State) != nil {
		return false
	}
	if sum, err := jsonl.Sum(ctx, f.File, 0, 0, m.Read); err != nil || sum != m.Sum {
		return false
	}
	*f.Read = m.Read
	goes, err := script.Goes(ctx)
	return goes && err == nil
}
