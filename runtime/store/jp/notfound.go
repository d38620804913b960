package jp

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// nearest returns the ids that take the fewest typing mistakes to get to, and
// among those the ones created closest in time.
func nearest(want number, places []place) []transcript.ID {
	const most = 3
	const maxDigits = 19 // of the largest number, so that no distance is over the limit
	type candidate struct {
		number
		typos    int
		distance uint64
	}
	text := strconv.FormatInt(int64(want), 10)
	candidates := make([]candidate, len(places))
	for i, p := range places {
		typos, _ := near.Edits(text, strconv.FormatInt(int64(p.number), 10), maxDigits)
		candidates[i] = candidate{
			number:   p.number,
			typos:    typos,
			distance: uint64(max(want, p.number) - min(want, p.number)),
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), cmp.Compare(a.distance, b.distance), cmp.Compare(a.number, b.number))
	})
	var ids []transcript.ID
	for _, c := range candidates[:min(most, len(candidates))] {
		ids = append(ids, c.id())
	}
	return ids
}

func (s *session) notFound(want number, places []place, unread []store.Problem) error {
	err := &store.NotFoundError{IDs: []transcript.ID{want.id()}, Nearest: nearest(want, places), Place: s.w.root}
	for _, p := range unread {
		if p.ID == "" { // a store, which may hold the conversation
			err.Unread = append(err.Unread, p)
		}
	}
	return err
}
