package conversationcli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// treePlace is the place of a conversation in a tree.
type treePlace struct {
	depth   int
	last    []bool // of the last maxIndent ones on the way down to it, and of itself: whether it is the last child
	unshown int    // hidden children, where it has no other ones
}

// growTree puts a listing in the order of a tree, in which siblings keep theirs,
// and leaves those away that are hidden, unless hidden is set. A conversation
// whose parent is not shown stands below the nearest one above that is, or at the
// top. Of conversations that are each other's parents the one listed first stands
// at the top. limit and offset are for those at the top; a limit of 0 is none.
func growTree(listing *conversations.Listing, hidden bool, offset, limit int) []treePlace {
	all := listing.Conversations
	shown := func(i int) bool { return hidden || !all[i].Hidden }
	at := make(map[transcript.ID]int, len(all))
	for i := range all {
		at[all[i].ID] = i
	}
	parents := make([]int, len(all)) // -1 for none
	unshown := make([]int, len(all)) // hidden children
	for i := range all {
		parent, ok := at[all[i].Parent]
		if !ok {
			parent = -1
		}
		if parents[i] = parent; !shown(i) {
			listing.Aside.Hidden++
			if ok {
				unshown[parent]++
			}
		}
	}
	cutCircles(parents, shown)
	children := make([][]int, len(all))
	var tops []int
	for i := range all {
		if !shown(i) {
			continue
		}
		above := parents[i]
		for above >= 0 && !shown(above) {
			if next := parents[above]; next >= 0 && !shown(next) {
				parents[above] = parents[next] // half the way, for the next that comes by
			}
			above = parents[above]
		}
		if above < 0 {
			tops = append(tops, i)
		} else {
			children[above] = append(children[above], i)
		}
	}
	listing.Total = len(tops)
	tops = tops[min(offset, len(tops)):]
	if limit > 0 {
		tops = tops[:min(limit, len(tops))]
	}
	type branch struct {
		i int
		treePlace
	}
	var stack []branch // of its own: nothing bounds how deep a tree is
	for _, top := range slices.Backward(tops) {
		stack = append(stack, branch{i: top})
	}
	var rows []conversations.Listed
	var places []treePlace
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below := children[b.i]
		if len(below) == 0 {
			b.unshown = unshown[b.i]
		}
		rows, places = append(rows, all[b.i]), append(places, b.treePlace)
		way := b.last[max(len(b.last)-maxIndent+1, 0):]
		for k, child := range slices.Backward(below) {
			stack = append(stack, branch{child, treePlace{depth: b.depth + 1, last: append(slices.Clone(way), k == len(below)-1)}})
		}
	}
	listing.Conversations = rows
	return places
}

// cutCircles makes a top of the first one of each circle that is shown, or where none is
// of any of them. Each is looked at once or twice, however deep they are.
func cutCircles(parents []int, shown func(int) bool) {
	passed := make([]int, len(parents)) // by which walk, from 1
	for i := range parents {
		on := i
		for ; on >= 0 && passed[on] == 0; on = parents[on] {
			passed[on] = i + 1
		}
		if on < 0 || passed[on] != i+1 {
			continue
		}
		top := on
		for k := parents[on]; k != on; k = parents[k] {
			if shown(k) && (!shown(top) || k < top) {
				top = k
			}
		}
		parents[top] = -1
	}
}

// maxIndent bounds how many levels of a tree are drawn.
const maxIndent = 30

// lines are the lines that lead to a conversation.
func (p *treePlace) lines() string {
	var b strings.Builder
	if p.depth > len(p.last) {
		b.WriteString("… ")
	}
	for i, last := range p.last {
		switch end := i == len(p.last)-1; {
		case end && last:
			b.WriteString("└── ")
		case end:
			b.WriteString("├── ")
		case last:
			b.WriteString("    ")
		default:
			b.WriteString("│   ")
		}
	}
	return b.String()
}

// writeTree writes a tree for people.
func (c *commands) writeTree(out output, f format, listing *conversations.Listing, places []treePlace, links links, full bool) error {
	type row struct{ name, unshown, events, active string }
	rows := make([]row, len(places))
	var widest row
	nameWidth := 0
	for i := range places {
		l, p := &listing.Conversations[i], &places[i]
		r := row{name: string(l.ID), events: eventsCell(l), active: c.when(l.ActiveAt(), full)}
		r.name = p.lines() + r.name + "  "
		switch {
		case l.Hidden:
			r.name += "(hidden) "
		case p.depth > 0:
			r.name += "[fork] "
		}
		r.name = strings.TrimRight(r.name+text.Cell(l.Title), " ")
		if p.unshown > 0 {
			r.unshown = fmt.Sprintf(" (+%d hidden)", p.unshown)
		}
		if len(r.events) > len(widest.events) {
			widest.events = r.events
		}
		if text.Width(r.active) > text.Width(widest.active) {
			widest.active = r.active
		}
		nameWidth = max(nameWidth, text.Width(r.name+r.unshown))
		rows[i] = r
	}
	limit := maxTitleWidth
	switch {
	case full:
		limit = nameWidth
	case f.pretty && c.host.Terminal && c.host.Width > 0:
		limit = max(c.host.Width-len(widest.events)-text.Width(widest.active)-4, minTitleWidth)
	}
	nameWidth = min(nameWidth, limit)
	for i, r := range rows {
		name := text.Truncate(r.name, nameWidth-len(r.unshown)) + r.unshown
		line := name + strings.Repeat(" ", max(nameWidth-text.Width(name), 0)) +
			"  " + strings.Repeat(" ", len(widest.events)-len(r.events)) + r.events + "  " + r.active
		id := listing.Conversations[i].ID
		line = strings.Replace(line, string(id), links.id(id), 1)
		if f.colour && listing.Conversations[i].Hidden {
			line = styleDim + line + styleReset
		}
		if err := out.write([]byte(line + "\n")); err != nil {
			return err
		}
	}
	return out.flush()
}
