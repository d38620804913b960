package near

// Edits returns the optimal string alignment distance of two strings in characters: insertions, deletions,
// replacements and swaps of neighbours count one each. It reports whether the distance is at most limit.
func Edits(a, b string, limit int) (int, bool) {
	from, to := []rune(a), []rune(b)
	if len(from)-len(to) > limit || len(to)-len(from) > limit {
		return 0, false
	}
	before, previous, current := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(from); i++ {
		current[0] = i
		for j := 1; j <= len(to); j++ {
			current[j] = min(previous[j], current[j-1], previous[j-1]) + 1
			if from[i-1] == to[j-1] {
				current[j] = previous[j-1]
			}
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	edits := previous[len(to)]
	return edits, edits <= limit
}
