package claudecode

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/convtools/convtools/runtime/store/internal/jsonl"
)

// key stands for the uuid of a record.
type key [16]byte

// keyOf returns the key of a uuid; the zero key of none. What has another form than a
// uuid is hashed.
func keyOf(uuid []byte) (k key) {
	if len(uuid) == 36 {
		var digits [32]byte
		n := 0
		for _, c := range uuid {
			if c != '-' && n < len(digits) {
				digits[n] = c
				n++
			}
		}
		if _, err := hex.Decode(k[:], digits[:]); err == nil && n == len(digits) {
			return k
		}
	}
	if len(uuid) > 0 {
		sum := sha256.Sum256(uuid)
		copy(k[:], sum[:])
	}
	return k
}

// MarshalText writes a key as hexadecimal digits.
func (k key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (k *key) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(k) {
		return hex.ErrLength
	}
	_, err := hex.Decode(k[:], text)
	return err
}

// plan is which records of a transcript are read, in the order in which they were
// said.
type plan struct {
	records []planned
	skipped int // lines that are no records, or none of a known type
	large   int // those of them that are too long to be read
}

// planned is a record of a plan.
type planned struct {
	offset int64
	copied bool // another conversation, which this one was forked from, has it too
}

// node is a record in the tree of a transcript.
type node struct {
	key, parentKey key
	offset         int64
	parent         int32 // in the nodes; -1 for none
	latest         int32 // position of the last line about it or what follows from it
	flags          flags
}

type flags uint8

const (
	told    flags = 1 << iota // an event is made of it
	message                   // somebody said it, or a tool returned it
	prompt                    // a person said it
	side                      // of a side chain
	dead                      // of a branch that was abandoned
	mine                      // of the side chain that is read
)

// tree reads the records of a transcript.
type tree struct {
	nodes   []node
	index   map[key]int32
	touched map[key]int32 // position of the last line that calls a record the live one
	skipped int
	large   int
	end     int64 // offset behind the last line
}

// readTree reads the lines of a transcript from an offset on.
func readTree(ctx context.Context, lines *jsonl.Lines, from int64) (*tree, error) {
	t := &tree{index: map[key]int32{}, touched: map[key]int32{}, end: from}
	position := int32(0)
	err := jsonl.EachFrom(ctx, lines, from, func(line []byte, offset, next int64) bool {
		t.end = next
		if line == nil || len(line) > 0 {
			t.add(line, offset, position)
		}
		position++
		return true
	})
	return t, err
}

func (t *tree) add(line []byte, offset int64, position int32) {
	if line == nil {
		t.large++
	}
	r, ok := parse(line)
	if !ok {
		t.skipped++
		return
	}
	if !r.isKnown() {
		t.skipped++
	}
	if r.is("last-prompt") && len(r.leaf) > 0 {
		t.touched[keyOf(r.leaf)] = position
		return
	}
	n := node{key: keyOf(r.uuid), offset: offset, parent: -1, latest: position}
	n.parentKey = keyOf(r.parent)
	if len(r.parent) == 0 {
		n.parentKey = keyOf(r.logical)
	}
	switch {
	case r.isMessage():
		n.flags |= told | message
		if r.isPrompt() {
			n.flags |= prompt
		}
	case r.isBoundary():
		n.flags |= told
	case n.key == key{}:
		return
	}
	if r.sidechain {
		n.flags |= side
	}
	if n.key != (key{}) {
		if _, ok := t.index[n.key]; ok {
			return // a copy within the file
		}
		t.index[n.key] = int32(len(t.nodes))
	}
	t.nodes = append(t.nodes, n)
}

