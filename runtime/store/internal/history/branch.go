package history

import "slices"

// Branch is the records of a log in which each names the record before it. When a user goes back to an earlier
// record, the next one names that, and the records between the two stay in the log, in a branch that is dead.
type Branch[R any] struct {
	records []R
	before  []int          // the place of the record before each; -1 if there is none
	places  map[string]int // by their ids
}

// Add adds the next record of the log. A record with an id and no parent begins a branch. A record without an
// id, or whose parent is not in the log, comes after the record before it in the log. Of several records with
// the same id only the first is added.
func (b *Branch[R]) Add(id, parent string, record R) {
	place := len(b.records)
	before := place - 1 // the place of the record that this one comes after; -1 for none
	if _, known := b.places[id]; known {
		return
	}
	if id != "" {
		if b.places == nil {
			b.places = map[string]int{}
		}
		b.places[id] = place
		if parentPlace, known := b.places[parent]; known && parentPlace != place { // place: the record names itself
			before = parentPlace
		} else if parent == "" {
			before = -1
		}
	}
	b.records, b.before = append(b.records, record), append(b.before, before)
}

// Live returns the records of the branch that ends with the last record, in their order.
func (b *Branch[R]) Live() (live []R) {
	for i := len(b.records) - 1; i >= 0; i = b.before[i] {
		live = append(live, b.records[i])
	}
	slices.Reverse(live)
	return live
}
