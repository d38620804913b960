package text

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns the number of terminal columns of s, which is one line and has been made visible.
func Width(s string) int {
	n := 0
	before := rune(-1)
	for _, r := range s {
		n += RuneWidth(r, before)
		before = r
	}
	return n
}

// Truncate returns s if it fits into a number of terminal columns, otherwise as much of its beginning as fits with "…"
// after it. s is one line and has been made visible.
func Truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	used, cut := 0, 0 // used are the columns of the runes so far; s[:cut] leaves a column for the ellipsis
	before := rune(-1)
	for i, r := range s {
		if used < columns {
			cut = i
		}
		used += RuneWidth(r, before)
		if used > columns {
			return s[:cut] + "…"
		}
		before = r
	}
	return s
}

// RuneWidth returns the number of terminal columns that a visible character r adds to its line: 2 for wide East Asian
// characters and emoji, 0 for marks on the character before r and for parts of one emoji, 1 for everything else.
// before is -1 if r begins the line. Terminals differ about emoji; a wrong width only looks uneven.
func RuneWidth(r, before rune) int {
	switch {
	case r < 0x300:
		return 1
	case isJoiner(r), unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1160 && r <= 0x11ff: // vowels and final consonants of Hangul syllables
		return 0
	case !isWide(r):
		return 1
	case before == zeroWidthJoiner && mayBeEmoji(r): // a part of an emoji
		return 0
	case 0x1f3fb <= r && r <= 0x1f3ff && isWide(before): // the skin tone of an emoji
		return 0
	}
	return 2
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}
