package history

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation.
type Script interface {
	// Tell adds the events to a talk, until that is stopped. The error is a [*store.DamageError]
	// where they end early.
	Tell(ctx context.Context, t *Talk) error
}

// Growing is a [Script] in a file of lines that is appended to. Its exported fields, as JSON, are
// what else is known behind the lines that were read. Where what follows these changes what they
// say, Tell returns [store.ErrChanged] before any event.
type Growing interface {
	Script
	// Lines returns how far the file has been read; nil where it is read as a whole each time.
	Lines() *Lines
}

// Lines is the opened file of a [Growing] script.
type Lines struct {
	File   *os.File
	Opened fs.FileInfo // what it was before anything of it was read
	Read   int64       // how many bytes of it have been read: whole lines
}

// Each calls do for the lines that have not been read, as [jsonl.Each] does.
func (l *Lines) Each(ctx context.Context, do func(line []byte, offset, next int64) bool) error {
	return jsonl.Each(ctx, l.File, l.Read, l.Opened.Size(), func(line []byte, offset, next int64) bool {
		l.Read = next
		return do(line, offset, next)
	})
}

// unchanged reports whether a file is what it was before it was read. Else what was read need
// not be what it has.
func (l *Lines) unchanged() bool {
	info, err := l.File.Stat()
	return err == nil && info.Size() == l.Opened.Size() && info.ModTime().Equal(l.Opened.ModTime())
}

// mark is what is known behind what has been read of a file, and that it was read.
type mark struct {
	Read   int64
	Sum    uint32
	Totals store.Totals
	Asked  map[string]bool
	Script json.RawMessage
}

// Read reads a script from its beginning, or from a mark, as [store.Record] has it.
func Read(ctx context.Context, id transcript.ID, script Script, at *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := Talk{Yield: yield}
	var from mark
	growing, canGrow := script.(Growing)
	if at != nil && len(*at) > 0 {
		if !canGrow || !from.resume(ctx, growing, *at) {
			return store.Totals{}, store.ErrChanged
		}
		t.Totals, t.Asked = from.Totals, from.Asked
	}
	err := script.Tell(ctx, &t)
	if err == store.ErrChanged {
		return store.Totals{}, err
	}
	if at != nil && !t.Stopped {
		if *at = nil; canGrow && err == nil {
			*at = from.next(ctx, growing, &t)
		}
	}
	return t.End(id, err)
}

// next returns what is needed to go on after all events; nil where that is not possible.
func (m mark) next(ctx context.Context, script Growing, t *Talk) []byte {
	l := script.Lines()
	if l == nil {
		return nil
	}
	state, failed := json.Marshal(script)
	sum, err := jsonl.Sum(ctx, l.File, m.Sum, m.Read, l.Read)
	if err != nil || failed != nil || !l.unchanged() {
		return nil
	}
	data, _ := json.Marshal(mark{l.Read, sum, t.Totals, t.Asked, state})
	return data
}

// resume has a script go on after the events of a mark, and reports whether it can.
func (m *mark) resume(ctx context.Context, script Growing, data []byte) bool {
	l := script.Lines()
	if l == nil || json.Unmarshal(data, m) != nil || json.Unmarshal(m.Script, script) != nil {
		return false
	}
	l.Read = m.Read
	sum, err := jsonl.Sum(ctx, l.File, 0, 0, m.Read)
	return err == nil && sum == m.Sum
}
