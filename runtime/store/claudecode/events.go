package claudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

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
	chain key    // the record with which it begins, where it is a side chain in a file
	bytes int64  // of the file and of the copies
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

// Size implements [store.Sized].
func (c *conversation) Size() int64 { return c.bytes }

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	f, info, err := c.open(c.file)
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", c.id, err)
	}
	e := &events{conversation: c, file: f, size: info.Size(), buffer: buffer}
	e.Restart()
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(context.Context) (string, error) {
	if v := c.Sheet.Version(); v != "" {
		return v, nil
	}
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
	size         int64
	buffer       *store.Buffer
	lines        *jsonl.Lines // nil before the reading is planned
	plan         plan
	next         int // record of the plan
	decoder      decoder
	stream       recorded.Stream
	err          error
}

// Sift implements [store.Sifter].
func (e *events) Sift(ctx context.Context, may func([]byte) bool) (bool, error) {
	e.lines = nil // whose window is no longer what was read
	return jsonl.Sift(ctx, e.file, e.size, e.buffer, func(part []byte) bool {
		// What stands before a reminder is read together with what stands behind it.
		return may(part) || bytes.Contains(part, []byte(reminderEnd))
	})
}

// begin plans how the conversation is read.
func (e *events) begin(ctx context.Context) error {
	c, buffer := e.conversation, e.buffer
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
	lines := jsonl.NewLines(e.file, e.size, buffer)
	t, err := readTree(ctx, lines)
	if err != nil {
		return err
	}
	e.lines, e.plan = lines, t.plan(c.chain, c.agent, shared)
	return nil
}

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	if e.lines == nil && e.err == nil {
		e.err = e.begin(ctx)
	}
	for !e.stream.Next() {
		if e.err != nil || e.next == len(e.plan.records) {
			return false
		}
		at := e.plan.records[e.next]
		line, _, err := e.lines.At(ctx, at.offset)
		switch {
		case err == io.EOF || errors.Is(err, jsonl.ErrTooLong):
			err = errChanged
			fallthrough
		case err != nil:
			e.err = err
			return false
		}
		e.next++
		r, _ := parse(line)
		e.stream.Put(e.decoder.events(e.stream.Free(), &r), at.copied)
	}
	return true
}

var errChanged = errors.New("the file was rewritten while it was read")

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
	e.decoder = decoder{agent: e.conversation.agent || e.conversation.chain != key{}}
	e.stream.Reset()
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
