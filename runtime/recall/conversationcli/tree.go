package conversationcli

import (
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// treePlace is the place of a conversation in a tree.
type treePlace struct {
	*conversations.Listed
	depth int
	lead  string // what is drawn before it
}

// parentsOf are what conversations were forked from, by id.
func parentsOf(all []conversations.Listed) map[transcript.ID]transcript.ID {
	parents := make(map[transcript.ID]transcript.ID, len(all))
	for i := range all {
		parents[all[i].ID] = all[i].Parent
	}
	return parents
}

// above is the nearest conversation above one that is wanted; empty where there is none.
func above(id transcript.ID, parents map[transcript.ID]transcript.ID, wanted map[transcript.ID]bool) transcript.ID {
	for range parents { // some may be each other's parents
		if id = parents[id]; id == "" || wanted[id] {
			return id
		}
	}
	return ""
}

// maxIndent bounds how many levels of a tree are drawn.
const maxIndent = 30

// tree puts conversations in the order of a tree, in which siblings keep theirs, and leaves
// those away that are hidden, which are counted. A conversation whose parent is hidden is below
// the nearest one above that is not, or at the top. Of conversations that are each other's
// parents the one listed first is at the top. offset and limit are for those at the top, which
// are counted too; a limit of 0 is none.
func tree(all []conversations.Listed, isHidden func(*conversations.Listed) bool, offset, limit int) (places []treePlace, tops, hidden int) {
	shown := map[transcript.ID]bool{}
	for i := range all {
		if shown[all[i].ID] = !isHidden(&all[i]); !shown[all[i].ID] {
			hidden++
		}
	}
	parents, children := parentsOf(all), map[transcript.ID][]*conversations.Listed{}
	for i := range all {
		if parent := above(all[i].ID, parents, shown); shown[all[i].ID] {
			children[parent] = append(children[parent], &all[i])
		}
	}
	top := children[""]
	for i := range all {
		top = append(top, &all[i]) // of a circle
	}
	for _, l := range top {
		if !shown[l.ID] { // it is hidden, or has its place
			continue
		}
		before := len(places)
		places = grow(places, l, children, shown, 0, "", "")
		if tops++; tops <= offset || limit > 0 && tops > offset+limit {
			places = places[:before]
		}
	}
	return places, tops, hidden
}

// grow adds a conversation and what is below it, as far as that is to be shown, which it is
// not again.
func grow(to []treePlace, l *conversations.Listed, children map[transcript.ID][]*conversations.Listed, shown map[transcript.ID]bool, depth int, lead, below string) []treePlace {
	if !shown[l.ID] {
		return to
	}
	shown[l.ID] = false
	to = append(to, treePlace{l, depth, lead})
	if depth >= maxIndent {
		below = "… "
	}
	for i, child := range children[l.ID] {
		branch, space := "├── ", "│   "
		if i == len(children[l.ID])-1 {
			branch, space = "└── ", "    "
		}
		to = grow(to, child, children, shown, depth+1, below+branch, below+space)
	}
	return to
}
