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

// Name returns the name in known that name was probably meant to be, or "" if none is near.
//
// Case, spaces, hyphens and underscores are ignored. At most a third of the longer name may differ, or the letters of
// a name of two be swapped. A prefix of three letters or more is near if it is at least half of the name, or whole
// words of it. Of equally near names Name returns the one that sorts first.
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

// distance returns the distance of two names, and reports whether they are near.
func distance(a, b string) (int, bool) {
	foldedA, foldedB := fold(a), fold(b)
	longer := max(utf8.RuneCountInString(foldedA), utf8.RuneCountInString(foldedB))
	d, near := Edits(foldedA, foldedB, longer/3)
	switch {
	case near && d == 0:
		return 0, true
	case begins(foldedA, foldedB, b), begins(foldedB, foldedA, a):
		return 1, true
	case longer == 2 && foldedA == reverse(foldedB):
		return 1, true
	}
	return d, near
}

// begins reports whether start is a near prefix of whole, which is the folded name.
func begins(start, whole, name string) bool {
	if len(start) < 3 || !strings.HasPrefix(whole, start) {
		return false
	}
	if 2*len(start) >= len(whole) {
		return true
	}
	for i, r := range name {
		if isSeparator(r) && fold(name[:i]) == start {
			return true
		}
	}
	return false
}

func reverse(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// fold returns s without ignored differences.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func isSeparator(r rune) bool { return r == '_' || r == '-' || r == ' ' }
