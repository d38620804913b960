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
	var rows []conversations.Listed
	var places []treePlace
	var grow func(int, treePlace)
	grow = func(i int, at treePlace) {
		below := children[i]
		if len(below) == 0 {
			at.unshown = unshown[i]
		}
		rows, places = append(rows, all[i]), append(places, at)
		way := at.last[max(len(at.last)-maxIndent+1, 0):]
		for k, child := range below {
			grow(child, treePlace{depth: at.depth + 1, last: append(slices.Clone(way), k == len(below)-1)})
		}
	}
	for _, top := range tops {
		grow(top, treePlace{})
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
func (c *commands) writeTree(out *results, listing *conversations.Listing, places []treePlace, links links, full bool) error {
	rows := make([][]string, len(places))
	events, active := 0, 0 // their widths
	for i := range places {
		l := &listing.Conversations[i]
		rows[i] = []string{"", eventsCell(l), c.when(l.ActiveAt(), full)}
		events, active = max(events, len(rows[i][1])), max(active, text.Width(rows[i][2]))
	}
	width := c.room(out, full, events+active+4)
	for i := range places {
		l, p := &listing.Conversations[i], &places[i]
		name, unshown := p.lines()+string(l.ID)+"  ", ""
		switch {
		case l.Hidden:
			name += "(hidden) "
		case p.depth > 0:
			name += "[fork] "
		}
		if p.unshown > 0 {
			unshown = fmt.Sprintf(" (+%d hidden)", p.unshown)
		}
		name = strings.TrimRight(name+text.Cell(l.Title), " ")
		rows[i][0] = text.Truncate(name, width-len(unshown)) + unshown
	}
	for i, line := range align(rows, 1) {
		l := &listing.Conversations[i]
		line = strings.Replace(strings.TrimRight(line, " "), string(l.ID), links.id(l.ID), 1)
		if l.Hidden {
			line = out.format.style(styleDim, line)
		}
		out.write([]byte(line + "\n"))
	}
	return out.close()
}
