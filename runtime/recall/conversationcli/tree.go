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
	*conversations.Listed
	parent  transcript.ID // above it in the tree; empty at the top
	depth   int
	way     []string // what is drawn before it: of the last maxIndent levels
	unshown int      // hidden children, where it has no other ones
}

// tree puts conversations in the order of a tree, in which siblings keep theirs, and
// leaves those away that are hidden, which are counted. A conversation whose parent is
// hidden is below the nearest one above that is not, or at the top. Of conversations that
// are each other's parents the one listed first is at the top. offset and limit are for
// those at the top, which are counted too; a limit of 0 is none.
func tree(all []conversations.Listed, isHidden func(*conversations.Listed) bool, offset, limit int) (places []treePlace, tops, hidden int) {
	const top = -1
	shown := func(i int) bool { return i == top || !isHidden(&all[i]) }
	at := map[transcript.ID]int{}
	for i := range all {
		at[all[i].ID] = i
	}
	parents := make([]int, len(all))
	children, unshown := map[int][]int{}, map[int]int{}
	for i := range all {
		parents[i] = top
		if parent, ok := at[all[i].Parent]; ok {
			parents[i] = parent
		}
		if !shown(i) {
			hidden++
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
	tops = len(children[top])
	children[top] = children[top][min(offset, tops):]
	if limit > 0 {
		children[top] = children[top][:min(limit, len(children[top]))]
	}
	var grow func(above int, place treePlace)
	grow = func(above int, place treePlace) {
		for k, i := range children[above] {
			place.Listed, place.unshown = &all[i], 0
			if len(children[i]) == 0 {
				place.unshown = unshown[i]
			}
			if above == top {
				places = append(places, place)
				grow(i, treePlace{parent: all[i].ID, depth: 1})
				continue
			}
			branch, below := "├── ", "│   "
			if k == len(children[above])-1 {
				branch, below = "└── ", "    "
			}
			at, way := place, append(slices.Clone(place.way), below)
			at.way = append(slices.Clone(place.way), branch)
			places = append(places, at)
			grow(i, treePlace{parent: all[i].ID, depth: place.depth + 1, way: way[max(len(way)-maxIndent+1, 0):]})
		}
	}
	grow(top, treePlace{})
	return places, tops, hidden
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
	drawn := strings.Join(p.way, "")
	if p.depth > maxIndent {
		drawn = "… " + drawn
	}
	return drawn
}

// treeLines are the lines of a tree for people.
func (c *commands) treeLines(ctx context.Context, places []treePlace, full bool) []string {
	rows := make([][]string, len(places))
	for i, p := range places {
		rows[i] = []string{eventsCell(p.Listed), c.when(p.ActiveAt(), full)}
	}
	width := c.room(full, text.Width(align(rows, 0)[0]))
	for i, p := range places {
		name, unshown := p.lines()+string(p.ID)+"  ", ""
		switch {
		case p.Hidden:
			name += "(hidden) "
		case p.depth > 0:
			name += "[fork] "
		}
		if p.unshown > 0 {
			unshown = fmt.Sprintf(" (+%d hidden)", p.unshown)
		}
		name = strings.TrimRight(name+text.Cell(p.Title), " ")
		rows[i] = append([]string{text.Truncate(name, width-len(unshown)) + unshown}, rows[i]...)
	}
	lines := align(rows, 1)
	for i, p := range places {
		line := strings.Replace(strings.TrimRight(lines[i], " "), string(p.ID), c.linked(ctx, p.ID), 1)
		if p.Hidden {
			line = c.out.format.style(styleDim, line)
		}
		lines[i] = line + "\n"
	}
	return lines
}
