package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/store"
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

// script is the transcript of a conversation. It implements [history.Growing]. Side chains, and what
// has copies of others, are read as a whole, and so is a transcript with branches.
type script struct {
	of    *conversation
	lines history.Lines
	whole bool
	Trail trail
}

func (c *conversation) script(f *os.File, info fs.FileInfo) history.Script {
	return &script{of: c, lines: history.Lines{File: f, Opened: info}, whole: c.part == side || len(c.copies) > 0}
}

// Lines implements [history.Growing].
func (s *script) Lines() *history.Lines {
	if s.whole {
		return nil
	}
	return &s.lines
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) error {
	t.Agent, t.Inquiry = s.of.part != main, inquiry
	grown := s.lines.Read > 0
	copied, failed := s.of.copied(ctx)
	tree, err := readTree(ctx, &s.lines)
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	if s.whole = s.whole || !s.Trail.goesOn(tree.nodes); s.whole && grown {
		return store.ErrChanged
	}
	t.Totals.TooLarge += tree.large
	t.Totals.Skipped += tree.skipped
	for _, n := range tree.plan(s.of.part) {
		t.Totals.Skipped += n.unknown
		t.Copied = copied[n.key]
		for _, e := range n.events {
			t.Add(e)
		}
		if t.Stopped {
			break
		}
	}
	return nil
}

// copied returns the records that the copies have too.
func (c *conversation) copied(ctx context.Context) (map[key]bool, error) {
	if len(c.copies) == 0 {
		return nil, nil
	}
	root, err := c.Store.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	copied := map[key]bool{}
	for _, file := range c.copies {
		keys, err := keysOf(ctx, root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then what it has is told here
			return nil, err
		}
		for _, k := range keys {
			copied[k.key] = true
		}
	}
	return copied, nil
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
	err = jsonl.Each(ctx, f, 0, info.Size(), func(line []byte, _, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && r.UUID != "" {
			keys = append(keys, stamped{r.key(), r.At})
		}
		return true
	})
	return keys, err
}
