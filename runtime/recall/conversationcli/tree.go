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

// tree puts conversations in the order of a tree, in which siblings keep theirs, and leaves
// those away that are hidden, which are counted. A conversation whose parent is hidden is below
// the nearest one above that is not, or at the top. Of conversations that are each other's
// parents the one listed first is at the top. offset and limit are for those at the top, which
// are counted too; a limit of 0 is none.
func tree(all []conversations.Listed, isHidden func(*conversations.Listed) bool, offset, limit int) (places []treePlace, tops, hidden int) {
	shown := map[transcript.ID]bool{}
	for i := range all {
		if isHidden(&all[i]) {
			hidden++
		} else {
			shown[all[i].ID] = true
		}
	}
	parents, children := parentsOf(all), map[transcript.ID][]*conversations.Listed{}
	for i := range all {
		if l := &all[i]; shown[l.ID] {
			parent := above(l.ID, parents, shown)
			children[parent] = append(children[parent], l)
		}
	}
	grown := map[transcript.ID]bool{}
	add := func(l *conversations.Listed) {
		branch := grow(l, children, grown)
		if tops++; tops > offset && (limit == 0 || tops <= offset+limit) {
			places = append(places, branch...)
		}
	}
	for _, l := range children[""] {
		add(l)
	}
	for i := range all {
		if id := all[i].ID; shown[id] && !grown[id] {
			add(&all[i])
		}
	}
	return places, tops, hidden
}

// maxIndent bounds how many levels of a tree are drawn.
const maxIndent = 30

// grow is a conversation with what is below it, as far as that has no place yet.
func grow(top *conversations.Listed, children map[transcript.ID][]*conversations.Listed, grown map[transcript.ID]bool) []treePlace {
	var places []treePlace
	var add func(l *conversations.Listed, depth int, lead, below string)
	add = func(l *conversations.Listed, depth int, lead, below string) {
		if grown[l.ID] {
			return
		}
		grown[l.ID] = true
		places = append(places, treePlace{Listed: l, depth: depth, lead: lead})
		if depth >= maxIndent {
			below = "… "
		}
		list := children[l.ID]
		for i, child := range list {
			if i == len(list)-1 {
				add(child, depth+1, below+"└── ", below+"    ")
			} else {
				add(child, depth+1, below+"├── ", below+"│   ")
			}
		}
	}
	add(top, 0, "", "")
	return places
}