// order links the records with their parents, and returns them with parents first and
// else as they stand in the file. A circle of parents is opened where it begins in
// the file.
func (t *tree) order() []int32 {
	ordered := true
	for i := range t.nodes {
		n := &t.nodes[i]
		if p, ok := t.index[n.parentKey]; ok && n.parentKey != (key{}) && int(p) != i {
			n.parent = p
			ordered = ordered && int(p) < i
		}
	}
	all := make([]int32, 0, len(t.nodes))
	if ordered {
		for i := range t.nodes {
			all = append(all, int32(i))
		}
		return all
	}
	first := make([]int32, len(t.nodes)) // child
	next := make([]int32, len(t.nodes))  // sibling
	for i := range first {
		first[i] = -1
	}
	var ready indexes
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if p := t.nodes[i].parent; p >= 0 {
			next[i], first[p] = first[p], int32(i)
		} else {
			ready = append(ready, int32(i))
		}
	}
	heap.Init(&ready)
	done := make([]bool, len(t.nodes))
	for from := 0; len(all) < len(t.nodes); {
		if len(ready) == 0 {
			for done[from] {
				from++
			}
			t.nodes[from].parent = -1
			ready = append(ready, int32(from))
		}
		i := heap.Pop(&ready).(int32)
		if done[i] {
			continue
		}
		done[i] = true
		all = append(all, i)
		for c := first[i]; c >= 0; c = next[c] {
			if !done[c] {
				heap.Push(&ready, c)
			}
		}
	}
	return all
}

// indexes is a heap of indexes, the smallest first.
type indexes []int32

func (x indexes) Len() int           { return len(x) }
func (x indexes) Less(i, j int) bool { return x[i] < x[j] }
func (x indexes) Swap(i, j int)      { x[i], x[j] = x[j], x[i] }
func (x *indexes) Push(v any)        { *x = append(*x, v.(int32)) }
func (x *indexes) Pop() any {
	last := (*x)[len(*x)-1]
	*x = (*x)[:len(*x)-1]
	return last
}

// abandon marks what belongs to a branch that its user went back from: of two prompts
// behind the same message, that is the one about which, and about what followed
// from it, nothing was recorded any more.
func (t *tree) abandon(order []int32) {
	for k, position := range t.touched {
		if i, ok := t.index[k]; ok {
			t.nodes[i].latest = max(t.nodes[i].latest, position)
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		n := &t.nodes[order[i]]
		if n.parent >= 0 {
			p := &t.nodes[n.parent]
			p.latest = max(p.latest, n.latest)
		}
	}
	behind := make([]int32, len(t.nodes)) // which message; -1 for none
	live := map[int32]int32{}             // the prompt behind a message
	for _, i := range order {
		n := &t.nodes[i]
		behind[i] = -1
		if n.parent >= 0 {
			if behind[i] = n.parent; t.nodes[n.parent].flags&message == 0 {
				behind[i] = behind[n.parent]
			}
		}
		if n.flags&prompt == 0 || n.flags&side != 0 || behind[i] < 0 {
			continue
		}
		other, ok := live[behind[i]]
		switch {
		case !ok:
			live[behind[i]] = i
		case t.nodes[other].latest < n.latest:
			t.nodes[other].flags |= dead
			live[behind[i]] = i
		default:
			n.flags |= dead
		}
	}
	for _, i := range order {
		if p := t.nodes[i].parent; p >= 0 {
			t.nodes[i].flags |= t.nodes[p].flags & dead
		}
	}
}

// plan returns the plan of the main conversation, or that of the side chain that
// begins with the record of a key. all stands for side chains too, which are the
// conversation in the file of a sub-agent. Records in shared are marked as copied.
func (t *tree) plan(chain key, all bool, shared map[key]bool) plan {
	order := t.order()
	t.abandon(order)
	p := plan{skipped: t.skipped, large: t.large}
	for _, i := range order {
		n := &t.nodes[i]
		if chain != (key{}) && (n.key == chain || n.parent >= 0 && t.nodes[n.parent].flags&mine != 0) && n.flags&side != 0 {
			n.flags |= mine
		}
		wanted := n.flags&side == 0 || all
		if chain != (key{}) {
			wanted = n.flags&mine != 0
		}
		if n.flags&told != 0 && n.flags&dead == 0 && wanted {
			p.records = append(p.records, planned{offset: n.offset, copied: shared[n.key]})
		}
	}
	return p
}

// chains returns the records with which side chains begin.
func (t *tree) chains() []*node {
	var roots []*node
	t.order()
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.flags&side != 0 && n.flags&message != 0 && (n.parent < 0 || t.nodes[n.parent].flags&side == 0) && n.key != (key{}) {
			roots = append(roots, n)
		}
	}
	return roots
}
