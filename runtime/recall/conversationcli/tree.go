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
	at := make(map[transcript.ID]int, len(all))
	for i := range all {
		at[all[i].ID] = i
	}
	shown := func(i int) bool { return hidden || !all[i].Hidden }
	parentOf := func(i int) int {
		if k, ok := at[all[i].Parent]; ok {
			return k
		}
		return -1
	}
	g := grower{all: all, children: make([][]int, len(all)), seen: make([]bool, len(all)), unshown: make([]int, len(all))}
	above := shownAbove(len(all), parentOf, shown)
	var tops []int
	for i := range all {
		if !shown(i) {
			listing.Aside.Hidden++
			if p := parentOf(i); p >= 0 {
				g.unshown[p]++
			}
			continue
		}
		if p := above[i]; p >= 0 {
			g.children[p] = append(g.children[p], i)
		} else {
			tops = append(tops, i)
		}
	}
	below := make([]bool, len(all)) // below one of the tops
	mark := func(top int) {
		for stack := []int{top}; len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !below[i] {
				below[i] = true
				stack = append(stack, g.children[i]...)
			}
		}
	}
	for _, top := range tops {
		mark(top)
	}
	for i := range all {
		if !shown(i) || below[i] {
			continue
		}
		// It is on a circle, or below one: the first of the circle is a top.
		met := map[int]bool{}
		on := i
		for ; !met[on]; on = above[on] {
			met[on] = true
		}
		first := on
		for k := above[on]; k != on; k = above[k] {
			first = min(first, k)
		}
		tops = append(tops, first)
		mark(first)
	}
	slices.Sort(tops)
	listing.Total = len(tops)
	tops = tops[min(offset, len(tops)):]
	if limit > 0 {
		tops = tops[:min(limit, len(tops))]
	}
	for _, top := range tops {
		g.grow(top)
	}
	listing.Conversations = g.rows
	return g.places
}

// shownAbove returns for each of n conversations the nearest one above it that is
// shown; -1 for none. Each is looked at once, however deep they are.
func shownAbove(n int, parentOf func(int) int, shown func(int) bool) []int {
	const unknown, underWay = -2, -3
	above := make([]int, n)
	for i := range above {
		above[i] = unknown
	}
	for i := range n {
		var path []int
		found := -1
		for k := i; ; {
			if above[k] == underWay {
				break // a circle of hidden ones
			}
			if above[k] != unknown {
				found = above[k]
				break
			}
			above[k] = underWay
			path = append(path, k)
			p := parentOf(k)
			if p < 0 || shown(p) {
				found = p
				break
			}
			k = p
		}
		for _, k := range path {
			above[k] = found
		}
	}
	return above
}

// grower puts conversations in the order of a tree.
type grower struct {
	all      []conversations.Listed
	children [][]int
	unshown  []int
	seen     []bool
	rows     []conversations.Listed
	places   []treePlace
}

// grow adds a conversation and those below it. It keeps its own stack: nothing
// bounds how deep a tree is.
func (g *grower) grow(top int) {
	type branch struct {
		i, depth int
		last     []bool
	}
	stack := []branch{{i: top}}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g.seen[b.i] {
			continue
		}
		g.seen[b.i] = true
		place := treePlace{depth: b.depth, last: b.last}
		if len(g.children[b.i]) == 0 {
			place.unshown = g.unshown[b.i]
		}
		g.rows, g.places = append(g.rows, g.all[b.i]), append(g.places, place)
		children := g.children[b.i]
		way := b.last[max(len(b.last)-maxIndent+1, 0):]
		for k := len(children) - 1; k >= 0; k-- {
			stack = append(stack, branch{children[k], b.depth + 1, append(slices.Clone(way), k == len(children)-1)})
		}
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
