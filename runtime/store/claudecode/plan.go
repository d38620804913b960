package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a conversation is recorded. It implements [store.Record].
type conversation struct {
	history.File
	part part // of the records of the file
	// copies are files that it was forked from, or that were forked from it before.
	copies []string
}

// script is the transcript of a conversation. It implements [history.Script].
type script struct {
	of   *conversation
	file *os.File
	size int64
}

func (c *conversation) script(f *os.File, info fs.FileInfo) history.Script {
	return &script{c, f, info.Size()}
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) error {
	t.Agent, t.Inquiry = s.of.part != main, inquiry
	copied, failed := s.of.copied(ctx)
	tree, err := readTree(ctx, s.file, s.size, t)
	if err = cmp.Or(failed, err); err != nil {
		return err
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

// node is a record in the tree of a transcript.
type node struct {
	Key, Parent    key
	parent, behind *node // the second is the message that it follows
	events         []transcript.Event
	unknown        int  // blocks of it
	latest         int  // position of the last line about it or what follows from it
	placed         bool // it is in the order
	message        bool // somebody said it, or a tool returned it
	prompt         bool // a person said it
	side           bool // of a side chain, in which versions before 2.0 wrote what sub-agents say
	dead           bool // of a branch that was abandoned
}

// tree is the records of a transcript.
type tree struct {
	nodes   []*node
	index   map[key]*node
	touched map[key]int // position of the last line that calls a record the live one
}

// readTree reads the lines of a transcript, and counts those that are no records, or of no known
// type.
func readTree(ctx context.Context, f *os.File, size int64, count *history.Talk) (*tree, error) {
	t := &tree{index: map[key]*node{}, touched: map[key]int{}}
	position := 0
	err := jsonl.Each(ctx, f, 0, size, func(line []byte, _, _ int64) bool {
		position++
		r, ok := parse(line)
		if line == nil {
			count.Totals.TooLarge++
		}
		if (line == nil || len(line) > 0) && !(ok && r.isKnown()) {
			count.Totals.Skipped++
		}
		if ok {
			t.add(&r, position)
		}
		return true
	})
	return t, err
}

func (t *tree) add(r *record, position int) {
	if r.Type == "last-prompt" && r.Leaf != 0 {
		t.touched[r.Leaf] = position
		return
	}
	n := &node{Key: r.Key, Parent: r.Parent, latest: position, side: r.Sidechain, message: r.isMessage()}
	if n.Parent == 0 {
		n.Parent = r.Logical
	}
	switch {
	case n.Key == 0 && !n.message && !r.isBoundary(), n.Key != 0 && t.index[n.Key] != nil: // a copy within the file
		return
	case n.Key != 0:
		t.index[n.Key] = n
	}
	n.events, n.unknown = r.events()
	for i := range n.events {
		e := &n.events[i]
		e.Text, e.Arguments = bytes.Clone(e.Text), bytes.Clone(e.Arguments) // which may be parts of the line
		n.prompt = e.Kind == transcript.KindUser
	}
	t.nodes = append(t.nodes, n)
}

// order links the records with their parents, and returns them as they stand in the file, but each
// behind its parent. A circle of parents is opened where it begins in the file.
func (t *tree) order() []*node {
	all := make([]*node, 0, len(t.nodes))
	for _, n := range t.nodes {
		begin := len(all)
		for n != nil && !n.placed {
			n.placed = true
			all = append(all, n)
			if parent := t.index[n.Parent]; parent != n {
				n.parent = parent
			}
			n = n.parent
		}
		if n != nil && slices.Contains(all[begin:], n) {
			for _, m := range all[begin+1:] {
				m.placed = false
			}
			all = all[:begin+1]
			all[begin].parent = nil
		}
		slices.Reverse(all[begin:])
	}
	return all
}

// abandon marks what belongs to a branch that its user went back from: of two prompts
// behind the same message, that is the one about which, and about what followed
// from it, nothing was recorded any more.
func (t *tree) abandon(order []*node) {
	for k, position := range t.touched {
		if n := t.index[k]; n != nil {
			n.latest = max(n.latest, position)
		}
	}
	for _, n := range slices.Backward(order) {
		if n.parent != nil {
			n.parent.latest = max(n.parent.latest, n.latest)
		}
	}
	live := map[*node]*node{} // the prompt behind a message
	for _, n := range order {
		if n.parent != nil {
			if n.behind = n.parent; !n.parent.message {
				n.behind = n.parent.behind
			}
		}
		if !n.prompt || n.side || n.behind == nil {
			continue
		}
		switch other := live[n.behind]; {
		case other == nil:
			live[n.behind] = n
		case other.latest >= n.latest:
			n.dead = true
		default:
			other.dead = true
			live[n.behind] = n
		}
	}
	for _, n := range order {
		n.dead = n.dead || n.parent != nil && n.parent.dead
	}
}

// part is which of the records of a transcript are a conversation.
type part uint8

const (
	main  part = iota
	side       // of sub-agents, in the file of a session
	whole      // in the file of a sub-agent
)

// plan returns the records that are read, in the order in which they were said: those of the
// session, those of the side chains in its file, or all of them.
func (t *tree) plan(part part) []*node {
	order := t.order()
	t.abandon(order)
	return slices.DeleteFunc(order, func(n *node) bool { return n.dead || part != whole && n.side != (part == side) })
}
