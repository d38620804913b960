package near

// Edits returns the optimal string alignment distance of two strings in
// characters: insertions, deletions, replacements and swaps of neighbours count
// one each. It is false, sooner than the distance is known, when that is more
// than limit.
func Edits(a, b string, limit int) (int, bool) {
	// What is compared is mostly a name, which fits here without an allocation.
	const usual = 64
	var aBuffer, bBuffer [usual]rune
	from, to := appendRunes(aBuffer[:0], a), appendRunes(bBuffer[:0], b)
	if len(from)-len(to) > limit || len(to)-len(from) > limit {
		return 0, false
	}
	var rows [3][usual + 1]int
	before, previous, current := rows[0][:], rows[1][:], rows[2][:]
	if len(to) > usual {
		before, previous, current = make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	}
	for j := range previous[:len(to)+1] {
		previous[j] = j
	}
	leastBefore := 0
	for i := 1; i <= len(from); i++ {
		// Cells further than the limit from the diagonal hold more than the limit.
		first, last := max(1, i-limit), min(len(to), i+limit)
		current[first-1] = limit + 1
		if first == 1 {
			current[0] = i
		}
		if last < len(to) {
			current[last+1] = limit + 1 // read by the next row, which reaches further
		}
		least := current[first-1]
		for j := first; j <= last; j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			cell := min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				cell = min(cell, before[j-2]+1)
			}
			current[j] = cell
			least = min(least, cell)
		}
		// A swap takes a row from the one before the last.
		if min(least, leastBefore) > limit {
			return 0, false
		}
		before, previous, current, leastBefore = previous, current, before, least
	}
	edits := previous[len(to)]
	return edits, edits <= limit
}

func appendRunes(runes []rune, s string) []rune {
	for _, r := range s {
		runes = append(runes, r)
	}
	return runes
}
