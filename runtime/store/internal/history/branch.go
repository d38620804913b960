package history

import "slices"

// Branch is the records of a log in which each names the record before it. When a user goes back to an earlier
// record, the next one names that, and the records between the two stay in the log, in a branch that is dead.
type Branch[R any] struct {
	records []R
	before  []int          // the place of the record before each; -1 if there is none
	places  map[string]int // by their ids
}

// Add adds the next record of the log. A record with an id follows its parent, or begins a branch if parent is "". A
// record without an id follows the previous record of the log, as does a record with an unknown parent. Add ignores a
// record with the id of an earlier record.
func (b *Branch[R]) Add(id, parent string, record R) {
	place := len(b.records)
	before := place - 1 // the place of the record that the new record follows; -1 if it begins a branch
	if _, known := b.places[id]; known {
		return
	}
	if id != "" {
		if parentPlace, known := b.places[parent]; known {
			before = parentPlace
		} else if parent == "" {
			before = -1
		}
		if b.places == nil {
			b.places = map[string]int{}
		}
		b.places[id] = place
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
