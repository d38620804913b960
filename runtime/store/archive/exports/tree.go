package exports

import (
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

// node is a node of the tree that the messages of a conversation are: who edits a message
// or has an answer made again begins a branch.
type node struct {
	id       string
	native   string       // its id in the export
	Parent   string       `json:"parent"`
	Children []string     `json:"children"` // some of which may be missing
	Message  jsontext.Raw `json:"message"`
	time     time.Time
}

// order returns the nodes in the order in which they are read, each behind its parent, and
// which of them are on the active path: the one to the node called current, or where there
// is no such node to the newest one without children. At a branching the active path comes
// last, as it was begun last. Links that lead nowhere, and circles, are not followed.
func order(nodes []node, current string) (places []int, active []bool) {
	parent, children := links(nodes)
	active = make([]bool, len(nodes))
	leaf := slices.IndexFunc(nodes, func(n node) bool { return n.id == current })
	if leaf < 0 {
		for i := range nodes {
			if len(children[i]) == 0 && (leaf < 0 || !nodes[i].time.Before(nodes[leaf].time)) {
				leaf = i
			}
		}
	}
	for at := leaf; at >= 0 && !active[at]; at = parent[at] {
		active[at] = true
	}
	var roots []int
	for i := range nodes {
		if parent[i] < 0 {
			roots = append(roots, i)
		}
	}
	seen := make([]bool, len(nodes))
	visit := func(from []int) {
		var stack []int
		// The last one on the stack is the next one.
		push := func(list []int) {
			for _, last := range []bool{true, false} {
				for _, at := range slices.Backward(list) {
					if active[at] == last {
						stack = append(stack, at)
					}
				}
			}
		}
		for push(from); len(stack) > 0; {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !seen[at] {
				seen[at] = true
				places = append(places, at)
				push(children[at])
			}
		}
	}
	visit(roots)
	for at := range nodes { // circles have no root
		visit([]int{at})
	}
	return places, active
}

// links returns the parent of each node, -1 for none, and its children.
func links(nodes []node) (parent []int, children [][]int) {
	place := make(map[string]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		place[nodes[i].id] = i
	}
	parent, children = make([]int, len(nodes)), make([][]int, len(nodes))
	for i := range nodes {
		parent[i] = -1
		if p, ok := place[nodes[i].Parent]; ok && p != i {
			parent[i] = p
		}
	}
	named := make([][]int, len(nodes)) // the children that a node names and that there are
	for i := range nodes {
		for _, id := range nodes[i].Children {
			if c, ok := place[id]; ok && c != i {
				named[i] = append(named[i], c)
				if parent[c] < 0 { // which does not name its parent
					parent[c] = i
				}
			}
		}
	}
	// Children are in the order in which their parent names them, then in that of the nodes.
	placed := make([]bool, len(nodes))
	for i := range nodes {
		for _, c := range named[i] {
			if parent[c] == i && !placed[c] {
				placed[c] = true
				children[i] = append(children[i], c)
			}
		}
	}
	for c, p := range parent {
		if p >= 0 && !placed[c] {
			children[p] = append(children[p], c)
		}
	}
	return parent, children
}
