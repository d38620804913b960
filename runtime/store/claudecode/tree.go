package claudecode

import (
	"bytes"
	"context"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// decode adds the events of the transcript to a recorder, without those of abandoned branches.
func (e *entry) decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	to.Agent, to.Inquiry = e.agent != "", inquiry
	t, err := e.readTree(ctx, root, to)
	if err != nil {
		return err
	}
	order := t.order()
	t.markAbandoned(order)
	for _, n := range order {
		if n.dead {
			continue
		}
		to.Totals.Skipped += n.unknown
		for _, x := range n.events {
			to.Copied = !x.Time.IsZero() && x.Time.Before(e.Own) // a fork's copies are older than its first own message
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
		position++
		r, ok := jsontext.Parse[record](line)
		if ok {
			t.addRecord(e, &r, position)
		}
		return ok && r.isKnown()
	})
	return t, err
}

// events returns the events of a record, and the number of its blocks of unknown types. Versions before 2.0 recorded
// sub-agents in the file of their session, as side chains: the assistant wrote the requests in them.
func (e *entry) events(r *record) (all []transcript.Event, unknown int) {
	all, unknown = r.events()
	for i := range all {
		if e.agent == "" && r.Sidechain && all[i].Kind == transcript.KindUser {
			all[i].Kind = transcript.KindAssistant
		}
	}
	return all, unknown
}

// addRecord adds a record of the transcript e to the tree. The position is the number of its line. A record of the type
// last-prompt is not added: it names a record of the live branch, for which addRecord notes the position.
func (t *tree) addRecord(e *entry, r *record, position int) {
	if r.Type == "last-prompt" && r.Leaf != 0 {
		t.touched[r.Leaf] = position
		return
	}
	n := &node{key: r.Key, parentKey: r.Parent, latest: position, message: r.isMessage()}
	if n.parentKey == 0 { // a compaction has only a logical parent
		n.parentKey = r.Logical
	}
	hasKey := n.key != 0
	isNode := hasKey || n.message || r.isBoundary() // a title, for example, is no node
	if isCopy := t.index[n.key] != nil; isCopy || !isNode {
		return
	}
	if hasKey {
		t.index[n.key] = n
	}
	n.events, n.unknown = e.events(r)
	for i := range n.events {
		x := &n.events[i]
		x.Text, x.Arguments = bytes.Clone(x.Text), bytes.Clone(x.Arguments) // they may be parts of the line
		n.prompt = x.Kind == transcript.KindUser && !r.Sidechain            // a prompt is the only event of its record
	}
	t.nodes = append(t.nodes, n)
}

// order sets the parent of each record, and returns the records in the order of the file, except that each parent comes
// before its children. In a damaged file parents can form a circle, which order breaks by removing a parent.
func (t *tree) order() []*node {
	all := make([]*node, 0, len(t.nodes))
	for _, n := range t.nodes {
		begin := len(all)
		for n != nil && !n.placed { // add n, its parent, the parent of that, and so on
			n.placed = true
			all = append(all, n)
			if parent := t.index[n.parentKey]; parent != n { // a damaged record can name itself
				n.parent = parent
			}
			n = n.parent
		}
		if added := all[begin:]; slices.Contains(added, n) { // a circle: the parents lead back to n
			added[0].parent = nil
			for _, m := range added[1:] {
				m.placed = false // only added[0] is added now; the loop comes to m later
			}
			all = all[:begin+1]
		}
		slices.Reverse(all[begin:]) // parents first
	}
	return all
}

// markAbandoned marks the records of branches that the user abandoned as dead. A branch is a prompt and the records
// below the prompt. Of several branches after the same message, only the branch with the last line of the file is live.
// A line that names a record as the live one belongs to the record's branch. order has parents before their children.
func (t *tree) markAbandoned(order []*node) {
	for k, position := range t.touched { // the lines that name a record
		if n := t.index[k]; n != nil {
			n.latest = max(n.latest, position)
		}
	}
	for _, n := range slices.Backward(order) {
		if n.parent != nil {
			n.parent.latest = max(n.parent.latest, n.latest)
		}
	}
	live := map[*node]*node{} // for each message, the prompt after it whose branch has the last line so far
	for _, n := range order {
		if n.parent != nil { // after is the nearest message above n
			n.after = n.parent.after
			if n.parent.message {
				n.after = n.parent
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
