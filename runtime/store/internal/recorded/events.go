package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation, record by record.
type Script interface {
	// Read puts the events of the next record into a stream, which may be none. The error
	// is [io.EOF] at the end, and a [*store.DamageError] where the events end early.
	Read(ctx context.Context, into *Stream) error
	// Totals describes the events up to here, but for how many there are and when the last was.
	Totals() store.Totals
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
	Read  int64
	Sum   uint32
	Count int
	Last  time.Time
	State json.RawMessage
}

// Read reads a script from its beginning, as [store.Record] has it.
func Read(ctx context.Context, id transcript.ID, script Script, at *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	var s Stream
	var from mark
	growing, canGrow := script.(Growing)
	if at != nil && len(*at) > 0 && (!canGrow || !s.resume(ctx, growing, *at, &from)) {
		return store.Totals{}, store.ErrChanged
	}
	err := s.each(ctx, script, yield)
	totals := script.Totals()
	var damage *store.DamageError
	switch {
	case err == nil || err == io.EOF:
		totals.Events, totals.LastAt = s.count, s.last
	case errors.As(err, &damage):
		damage.Event = s.count
		totals.Uncounted = err
		return totals, damage
	default:
		totals.Uncounted = err
		return totals, fmt.Errorf("reading the events of %s: %w", id, err)
	}
	if at != nil {
		if *at = nil; canGrow && err == io.EOF {
			*at = s.mark(ctx, growing, &from)
		}
	}
	return totals, nil
}

// each calls yield with the events of a script. The error is [io.EOF] at the end, and nil where
// yield returns false.
func (s *Stream) each(ctx context.Context, script Script, yield func(*transcript.Event) bool) error {
	for {
		err := script.Read(ctx, s)
		if err != nil {
			return err
		}
		if yield == nil {
			s.skip()
		}
		for s.Next() {
			if !yield(s.Event()) {
				return nil
			}
		}
	}
}

// mark returns what is needed to go on after all events; nil where that is not possible.
func (s *Stream) mark(ctx context.Context, script Growing, from *mark) []byte {
	f := script.Grown()
	if f == nil {
		return nil
	}
	m := mark{Read: *f.Read, Count: s.count, Last: s.last}
	if from.Read > m.Read {
		*from = mark{}
	}
	state, failed := json.Marshal(f.State)
	sum, err := jsonl.Sum(ctx, f.File, from.Sum, from.Read, m.Read)
	if err != nil || failed != nil || !f.unchanged() {
		return nil
	}
	m.Sum, m.State = sum, state
	data, _ := json.Marshal(m)
	return data
}

// resume goes on after the events of a mark, and reports whether it can.
func (s *Stream) resume(ctx context.Context, script Growing, data []byte, m *mark) bool {
	f := script.Grown()
	if f == nil || json.Unmarshal(data, m) != nil || json.Unmarshal(m.State, f.State) != nil {
		return false
	}
	if sum, err := jsonl.Sum(ctx, f.File, 0, 0, m.Read); err != nil || sum != m.Sum {
		return false
	}
	*f.Read, s.count, s.last = m.Read, m.Count, m.Last
	goes, err := script.Goes(ctx)
	return goes && err == nil
}

// Rewritten returns the error of a script whose file was rewritten while it was read.
func Rewritten() error {
	return &store.DamageError{Err: errors.New("the file was rewritten while it was read")}
}
