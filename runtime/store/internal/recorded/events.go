package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation, record by record.
type Script interface {
	// Read puts the events of the next record into a stream, which may be none. The error
	// is [io.EOF] at the end, and a [*store.DamageError] where the events end early.
	Read(ctx context.Context, into *Stream) error
	// Rewind begins again with the first record.
	Rewind()
	// Counts returns how many turns there are up to here, how many records were left out, and
	// how many of those because they are larger than what is read.
	Counts() (turns, skipped, tooLarge int)
	// Release releases what the script holds. It is called once.
	Release()
}

// Cutter is a [Script] of which the end may be left out because all of it is more than what
// is read.
type Cutter interface {
	// IsCut reports whether it was.
	IsCut() bool
}

// Growing is a [Script] in a file of lines that is appended to.
type Growing interface {
	// Grown returns the file, and how many bytes of it have been read. It reports false where
	// it could not go on behind them.
	Grown() (file *Grown, ok bool)
	// Walk walks what else is known behind what has been read.
	Walk(c *facts.Coder)
	// Goes reports whether what follows what has been read changes nothing of it. The script
	// goes on there.
	Goes(ctx context.Context) (bool, error)
}

// Grown is a file of a [Growing] script.
type Grown struct {
	File   *os.File
	Opened fs.FileInfo // what it was before anything of it was read
	Read   *int64      // bytes: whole lines
}

// unchanged reports whether a file is what it was before it was read. Else what was read need
// not be what it has.
func (g *Grown) unchanged() bool {
	info, err := g.File.Stat()
	return err == nil && info.Size() == g.Opened.Size() && info.ModTime().Equal(g.Opened.ModTime())
}

// Events reads the events of a script. It implements [store.Events].
type Events struct {
	Stream
	id     transcript.ID
	script Script
	err    error // io.EOF at the end
	closed bool

	resumed mark // zero where it was not
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
	turns, skipped, tooLarge := e.script.Counts()
	t := store.Totals{Turns: turns, Skipped: skipped, TooLarge: tooLarge}
	if c, ok := e.script.(Cutter); ok {
		t.Cut = c.IsCut()
	}
	if e.Err() != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.Count(), e.Last()
	return t
}

// Restart implements [store.Events].
func (e *Events) Restart() {
	e.err, e.resumed = nil, mark{}
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

// mark is what is known behind what has been read of a file, and that it was read.
type mark struct {
	read int64
	sum  uint32
}

func (e *Events) walk(c *facts.Coder, m *mark, script Growing) {
	sum := int64(m.sum)
	facts.Int(c, &m.read, &sum)
	m.sum = uint32(sum) //nolint:gosec // the same bits
	facts.Int(c, &e.count)
	c.Time(&e.last)
	script.Walk(c)
}

// Mark implements [store.Resumable].
func (e *Events) Mark(ctx context.Context) []byte {
	script, ok := e.script.(Growing)
	if !ok || e.err != io.EOF {
		return nil
	}
	f, ok := script.Grown()
	if !ok {
		return nil
	}
	m := mark{read: *f.Read}
	var from mark
	if e.resumed.read <= m.read {
		from = e.resumed
	}
	var err error
	if m.sum, err = jsonl.Sum(ctx, f.File, from.sum, from.read, m.read); err != nil {
		return nil
	}
	if !f.unchanged() {
		return nil
	}
	return facts.Encode(func(c *facts.Coder) { e.walk(c, &m, script) })
}

// Resume implements [store.Resumable].
func (e *Events) Resume(ctx context.Context, data []byte) bool {
	if script, ok := e.script.(Growing); ok && e.resume(ctx, script, data) {
		return true
	}
	e.Restart()
	return false
}

func (e *Events) resume(ctx context.Context, script Growing, data []byte) bool {
	f, ok := script.Grown()
	var m mark
	if !ok || !facts.Decode(data, func(c *facts.Coder) { e.walk(c, &m, script) }) {
		return false
	}
	sum, err := jsonl.Sum(ctx, f.File, 0, 0, m.read)
	if err != nil || sum != m.sum {
		return false
	}
	*f.Read, e.resumed = m.read, m
	goes, err := script.Goes(ctx)
	return goes && err == nil
}

// Rewritten returns the error of a script whose file was rewritten while it was read.
func Rewritten() error {
	return &store.DamageError{Err: errors.New("the file was rewritten while it was read")}
}
