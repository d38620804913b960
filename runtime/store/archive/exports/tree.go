package exports

import (
	"iter"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// node is a node of the tree that the messages of a conversation are: who edits a message
// or has an answer made again begins a branch.
type node struct {
	id, parent string
	children   []byte // JSON, an array of ids of which some may be missing; nil for none
	message    []byte // JSON; nil for none
	time       time.Time
}

// order returns the nodes in the order in which they are read, each behind its parent, and
// which of them are on the active path: the one to the node called current, or where there
// is no such node to the newest one without children. At a branching the active path comes
// last, as it was begun last. Links that lead nowhere, and circles, are not followed.
func order(nodes []node, current string) (places []int, active []bool) {
	t := newTree(nodes)
	active = make([]bool, len(nodes))
	for at := t.leaf(current); at >= 0 && !active[at]; at = t.parent[at] {
		active[at] = true
	}
	places = make([]int, 0, len(nodes))
	seen := make([]bool, len(nodes))
	visit := func(root int) {
		stack := []int{root}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[at] {
				continue
			}
			seen[at] = true
			places = append(places, at)
			// The last one on the stack is the next one.
			for _, last := range []bool{true, false} {
				for _, child := range slices.Backward(t.children[at]) {
					if active[child] == last {
						stack = append(stack, child)
					}
				}
			}
		}
	}
	activeRoot := -1
	for at := range nodes {
		switch {
		case t.parent[at] >= 0:
		case active[at]:
			activeRoot = at
		default:
			visit(at)
		}
	}
	if activeRoot >= 0 {
		visit(activeRoot)
	}
	for at := range nodes { // circles have no root
		if !seen[at] {
			visit(at)
		}
	}
	return places, active
}

// tree is nodes with their links.
type tree struct {
	nodes    []node
	place    map[string]int
	parent   []int // -1 for none
	children [][]int
}

func newTree(nodes []node) *tree {
	t := &tree{nodes: nodes, place: make(map[string]int, len(nodes)), parent: make([]int, len(nodes)), children: make([][]int, len(nodes))}
	for i := range nodes {
		if _, ok := t.place[nodes[i].id]; !ok {
			t.place[nodes[i].id] = i
		}
	}
	for i := range nodes {
		t.parent[i] = -1
		if p, ok := t.place[nodes[i].parent]; ok && p != i {
			t.parent[i] = p
		}
	}
	// Where a node does not name its parent, the parent may name it.
	for i := range nodes {
		for c := range t.named(i) {
			if c != i && t.parent[c] < 0 {
				t.parent[c] = i
			}
		}
	}
	// Children are in the order in which their parent names them, then in that of the nodes.
	placed := make([]bool, len(nodes))
	for i := range nodes {
		for c := range t.named(i) {
			if t.parent[c] == i && !placed[c] {
				placed[c] = true
				t.children[i] = append(t.children[i], c)
			}
		}
	}
	for c, p := range t.parent {
		if p >= 0 && !placed[c] {
			t.children[p] = append(t.children[p], c)
		}
	}
	return t
}

// named are the children that a node names and that there are.
func (t *tree) named(at int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for raw := range jsontext.Elements(t.nodes[at].children) {
			id, _ := jsontext.Unquote(raw)
			c, ok := t.place[string(id)]
			if !ok && jsontext.HasEscape(id) {
				c, ok = t.place[recorded.Unescape(id)]
			}
			if ok && !yield(c) {
				return
			}
		}
	}
}

// leaf returns the node that the active path ends with, or -1.
func (t *tree) leaf(current string) int {
	if at, ok := t.place[current]; ok {
		return at
	}
	newest := -1
	for i := range t.nodes {
		if len(t.children[i]) == 0 && (newest < 0 || !t.nodes[i].time.Before(t.nodes[newest].time)) {
			newest = i
		}
	}
	return newest
}
