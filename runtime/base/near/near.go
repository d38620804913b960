// Package near finds the name that a misspelt one was probably meant to be, and the distance between two strings.
//
// It only compares: callers word the suggestions.
package near

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the greatest length of a name in bytes: the search takes time in the product of two lengths.
const maxName = 128

// Name returns the name in known that name was probably meant to be, or "" if none is near.
//
// Case, spaces, hyphens and underscores are ignored. A name is near if at most a third of the longer name differs, or
// if two letters are swapped in a name of two. A prefix of three letters or more is near if it is at least half of the
// longer name, or whole words of it. Of equally near names Name returns the one that sorts first.
func Name(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	best, bestDistance := "", 0
	for _, k := range known {
		if k == name {
			return k
		}
		if len(k) > maxName {
			continue
		}
		d, near := distance(name, k)
		if near && (best == "" || d < bestDistance || d == bestDistance && k < best) {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance returns the distance of two names, and reports whether they are near. If they are not, the distance means
// nothing. A prefix and swapped letters have distance 1.
func distance(a, b string) (int, bool) {
	foldedA, foldedB := fold(a), fold(b)
	longer := max(utf8.RuneCountInString(foldedA), utf8.RuneCountInString(foldedB))
	d, near := Edits(foldedA, foldedB, longer/3)
	switch {
	case near && d == 0:
		return 0, true
	case isPrefix(foldedA, foldedB, b), isPrefix(foldedB, foldedA, a):
		return 1, true
	case len(foldedB) == 2 && foldedA == foldedB[1:]+foldedB[:1]:
		return 1, true
	}
	return d, near
}

// isPrefix reports whether start is a prefix of whole, has three bytes or more, and is half of whole or ends at a
// separator of name. whole is the folded name.
func isPrefix(start, whole, name string) bool {
	if len(start) < 3 || !strings.HasPrefix(whole, start) {
		return false
	}
	enough := 2*len(start) >= len(whole)
	for i, r := range name {
		enough = enough || isSeparator(r) && fold(name[:i]) == start
	}
	return enough
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

// Edits returns the optimal string alignment distance of two strings in characters: insertions, deletions,
// replacements and swaps of neighbours count one each. It reports whether the distance is at most limit; if the lengths
// alone differ by more, the returned distance is 0.
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
