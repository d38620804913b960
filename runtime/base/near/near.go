// Package near finds the name that a misspelt one was probably meant to be, and the distance between two strings.
//
// It only compares: callers word the suggestions.
package near

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the greatest length of a name in bytes: the search takes time in the product of two lengths.
const maxName = 128

// Name returns the known name that is nearest to name, or "" if no known name is near. Of equally near names it returns
// the one that sorts first.
//
// Case, spaces, hyphens and underscores are ignored. Two names are near if at most a third of the longer name differs,
// or if they are two letters and the same letters swapped. A name of three letters or more is also near to a longer
// name that begins with it, if the shorter is at least half as long or ends where a word of the longer ends.
func Name(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	best, bestDistance := "", 0
	for _, k := range slices.Sorted(slices.Values(known)) {
		if k == name {
			return k
		}
		if len(k) > maxName {
			continue
		}
		d, isNear := distance(name, k)
		if isNear && (best == "" || d < bestDistance) {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance returns the number of edits between two names, and whether the names are near, as [Name] says. Names that
// are near because of swapped letters or a prefix have one edit. If the names are not near, the number means nothing.
func distance(a, b string) (edits int, isNear bool) {
	foldedA, foldedB := fold(a), fold(b)
	longer := max(utf8.RuneCountInString(foldedA), utf8.RuneCountInString(foldedB))
	edits, isNear = Edits(foldedA, foldedB, longer/3)
	if edits == 0 && isNear {
		return 0, true
	}
	areSwapped := len(foldedB) == 2 && foldedA == foldedB[1:]+foldedB[:1]   // for two letters, longer/3 allows no edit
	if areSwapped || isNearPrefix(foldedA, b) || isNearPrefix(foldedB, a) { // which looks for separators
		return 1, true
	}
	return edits, isNear
}

// isNearPrefix reports whether the folded text start begins a name, has three bytes or more, and is half of the name or
// ends at one of the name's separators.
func isNearPrefix(start, name string) bool {
	folded := fold(name)
	if len(start) < 3 || !strings.HasPrefix(folded, start) {
		return false
	}
	if 2*len(start) >= len(folded) {
		return true
	}
	for i, r := range name {
		if isSeparator(r) && fold(name[:i]) == start {
			return true
		}
	}
	return false
}

// fold returns s in lower case and without separators.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func isSeparator(r rune) bool { return r == '_' || r == '-' || r == ' ' }

// Edits returns the number of edits that make one string of another, and reports whether it is at most limit. An edit
// inserts, deletes or replaces a character, or swaps two neighbours (the optimal string alignment distance). If the
// lengths alone differ by more than limit, Edits returns 0 and false.
func Edits(a, b string, limit int) (int, bool) {
	from, to := []rune(a), []rune(b)
	if len(from)-len(to) > limit || len(to)-len(from) > limit {
		return 0, false
	}
	// current[j] is the number of edits from from[:i] to to[:j]; previous has those of i-1, and before those of i-2.
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
