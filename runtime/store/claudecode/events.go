package claudecode

import (
	"cmp"
	"context"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
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
	tree, err := readTree(ctx, &s.lines, t)
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	if s.whole = s.whole || !s.Trail.goesOn(tree.nodes); s.whole && grown {
		return store.ErrChanged
	}
	for _, n := range tree.plan(s.of.part) {
		t.Totals.Skipped += n.unknown
		t.Copied = copied[n.Key]
		for _, e := range n.events {
			t.Add(e)
		}
	}
	return nil
}
