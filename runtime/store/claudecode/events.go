package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	history.File
	agent bool // of a sub-agent
	chain key  // the record with which it begins, where it is a side chain in a file
	// copies are files that it was forked from, or that were forked from it before.
	copies []string
}

// Events implements [store.Record].
func (c *conversation) Events(_ context.Context) (store.Events, error) {
	f, info, err := c.Open()
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", c.ID, err)
	}
	e := &events{conversation: c, file: f, opened: info}
	e.Begin(c.ID, e)
	return e, nil
}

// events reads the events of a conversation. It implements [recorded.Script].
type events struct {
	recorded.Events
	conversation *conversation
	file         *os.File
	opened       fs.FileInfo
	lines        *jsonl.Lines // nil before the reading is planned
	tree         *tree        // all that was planned
	plan         plan
	next         int // record of the plan
	decoder      decoder
	read         int64 // offset behind the last line that is in the tree
	trail        trail // what there is before the tree
}

// begin plans how the conversation is read.
func (e *events) begin(ctx context.Context) error {
	c := e.conversation
	var shared map[key]bool
	for _, file := range c.copies {
		keys, err := c.keys(ctx, file)
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
	lines := jsonl.NewLines(e.file, e.opened.Size())
	t, err := readTree(ctx, lines, 0)
	if err != nil {
		return err
	}
	e.lines, e.tree, e.plan, e.read, e.trail = lines, t, t.plan(c.chain, c.agent, shared), t.end, trail{}
	return nil
}

// Grown implements [recorded.Growing]. A side chain, and what has copies of others, is read as a
// whole, and so is a transcript with branches.
func (e *events) Grown() (*recorded.Grown, bool) {
	if e.conversation.chain != (key{}) || len(e.conversation.copies) > 0 {
		return nil, false
	}
	if e.tree != nil {
		for i := range e.tree.nodes {
			if !e.trail.add(&e.tree.nodes[i]) {
				return nil, false
			}
		}
		e.tree = nil
	}
	return &recorded.Grown{File: e.file, Opened: e.opened, Read: &e.read}, true
}

// Walk implements [recorded.Growing].
func (e *events) Walk(c *facts.Coder) {
	e.trail.walk(c)
	facts.Int(c, &e.plan.skipped, &e.plan.large, &e.decoder.turn, &e.decoder.unknown)
	e.decoder.asked.Walk(c)
}

// Goes implements [recorded.Growing].
func (e *events) Goes(ctx context.Context) (bool, error) {
	lines := jsonl.NewLines(e.file, e.opened.Size())
	t, err := readTree(ctx, lines, e.read)
	if err != nil {
		return false, err
	}
	for i := range t.nodes {
		if !e.trail.add(&t.nodes[i]) {
			return false, nil
		}
	}
	skipped, large := e.plan.skipped, e.plan.large
	e.lines, e.plan, e.read = lines, t.plan(key{}, e.conversation.agent, nil), t.end
	e.plan.skipped += skipped
	e.plan.large += large
	return true, nil
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	if e.lines == nil {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	if e.next == len(e.plan.records) {
		return io.EOF
	}
	at := e.plan.records[e.next]
	line, _, err := e.lines.At(ctx, at.offset)
	if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) {
		err = recorded.Rewritten()
	}
	if err != nil {
		return err
	}
	e.next++
	r, _ := parse(line)
	into.Put(e.decoder.events(into.Free(), &r), at.copied)
	return nil
}

// Counts implements [recorded.Script].
func (e *events) Counts() (turns, skipped, tooLarge int) {
	return e.decoder.turn, e.plan.skipped + e.decoder.unknown, e.plan.large
}

// Rewind implements [recorded.Script].
func (e *events) Rewind() {
	e.next = 0
	if e.trail.keys != nil {
		e.lines = nil // what is behind the trail is no more than a part
	}
	e.decoder = decoder{agent: e.conversation.agent || e.conversation.chain != key{}}
}

// Release implements [recorded.Script].
func (e *events) Release() { e.file.Close() }

// stamped is the key of a record with its time.
type stamped struct {
	key key
	at  time.Time
}

// keys returns the keys of what is said in a file.
func (c *conversation) keys(ctx context.Context, file string) (keys []stamped, err error) {
	f, info, err := c.OpenOther(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = jsonl.Each(ctx, jsonl.NewLines(f, info.Size()), func(line []byte, _, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && len(r.uuid) > 0 {
			at, _ := transcript.ParseTimestamp(r.stamp)
			keys = append(keys, stamped{keyOf(r.uuid), at})
		}
		return true
	})
	return keys, err
}
