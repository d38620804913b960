package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	history.File
	agent bool // of a sub-agent
}

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context) (store.Events, error) {
	f, info, err := c.Open()
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", c.ID, err)
	}
	e := &events{conversation: c, file: f, lines: newReader(c.Name, f, info.Size())}
	if e.plan, err = readPlan(ctx, e.lines); err != nil {
		f.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", c.ID, err)
	}
	e.Begin(c.ID, e)
	return e, nil
}

// events reads the events of a conversation. It implements [recorded.Script].
type events struct {
	recorded.Events
	conversation *conversation
	file         *os.File
	lines        jsonl.Reader
	plan         *plan
	next         int // item of the plan
	decoder      decoder
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	if e.next == len(e.plan.items) {
		return io.EOF
	}
	at := &e.plan.items[e.next]
	if at.dropped || at.noise {
		e.next++
		return nil
	}
	line, _, err := e.lines.At(ctx, at.offset)
	if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) || err == nil && at.end > len(line) {
		err = recorded.Rewritten()
	}
	if err != nil {
		return err
	}
	e.next++
	r, _ := parse(line[at.start:at.end])
	if at.compaction {
		into.Put(append(into.Free(), e.decoder.compaction(r.stamp)), false)
	} else {
		into.Put(e.decoder.events(into.Free(), &r), false)
	}
	return nil
}

// Counts implements [recorded.Script].
func (e *events) Counts() (turns, skipped, tooLarge int) {
	return e.decoder.turn, e.plan.skipped + e.decoder.unknown, e.plan.large
}

// Rewind implements [recorded.Script].
func (e *events) Rewind() {
	e.next = 0
	e.decoder = decoder{agent: e.conversation.agent}
}

// Release implements [recorded.Script].
func (e *events) Release() { e.file.Close() }
