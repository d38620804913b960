package claudecode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	history.File
	part part // of the records of the file
	// copies are files that it was forked from, or that were forked from it before.
	copies []string
}

// script is the transcript of a conversation. It implements [history.Growing].
type script struct {
	of     *conversation
	file   *os.File
	opened fs.FileInfo
	lines  *jsonl.Lines // nil before the reading is planned
	tree   *tree        // all that was planned, before it is in the trail
	plan   []*node
	large  int          // lines that are too long to be read
	copied map[key]bool // records that the copies have too
	read   int64        // offset behind the last line that is in the tree
	state
}

// state is what is known behind some records.
type state struct {
	Trail trail // what there is before the tree
	Talk  history.Talk
}

func (c *conversation) script(f *os.File, info fs.FileInfo) history.Script {
	return &script{of: c, file: f, opened: info, state: state{Talk: newTalk(c.part != main)}}
}

// begin plans how the conversation is read.
func (e *script) begin(ctx context.Context) error {
	if len(e.of.copies) > 0 {
		root, err := e.of.Store.Open()
		if err != nil {
			return err
		}
		defer root.Close()
		e.copied = map[key]bool{}
		for _, file := range e.of.copies {
			keys, err := keysOf(ctx, root, file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // then what it has is told here
				return err
			}
			for _, k := range keys {
				e.copied[k.key] = true
			}
		}
	}
	var err error
	if e.tree, err = e.readTree(ctx); err == nil {
		e.plan = e.tree.plan(e.of.part)
	}
	return err
}

// readTree reads the tree of what has not been read.
func (e *script) readTree(ctx context.Context) (*tree, error) {
	e.lines = jsonl.NewLines(e.file, e.opened.Size())
	t, err := readTree(ctx, e.lines, e.read)
	e.read, e.large, e.Talk.Skipped = t.end, t.large, t.skipped
	return t, err
}

// Grown implements [history.Growing]. Side chains, and what has copies of others, are read as a
// whole, and so is a transcript with branches.
func (e *script) Grown() *history.Grown {
	if e.of.part == side || len(e.of.copies) > 0 || !e.trailed(e.tree) {
		return nil
	}
	e.tree = nil
	return &history.Grown{File: e.file, Opened: e.opened, Read: &e.read, State: &e.state}
}

// trailed adds what was read to the trail, and reports whether that leaves alone what was there.
func (e *script) trailed(t *tree) bool {
	for i := 0; t != nil && i < len(t.nodes); i++ {
		if !e.Trail.add(t.nodes[i]) {
			return false
		}
	}
	return true
}

// Goes implements [history.Growing].
func (e *script) Goes(ctx context.Context) (bool, error) {
	t, err := e.readTree(ctx)
	if err != nil || !e.trailed(t) {
		return false, err
	}
	e.plan = t.plan(e.of.part)
	return true, nil
}

// Tell implements [history.Script].
func (e *script) Tell(ctx context.Context, t *history.Teller) error {
	if e.lines == nil {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	t.Totals.TooLarge += e.large
	for _, n := range e.plan {
		line, _, err := e.lines.At(ctx, n.offset)
		if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) {
			err = history.ErrRewritten
		}
		if err != nil {
			return err
		}
		r, _ := parse(line)
		tell(&e.Talk, &r)
		if err := t.TellAll(&e.Talk, e.copied[n.key]); err != nil {
			return err
		}
	}
	return t.TellAll(&e.Talk, false)
}

// stamped is the key of a record with its time.
type stamped struct {
	key key
	at  time.Time
}

// keysOf returns the keys of what is said in a file.
func keysOf(ctx context.Context, root *history.Root, file string) (keys []stamped, err error) {
	f, info, err := root.File(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = jsonl.EachFrom(ctx, jsonl.NewLines(f, info.Size()), 0, func(line []byte, _, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && r.UUID != "" {
			keys = append(keys, stamped{r.key(), r.At})
		}
		return true
	})
	return keys, err
}
