package diag

import (
	"strings"
)

// maxNearestName is the longest name, in bytes, for which a suggestion is looked for: the search takes time in the
// product of two lengths, and nobody mistypes a name longer than this.
const maxNearestName = 128

// Nearest returns the allowed name that name was most likely meant to be, for a "did you mean" hint. Case is ignored.
// It allows one mistake for every three characters, three at most, where a mistake is a character too many, too few,
// wrong, or swapped with its neighbour. Of equally near names the one that sorts first is returned, whatever the
// order of allowed. It returns false when no name is near enough to suggest.
func Nearest(name string, allowed []string) (string, bool) {
	if name == "" || len(name) > maxNearestName {
		return "", false
	}
	folded := []rune(strings.ToLower(name))
	best, bestDistance := "", min(max(len(folded)/3, 1), 3)+1
	for _, candidate := range allowed {
		if candidate == name {
			return candidate, true
		}
		if candidate == "" || len(candidate) > maxNearestName {
			continue
		}
		other := []rune(strings.ToLower(candidate))
		d := distance(folded, other)
		if d >= max(len(folded), len(other)) {
			continue // nothing in common: "x" is not a slip for "y"
		}
		if d < bestDistance || d == bestDistance && best != "" && candidate < best {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// distance is the Damerau-Levenshtein distance in its optimal string alignment form: the least number of insertions,
// deletions, substitutions and swaps of neighbours that turn a into b, no part being edited twice.
func distance(a, b []rune) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range current {
		current[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, previous, current = previous, current, before
		current[0] = i
		for j := 1; j <= len(b); j++ {
			substitution := previous[j-1]
			if a[i-1] != b[j-1] {
				substitution++
			}
			current[j] = min(previous[j]+1, current[j-1]+1, substitution)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
	}
	return current[len(b)]
}
