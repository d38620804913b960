// Package near finds the name that a misspelt one most likely stands for, and the distance between two strings.
//
// It only compares: what a suggestion is worth, and how it is worded, is the caller's business. It imports the standard
// library alone.
package near

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the length in bytes of the longest name for which another is looked for: the search takes time in the
// product of two lengths, and nobody mistypes a name longer than this.
const maxName = 128

// Name returns the name in known that name most likely stands for, or "" where none is near.
//
// Case, spaces, hyphens and underscores do not count as differences. Otherwise at most a third of the longer name may
// differ, or the letters of a name of two be swapped. A beginning of three letters or more stands for the whole where
// it is at least half of it, or whole words of it. Of equally near names the one that sorts first is returned, whatever
// their order.
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

// distance returns how far two names are from each other, and false where that is too far.
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

// begins reports whether what is folded to start is a beginning of name, which is folded to whole, that stands for it.
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

// fold returns s without what does not count as a difference.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func isSeparator(r rune) bool { return r == '_' || r == '-' || r == ' ' }
