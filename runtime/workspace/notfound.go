package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/convtools/convtools/runtime/transcript"
)

// NotFoundError says that no conversation has an id.
type NotFoundError struct {
	ID      transcript.ID
	Nearest []transcript.ID // at most three that are spelled most alike, best first
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("conversation %s not found", e.ID) }

// notFound makes the error for an id that is not among places. A store that
// could not be read may hold it; the error says so.
func notFound(id transcript.ID, places []place, unread []Skipped) error {
	err := &NotFoundError{ID: id, Nearest: nearest(id, places)}
	for _, s := range unread {
		if s.ID == 0 {
			return fmt.Errorf("%w (%s: %s)", err, s.Path, s.Reason)
		}
	}
	return err
}

// nearest returns the ids that take the fewest typing mistakes to get to, and
// among those the ones created closest in time.
func nearest(id transcript.ID, places []place) []transcript.ID {
	const most = 3
	type candidate struct {
		id       transcript.ID
		typos    int
		distance uint64
	}
	want := strconv.FormatInt(int64(id), 10)
	candidates := make([]candidate, len(places))
	for i, p := range places {
		candidates[i] = candidate{
			id:       p.id,
			typos:    editDistance(want, strconv.FormatInt(int64(p.id), 10)),
			distance: uint64(max(id, p.id) - min(id, p.id)),
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id))
	})
	var ids []transcript.ID
	for _, c := range candidates[:min(most, len(candidates))] {
		ids = append(ids, c.id)
	}
	return ids
}

// maxDigits is the length of the largest int64.
const maxDigits = 19

// editDistance returns how many digits must be inserted, removed or replaced to
// get from a to b (Levenshtein). Both are the digits of an id.
func editDistance(a, b string) int {
	var row [maxDigits + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
