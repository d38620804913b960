package exports

import (
	"cmp"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// node is a node of the tree that the messages of a conversation are: who edits a message
// or has an answer made again begins a branch.
type node struct {
	id      string
	native  string       // its id in the export
	Parent  string       `json:"parent"`
	Message jsontext.Raw `json:"message"`
	time    time.Time
}

// order returns the nodes in the order in which they are read, each behind its parent, and
// which of them are on the active path: the one to the node called current, or where there
// is no such node to the newest one without children. At a branching the active path comes
// last, and the others come by their times. Links that lead nowhere, and circles, are not followed.
func order(nodes []node, current string) (places []int, active []bool) {
	parent := parents(nodes)
	active = make([]bool, len(nodes))
	for at := leaf(nodes, parent, current); at >= 0 && !active[at]; at = parent[at] {
		active[at] = true
	}
	all := make([]int, len(nodes))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(history.CompareBool(active[a], active[b]), nodes[a].time.Compare(nodes[b].time))
	})
	children := make([][]int, len(nodes))
	var roots []int
	for _, at := range all {
		if p := parent[at]; p >= 0 {
			children[p] = append(children[p], at)
		} else {
			roots = append(roots, at)
		}
	}
	seen := make([]bool, len(nodes))
	for _, root := range append(roots, all...) { // circles have no root
		for stack := []int{root}; len(stack) > 0; {
			at := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; seen[at] {
				continue
			}
			seen[at] = true
			places = append(places, at)
			for _, child := range slices.Backward(children[at]) {
				stack = append(stack, child)
			}
		}
	}
	return places, active
}

// parents returns the parent of each node, -1 for none.
func parents(nodes []node) []int {
	place := make(map[string]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		place[nodes[i].id] = i
	}
	parent := make([]int, len(nodes))
	for i := range nodes {
		parent[i] = -1
		if p, ok := place[nodes[i].Parent]; ok && p != i {
			parent[i] = p
		}
	}
	return parent
}

// leaf returns the node called current, or else the newest one without children; -1 for none.
func leaf(nodes []node, parent []int, current string) int {
	leaf := slices.IndexFunc(nodes, func(n node) bool { return n.id == current })
	if leaf >= 0 {
		return leaf
	}
	isParent := map[int]bool{}
	for _, p := range parent {
		isParent[p] = true
	}
	for i := range nodes {
		if !isParent[i] && (leaf < 0 || !nodes[i].time.Before(nodes[leaf].time)) {
			leaf = i
		}
	}
	return leaf
}
