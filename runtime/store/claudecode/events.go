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

// events reads the events of a conversation. It implements [recorded.Growing].
type events struct {
	of     *conversation
	file   *os.File
	opened fs.FileInfo
	lines  *jsonl.Lines // nil before the reading is planned
	tree   *tree        // all that was planned, before it is in the trail
	plan   plan
	next   int   // record of the plan
	read   int64 // offset behind the last line that is in the tree
	state
}

// state is what is known behind some records.
type state struct {
	Trail          trail // what there is before the tree
	Skipped, Large int   // as in a plan
	Decoder        decoder
}

func (c *conversation) script(f *os.File, info fs.FileInfo) recorded.Script {
	e := &events{of: c, file: f, opened: info}
	e.Decoder.agent = c.agent || c.chain != key{}
	return e
}

// begin plans how the conversation is read.
func (e *events) begin(ctx context.Context) error {
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
	if e.tree, err = e.readTree(ctx); err != nil {
		return err
	}
	e.follow(e.tree.plan(c.chain, c.agent, shared))
	return nil
}

// readTree reads the tree of what has not been read.
func (e *events) readTree(ctx context.Context) (*tree, error) {
	e.lines = jsonl.NewLines(e.file, e.opened.Size())
	t, err := readTree(ctx, e.lines, e.read)
	e.read = t.end
	return t, err
}

func (e *events) follow(p plan) {
	e.plan = p
	e.Skipped += p.skipped
	e.Large += p.large
}

// Grown implements [recorded.Growing]. A side chain, and what has copies of others, is read as a
// whole, and so is a transcript with branches.
func (e *events) Grown() *recorded.Grown {
	if e.of.chain != (key{}) || len(e.of.copies) > 0 || !e.trailed(e.tree) {
		return nil
	}
	e.tree = nil
	return &recorded.Grown{File: e.file, Opened: e.opened, Read: &e.read, State: &e.state}
}

// trailed adds what was read to the trail, and reports whether that leaves alone what was there.
func (e *events) trailed(t *tree) bool {
	for i := 0; t != nil && i < len(t.nodes); i++ {
		if !e.Trail.add(&t.nodes[i]) {
			return false
		}
	}
	return true
}

// Goes implements [recorded.Growing].
func (e *events) Goes(ctx context.Context) (bool, error) {
	t, err := e.readTree(ctx)
	if err != nil || !e.trailed(t) {
		return false, err
	}
	e.follow(t.plan(key{}, e.of.agent, nil))
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
	into.Put(e.Decoder.events(into.Free(), &r), at.copied)
	return nil
}

// Totals implements [recorded.Script].
func (e *events) Totals() store.Totals {
	return store.Totals{Turns: e.Decoder.Turn, Skipped: e.Skipped + e.Decoder.Unknown, TooLarge: e.Large}
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
