package claudecode

import (
	"bytes"
	"container/heap"
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// node is a record in the tree of a transcript.
type node struct {
	key, parentKey key
	parent, behind *node // the second is the message that it follows
	children       []*node
	events         []transcript.Event
	unknown        int  // blocks of it
	position       int  // of its line
	latest         int  // position of the last line about it or what follows from it
	placed         bool // it is in the order
	told           bool // there are events of it
	message        bool // somebody said it, or a tool returned it
	prompt         bool // a person said it
	side           bool // of a side chain, in which versions before 2.0 wrote what sub-agents say
	dead           bool // of a branch that was abandoned
}

// tree is the records of a transcript.
type tree struct {
	nodes   nodes
	index   map[key]*node
	touched map[key]int // position of the last line that calls a record the live one
	skipped int         // lines that are no records, or none of a known type
	large   int         // those of them that are too long to be read
}

// readTree reads the lines of a transcript that have not been read.
func readTree(ctx context.Context, lines *history.Lines) (*tree, error) {
	t := &tree{index: map[key]*node{}, touched: map[key]int{}}
	position := 0
	err := lines.Each(ctx, func(line []byte, _, _ int64) bool {
		if line == nil {
			t.large++
		}
		if line == nil || len(line) > 0 {
			t.add(line, position)
		}
		position++
		return true
	})
	return t, err
}

func (t *tree) add(line []byte, position int) {
	r, ok := parse(line)
	if !ok || !r.isKnown() {
		t.skipped++
	}
	if !ok {
		return
	}
	if r.Type == "last-prompt" && r.Leaf != "" {
		t.touched[keyOf(r.Leaf)] = position
		return
	}
	n := &node{key: r.key(), parentKey: keyOf(r.Parent), position: position, latest: position, side: r.Sidechain, message: r.isMessage()}
	if r.Parent == "" {
		n.parentKey = keyOf(r.Logical)
	}
	n.told = n.message || r.isBoundary()
	switch {
	case n.key == 0 && !n.told, n.key != 0 && t.index[n.key] != nil: // a copy within the file
		return
	case n.key != 0:
		t.index[n.key] = n
	}
	n.events, n.unknown = r.events()
	for i := range n.events {
		e := &n.events[i]
		e.Text, e.Arguments = bytes.Clone(e.Text), bytes.Clone(e.Arguments) // which may be parts of the line
		n.prompt = e.Kind == transcript.KindUser
	}
	t.nodes = append(t.nodes, n)
}

// order links the records with their parents, and returns them with parents first and else as they
// stand in the file. A circle of parents is opened where it begins in the file.
func (t *tree) order() []*node {
	var ready nodes
	for _, n := range t.nodes {
		if n.parent = t.index[n.parentKey]; n.parent == nil || n.parent == n {
			n.parent = nil
			ready = append(ready, n)
		} else {
			n.parent.children = append(n.parent.children, n)
		}
	}
	all := make([]*node, 0, len(t.nodes))
	for _, first := range t.nodes {
		if len(ready) == 0 && !first.placed {
			first.parent = nil
			ready = append(ready, first)
		}
		for len(ready) > 0 {
			n := heap.Pop(&ready).(*node)
			if n.placed {
				continue
			}
			n.placed = true
			all = append(all, n)
			for _, c := range n.children {
				heap.Push(&ready, c)
			}
		}
	}
	return all
}

// nodes is a heap of records, the first one of the file first.
type nodes []*node

func (x nodes) Len() int           { return len(x) }
func (x nodes) Less(i, j int) bool { return x[i].position < x[j].position }
func (x nodes) Swap(i, j int)      { x[i], x[j] = x[j], x[i] }
func (x *nodes) Push(n any)        { *x = append(*x, n.(*node)) }
func (x *nodes) Pop() any {
	last := (*x)[len(*x)-1]
	*x = (*x)[:len(*x)-1]
	return last
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
	for i := len(order) - 1; i >= 0; i-- {
		if n := order[i]; n.parent != nil {
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
		other := live[n.behind]
		if other != nil && other.latest >= n.latest {
			n.dead = true
			continue
		}
		if other != nil {
			other.dead = true
		}
		live[n.behind] = n
	}
	for _, n := range order {
		n.dead = n.dead || n.parent != nil && n.parent.dead
	}
}

// plan returns the records that are read, in the order in which they were said: those of the
// session, those of the side chains in its file, or all of them.
func (t *tree) plan(part part) []*node {
	order := t.order()
	t.abandon(order)
	var wanted []*node
	for _, n := range order {
		if n.told && !n.dead && (part == whole || n.side == (part == side)) {
			wanted = append(wanted, n)
		}
	}
	return wanted
}

// part is which of the records of a transcript are a conversation.
type part uint8

const (
	main  part = iota
	side       // of sub-agents, in the file of a session
	whole      // in the file of a sub-agent
)

// trail is the tree of a transcript, as far as it is needed to find out whether what is appended leaves alone
// what is there: the records stay in their order, and none of them is of a branch that is
// abandoned. There are no two prompts behind the same message then.
type trail struct {
	Keys map[key]bool
	Tip  key  // of the last record; 0 where it has none
	Free bool // nothing that a person said is behind the message at the tip, or before it
}

// goesOn adds records up to the first that does not leave alone what is there, and reports whether
// there is none.
func (p *trail) goesOn(all []*node) bool {
	return !slices.ContainsFunc(all, func(n *node) bool { return !p.add(n) })
}

// add adds a record, and reports whether it leaves alone what is there.
func (p *trail) add(n *node) bool {
	isRoot := n.parentKey == 0
	if n.key != 0 && p.Keys[n.key] || !isRoot && !p.Keys[n.parentKey] {
		return false // a copy, or of an order that is not that of the file
	}
	onTip := !isRoot && n.parentKey == p.Tip
	switch {
	case isRoot:
		p.Free = true
	case n.prompt && !n.side && !(onTip && p.Free):
		return false
	default:
		p.Free = n.message || onTip && p.Free
	}
	if p.Tip = n.key; n.key != 0 {
		if p.Keys == nil {
			p.Keys = map[key]bool{}
		}
		p.Keys[n.key] = true
	}
	return true
}
