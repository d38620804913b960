package store

import (
	"cmp"
	"slices"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/transcript"
)

// Nearest returns up to three ids of conversations with the spelling most similar to an id, best first.
func Nearest(want transcript.ID, all []Conversation) []transcript.ID {
	const most, mostTypos = 3, 19 // the number in an id of JP has up to 19 digits
	var found []transcript.ID
	typos := map[transcript.ID]int{}
	for i := range all {
		if n, alike := near.Edits(string(want), string(all[i].ID), mostTypos); alike {
			typos[all[i].ID] = n
			found = append(found, all[i].ID)
		}
	}
	slices.SortFunc(found, func(a, b transcript.ID) int {
		return cmp.Or(cmp.Compare(typos[a], typos[b]), a.Compare(b))
	})
	return found[:min(len(found), most)]
}
