package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	store *Store
	id    transcript.ID
	file  string // in the directory of projects, with slashes
	agent bool   // of a sub-agent
	chain key    // the record with which it begins, where it is a side chain in a file
	// copies are files that it was forked from, or that were forked from it before.
	copies []string
}

// open opens the file of the conversation, or another one beside it.
func (c *conversation) open(file string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(c.store.projects)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, info, err := safefile.OpenIn(root, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &store.NotFoundError{IDs: []transcript.ID{c.id}, Place: c.store.Place()}
	}
	return f, info, err
}

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	e := &events{}
	if err := e.open(ctx, c, buffer); err != nil {
		e.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id, err)
	}
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(context.Context) (string, error) {
	f, info, err := c.open(c.file)
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id, err)
	}
	f.Close()
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
}

// events reads the events of a conversation. It implements [store.Events].
type events struct {
	conversation *conversation
	file         *os.File
	lines        *jsonl.Lines
	plan         plan
	next         int // record of the plan
	decoder      decoder
	queue        []recorded.Event // of the record before
	queued       int              // of the queue that were returned
	event        transcript.Event
	last         time.Time
	err          error
}

// open plans how the conversation is read.
func (e *events) open(ctx context.Context, c *conversation, buffer *store.Buffer) error {
	var shared map[key]bool
	for _, file := range c.copies {
		keys, err := c.keys(ctx, file, buffer)
		var missing *store.NotFoundError
		if errors.As(err, &missing) {
			continue // what it has is told here
		}
		if err != nil {
			return err
		}
		if shared == nil {
			shared = map[key]bool{}
		}
		for _, k := range keys {
			shared[k.key] = true
		}
	}
	f, info, err := c.open(c.file)
	if err != nil {
		return err
	}
	e.conversation, e.file = c, f
	e.lines = jsonl.NewLines(f, info.Size(), buffer)
	t, err := readTree(ctx, e.lines)
	if err != nil {
		return err
	}
	e.plan = t.plan(c.chain, c.agent, shared)
	e.Restart()
	return nil
}

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	for e.queued == len(e.queue) {
		if e.err != nil || e.next == len(e.plan.records) {
			return false
		}
		line, _, err := e.lines.At(ctx, e.plan.records[e.next].offset)
		switch {
		case err == io.EOF || errors.Is(err, jsonl.ErrTooLong):
			err = errChanged
			fallthrough
		case err != nil:
			e.err = err
			return false
		}
		e.event.Copied = e.plan.records[e.next].copied
		e.next++
		r, _ := parse(line)
		e.queue, e.queued = e.decoder.events(e.queue[:0], &r), 0
	}
	current := &e.queue[e.queued]
	e.queued++
	e.event.Index++
	e.event.Turn, e.event.Kind, e.event.Record = current.Turn, current.Kind, current
	if e.event.Kind.Global() {
		e.event.Turn = 0
	}
	e.last = current.Time()
	return true
}

var errChanged = errors.New("the file was rewritten while it was read")

// Event implements [store.Events].
func (e *events) Event() *transcript.Event { return &e.event }

// Err implements [store.Events].
func (e *events) Err() error {
	switch {
	case e.err == nil:
		return nil
	case errors.Is(e.err, errChanged):
		return &store.DamageError{Event: e.event.Index + 1, Err: e.err}
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
	t.Events, t.LastAt = e.event.Index+1, e.last
	return t
}

// Restart implements [store.Events].
func (e *events) Restart() {
	e.next, e.queue, e.queued, e.err = 0, e.queue[:0], 0, nil
	e.decoder = decoder{agent: e.conversation.agent || e.conversation.chain != key{}}
	e.event = transcript.Event{Index: -1}
	e.last = time.Time{}
}

// Close implements [store.Events].
func (e *events) Close() {
	if e.file != nil {
		e.file.Close()
		e.file = nil
	}
}

// stamped is the key of a record with its time.
type stamped struct {
	key key
	at  time.Time
}

// keys returns the keys of what is said in a file.
func (c *conversation) keys(ctx context.Context, file string, buffer *store.Buffer) ([]stamped, error) {
	f, info, err := c.open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := jsonl.NewLines(f, info.Size(), buffer)
	var keys []stamped
	for offset := int64(0); ; {
		line, next, err := lines.At(ctx, offset)
		switch {
		case err == io.EOF:
			return keys, nil
		case err != nil && !errors.Is(err, jsonl.ErrTooLong):
			return nil, err
		}
		if r, _ := parse(line); r.isMessage() && len(r.uuid) > 0 {
			at, _ := transcript.ParseTimestamp(r.stamp)
			keys = append(keys, stamped{keyOf(r.uuid), at})
		}
		offset = next
	}
}
