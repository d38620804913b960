package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation in a file.
type Script interface {
	// Tell tells the events that were not told. The error is [ErrStopped] where no more are
	// wanted, and a [*store.DamageError] where they end early.
	Tell(ctx context.Context, t *Teller) error
}

// ErrStopped ends the telling of events where no more are wanted.
var ErrStopped = errors.New("no more events are wanted")

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

// Read reads a script from its beginning, as [store.Record] has it.
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
	if err == ErrStopped {
		return t.Totals, nil
	}
	if at != nil {
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

// Rewritten returns the error of a script whose file was rewritten while it was read.
func Rewritten() error {
	return &store.DamageError{Err: errors.New("the file was rewritten while it was read")}
}
