package claudecode

import (
	"bytes"
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// decode adds the events of a session or a sub-agent.
func (e *entry) decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	copied, err := e.copied(ctx, root)
	if err != nil {
		return err
	}
	to.Agent = e.agent != ""
	return e.addPart(ctx, root, to, false, copied)
}

// decodeSide adds the events of the side chains in the file of a session.
func (e *entry) decodeSide(ctx context.Context, root *history.Root, to *history.Recorder) error {
	to.Agent = true
	return e.addPart(ctx, root, to, true, nil)
}

// addPart adds the events of the side chains or of all others.
func (e *entry) addPart(ctx context.Context, root *history.Root, to *history.Recorder, side bool, copied map[key]bool) error {
	to.Inquiry = inquiry
	t, err := e.readTree(ctx, root, to)
	if err != nil {
		return err
	}
	order := t.order()
	t.abandon(order)
	for _, n := range order {
		if n.dead || n.side != side {
			continue
		}
		to.Totals.Skipped += n.unknown
		to.Copied = copied[n.key]
		for _, x := range n.events {
			to.Add(x)
		}
	}
	return nil
}

// node is a record in the tree of a transcript.
type node struct {
	key, parentKey key
	parent, after  *node // after is the message that it follows
	events         []transcript.Event
	unknown        int  // blocks of unknown types
	latest         int  // position of the last line about it or its descendants
	placed         bool // it is in the order
	message        bool // of the user, the assistant or a tool
	prompt         bool // a person wrote it
	side           bool // it is of a side chain, where versions before 2.0 recorded sub-agents
	dead           bool // it is of an abandoned branch
}

// tree is the tree of the records of a transcript.
type tree struct {
	nodes   []*node
	index   map[key]*node
	touched map[key]int // position of the last line that names a record as the live one
}

// readTree reads all lines of the transcript.
func (e *entry) readTree(ctx context.Context, root *history.Root, to *history.Recorder) (*tree, error) {
	t := &tree{index: map[key]*node{}, touched: map[key]int{}}
	position := 0
	err := to.Lines(ctx, root, e.File, func(line []byte, _ int64) bool {
		r, ok := parse(line)
		if position++; ok {
			t.add(&r, position, e.agent != "")
		}
		return ok && r.isKnown()
	})
	return t, err
}

// add adds a record at a position in the file, of a sub-agent or of a session.
func (t *tree) add(r *record, position int, ofAgent bool) {
	if r.Type == "last-prompt" && r.Leaf != 0 {
		t.touched[r.Leaf] = position
		return
	}
	n := &node{key: r.Key, parentKey: r.Parent, latest: position, side: r.Sidechain && !ofAgent, message: r.isMessage()}
	if n.parentKey == 0 {
		n.parentKey = r.Logical
	}
	switch {
	case n.key == 0 && !n.message && !r.isBoundary(), n.key != 0 && t.index[n.key] != nil: // a copy within the file
		return
	case n.key != 0:
		t.index[n.key] = n
	}
	n.events, n.unknown = r.events()
	for i := range n.events {
		x := &n.events[i]
		x.Text, x.Arguments = bytes.Clone(x.Text), bytes.Clone(x.Arguments) // they may be parts of the line
		n.prompt = x.Kind == transcript.KindUser && !r.Sidechain
	}
	t.nodes = append(t.nodes, n)
}

// order links the records with their parents, and returns them in the order of the file, but each after
// its parent. A circle of parents is opened where it begins in the file.
func (t *tree) order() []*node {
	all := make([]*node, 0, len(t.nodes))
	for _, n := range t.nodes {
		begin := len(all)
		for n != nil && !n.placed {
			n.placed = true
			all = append(all, n)
			if parent := t.index[n.parentKey]; parent != n {
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

// abandon marks the records of branches that the user abandoned: of two prompts after the same message,
// the live one has the last line about it or its descendants.
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
	live := map[*node]*node{} // the prompt after a message
	for _, n := range order {
		if n.parent != nil {
			if n.after = n.parent; !n.parent.message {
				n.after = n.parent.after
			}
		}
		if !n.prompt || n.after == nil {
			continue
		}
		switch other := live[n.after]; {
		case other == nil:
			live[n.after] = n
		case other.latest >= n.latest:
			n.dead = true
		default:
			other.dead = true
			live[n.after] = n
		}
	}
	for _, n := range order {
		n.dead = n.dead || n.parent != nil && n.parent.dead
	}
}
