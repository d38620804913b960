package conversationcli

import (
	"context"
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

// growTree puts a listing in the order of a tree, in which siblings keep theirs, and
// leaves those away that are hidden, unless hidden is set. A conversation whose parent
// is not shown is below the nearest one above that is, or at the top. Of conversations
// that are each other's parents the one listed first is at the top. limit and offset are
// for those at the top; a limit of 0 is none.
func growTree(listing *conversations.Listing, hidden bool, offset, limit int) []treePlace {
	all := listing.Conversations
	const top = -1
	shown := func(i int) bool { return i == top || hidden || !all[i].Hidden }
	at := map[transcript.ID]int{}
	for i := range all {
		at[all[i].ID] = i
	}
	parents := make([]int, len(all))
	for i := range all {
		parents[i] = top
		if parent, ok := at[all[i].Parent]; ok {
			parents[i] = parent
		}
	}
	children, unshown := map[int][]int{}, map[int]int{}
	for i := range all {
		if !shown(i) {
			listing.Aside.Hidden++
			unshown[parents[i]]++
		}
	}
	cutCircles(parents, shown)
	for i := range all {
		above := parents[i]
		for !shown(above) {
			above = parents[above]
		}
		if shown(i) {
			children[above] = append(children[above], i)
		}
	}
	tops := children[top]
	listing.Total = len(tops)
	tops = tops[min(offset, len(tops)):]
	if limit > 0 {
		tops = tops[:min(limit, len(tops))]
	}
	listing.Conversations = nil
	var places []treePlace
	var grow func(int, treePlace)
	grow = func(i int, place treePlace) {
		below := children[i]
		if len(below) == 0 {
			place.unshown = unshown[i]
		}
		listing.Conversations, places = append(listing.Conversations, all[i]), append(places, place)
		way := place.last[max(len(place.last)-maxIndent+1, 0):]
		for k, child := range below {
			grow(child, treePlace{depth: place.depth + 1, last: append(slices.Clone(way), k == len(below)-1)})
		}
	}
	for _, i := range tops {
		grow(i, treePlace{})
	}
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
	if len(p.last) == 0 {
		return ""
	}
	var b strings.Builder
	if p.depth > len(p.last) {
		b.WriteString("… ")
	}
	end := len(p.last) - 1
	for _, last := range p.last[:end] {
		b.WriteString(map[bool]string{true: "    ", false: "│   "}[last])
	}
	b.WriteString(map[bool]string{true: "└── ", false: "├── "}[p.last[end]])
	return b.String()
}

// treeLines are the lines of a tree for people.
func (c *commands) treeLines(ctx context.Context, list []conversations.Listed, places []treePlace, full bool) []string {
	rows := make([][]string, len(list))
	for i := range list {
		rows[i] = []string{eventsCell(&list[i]), c.when(list[i].ActiveAt(), full)}
	}
	width := c.room(full, text.Width(align(rows, 0)[0]))
	for i := range list {
		l, p := &list[i], &places[i]
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
		rows[i] = append([]string{text.Truncate(name, width-len(unshown)) + unshown}, rows[i]...)
	}
	lines := align(rows, 1)
	for i, line := range lines {
		l := &list[i]
		line = strings.Replace(strings.TrimRight(line, " "), string(l.ID), c.linked(ctx, l.ID), 1)
		if l.Hidden {
			line = c.out.format.style(styleDim, line)
		}
		lines[i] = line + "\n"
	}
	return lines
}
