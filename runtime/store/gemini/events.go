package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	facts.Sheet // of the events; zero where nothing is kept

	store *Store
	id    transcript.ID
	file  string // in the directory of projects, with slashes
	agent bool   // of a sub-agent
	bytes int64  // of the file
}

// Size implements [store.Sized].
func (c *conversation) Size() int64 { return c.bytes }

// open opens the file of the conversation.
func (c *conversation) open() (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(c.store.Place())
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, info, err := safefile.OpenIn(root, c.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = &store.NotFoundError{IDs: []transcript.ID{c.id}, Place: c.store.Place()}
	}
	return f, info, err
}

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	e := &events{conversation: c}
	if err := e.open(ctx, buffer); err != nil {
		e.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id, err)
	}
	e.Restart()
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(context.Context) (string, error) {
	f, info, err := c.open()
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id, err)
	}
	f.Close()
	return fmt.Sprintf("%s %d %d", c.file, info.Size(), info.ModTime().UnixNano()), nil
}

// events reads the events of a conversation. It implements [store.Events].
type events struct {
	conversation *conversation
	file         *os.File
	lines        reader
	plan         *plan
	next         int // item of the plan
	decoder      decoder
	stream       recorded.Stream
	err          error
}

// open plans how the conversation is read.
func (e *events) open(ctx context.Context, buffer *store.Buffer) error {
	f, info, err := e.conversation.open()
	if err != nil {
		return err
	}
	e.file = f
	e.lines = newReader(e.conversation.file, f, info.Size(), buffer)
	e.plan, err = readPlan(ctx, e.lines)
	return err
}

var errChanged = errors.New("the file was rewritten while it was read")

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	for !e.stream.Next() {
		if e.err != nil || e.next == len(e.plan.items) {
			return false
		}
		at := &e.plan.items[e.next]
		if at.dropped || at.noise {
			e.next++
			continue
		}
		line, _, err := e.lines.At(ctx, at.offset)
		switch {
		case err == io.EOF || errors.Is(err, jsonl.ErrTooLong) || err == nil && at.end > len(line):
			err = errChanged
			fallthrough
		case err != nil:
			e.err = err
			return false
		}
		e.next++
		r, _ := parse(line[at.start:at.end])
		if at.compaction {
			e.stream.Put(append(e.stream.Free(), e.decoder.compaction(r.stamp)), false)
		} else {
			e.stream.Put(e.decoder.events(e.stream.Free(), &r), false)
		}
	}
	return true
}

// Event implements [store.Events].
func (e *events) Event() *transcript.Event { return e.stream.Event() }

// Err implements [store.Events].
func (e *events) Err() error {
	switch {
	case e.err == nil:
		return nil
	case errors.Is(e.err, errChanged):
		return &store.DamageError{Event: e.stream.Count(), Err: e.err}
	}
	return fmt.Errorf("reading the events of %s: %w", e.conversation.id, e.err)
}

// Totals implements [store.Events].
func (e *events) Totals() store.Totals {
	t := store.Totals{Turns: e.decoder.turn, Skipped: e.plan.skipped + e.decoder.unknown}
	if e.err != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.stream.Count(), e.stream.Last()
	return t
}

// Restart implements [store.Events].
func (e *events) Restart() {
	e.next, e.err = 0, nil
	e.decoder = decoder{agent: e.conversation.agent}
	e.stream.Reset()
}

// Close implements [store.Events].
func (e *events) Close() {
	if e.file != nil {
		e.file.Close()
		e.file = nil
	}
}
