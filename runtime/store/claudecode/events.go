package claudecode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store"
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

// script is the transcript of a conversation. It implements [recorded.Growing].
type script struct {
	of     *conversation
	file   *os.File
	opened fs.FileInfo
	lines  *jsonl.Lines // nil before the reading is planned
	tree   *tree        // all that was planned, before it is in the trail
	plan   plan
	read   int64 // offset behind the last line that is in the tree
	state
}

// state is what is known behind some records.
type state struct {
	Trail   trail // what there is before the tree
	Decoder decoder
}

func (c *conversation) script(f *os.File, info fs.FileInfo) recorded.Script {
	s := &script{of: c, file: f, opened: info}
	s.Decoder.agent = c.agent || c.chain != key{}
	return s
}

// begin plans how the conversation is read.
func (e *script) begin(ctx context.Context) error {
	c := e.of
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
	var err error
	if e.tree, err = e.readTree(ctx); err == nil {
		e.plan = e.tree.plan(c.chain, c.agent, shared)
	}
	return err
}

// readTree reads the tree of what has not been read.
func (e *script) readTree(ctx context.Context) (*tree, error) {
	e.lines = jsonl.NewLines(e.file, e.opened.Size())
	t, err := readTree(ctx, e.lines, e.read)
	e.read = t.end
	return t, err
}

// Grown implements [recorded.Growing]. A side chain, and what has copies of others, is read as a
// whole, and so is a transcript with branches.
func (e *script) Grown() *recorded.Grown {
	if e.of.chain != (key{}) || len(e.of.copies) > 0 || !e.trailed(e.tree) {
		return nil
	}
	e.tree = nil
	return &recorded.Grown{File: e.file, Opened: e.opened, Read: &e.read, State: &e.state}
}

// trailed adds what was read to the trail, and reports whether that leaves alone what was there.
func (e *script) trailed(t *tree) bool {
	for i := 0; t != nil && i < len(t.nodes); i++ {
		if !e.Trail.add(&t.nodes[i]) {
			return false
		}
	}
	return true
}

// Goes implements [recorded.Growing].
func (e *script) Goes(ctx context.Context) (bool, error) {
	t, err := e.readTree(ctx)
	if err != nil || !e.trailed(t) {
		return false, err
	}
	e.plan = t.plan(key{}, e.of.agent, nil)
	return true, nil
}

// Tell implements [recorded.Script].
func (e *script) Tell(ctx context.Context, t *recorded.Teller) error {
	if e.lines == nil {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	defer func() { t.Totals.Skipped += e.Decoder.unknown }()
	t.Totals.Skipped += e.plan.skipped
	t.Totals.TooLarge += e.plan.large
	var told []recorded.Event
	for _, at := range e.plan.records {
		line, _, err := e.lines.At(ctx, at.offset)
		if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) {
			err = recorded.Rewritten()
		}
		if err != nil {
			return err
		}
		r, _ := parse(line)
		told = e.Decoder.events(told[:0], &r)
		t.Totals.Turns = e.Decoder.Turn
		if err := t.TellAll(told, at.copied); err != nil {
			return err
		}
	}
	return nil
}

// stamped is the key of a record with its time.
type stamped struct {
	key key
	at  time.Time
}

// keys returns the keys of what is said in a file.
func (c *conversation) keys(ctx context.Context, file string) (keys []stamped, err error) {
	f, info, err := c.Open(file)
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
