package text

import (
	"sort"
	"unicode"
)

// Width returns the number of terminal columns that s takes, which is one line and visible already.
func Width(s string) int {
	n := 0
	before := rune(-1)
	for _, r := range s {
		n += RuneWidth(r, before)
		before = r
	}
	return n
}

// Truncate returns the beginning of s that fits into a number of terminal columns, with "…" as its last character when
// something is left out. s is one line and visible already.
func Truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	width, cut := 0, 0 // cut: where s ends when an ellipsis is to fit behind
	before := rune(-1)
	for i, r := range s {
		if width <= columns-1 {
			cut = i
		}
		width += RuneWidth(r, before)
		if before = r; width > columns {
			return s[:cut] + "…"
		}
	}
	return s
}

// RuneWidth returns how many terminal columns a visible character adds to its line behind the character before, which
// is -1 at its beginning: 2 for wide East Asian characters and emoji, 0 for marks that sit on the character before and
// for what makes one picture with the emoji before, 1 for everything else. Terminals differ in what they make of
// emoji; a wrong guess looks uneven, no more.
func RuneWidth(r, before rune) int {
	switch {
	case r < 0x300:
		return 1
	case joins(r), unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1160 && r <= 0x11ff: // vowels and final consonants that complete a Hangul syllable
		return 0
	case !isWide(r):
		return 1
	case before == zeroWidthJoiner && mayBeEmoji(r), isEmojiModifier(r) && isWide(before):
		return 0
	}
	return 2
}

// isEmojiModifier reports whether r sets the skin tone of the emoji before it.
func isEmojiModifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

func isWide(r rune) bool {
	i := sort.Search(len(wide), func(i int) bool { return r <= wide[i].last })
	return i < len(wide) && r >= wide[i].first
}

// wide lists the characters whose East_Asian_Width is W or F (Unicode Standard Annex 11), in order. Ranges run over
// unassigned code points where nothing narrow lies between.
var wide = [...]struct{ first, last rune }{
	{0x1100, 0x115F},
	{0x231A, 0x231B},
	{0x2329, 0x232A},
	{0x23E9, 0x23EC},
	{0x23F0, 0x23F0},
	{0x23F3, 0x23F3},
	{0x25FD, 0x25FE},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x267F, 0x267F},
	{0x2693, 0x2693},
	{0x26A1, 0x26A1},
	{0x26AA, 0x26AB},
	{0x26BD, 0x26BE},
	{0x26C4, 0x26C5},
	{0x26CE, 0x26CE},
	{0x26D4, 0x26D4},
	{0x26EA, 0x26EA},
	{0x26F2, 0x26F3},
	{0x26F5, 0x26F5},
	{0x26FA, 0x26FA},
	{0x26FD, 0x26FD},
	{0x2705, 0x2705},
	{0x270A, 0x270B},
	{0x2728, 0x2728},
	{0x274C, 0x274C},
	{0x274E, 0x274E},
	{0x2753, 0x2755},
	{0x2757, 0x2757},
	{0x2795, 0x2797},
	{0x27B0, 0x27B0},
	{0x27BF, 0x27BF},
	{0x2B1B, 0x2B1C},
	{0x2B50, 0x2B50},
	{0x2B55, 0x2B55},
	{0x2E80, 0x303E},
	{0x3041, 0x3247},
	{0x3250, 0x4DBF},
	{0x4E00, 0xA4C6},
	{0xA960, 0xA97C},
	{0xAC00, 0xD7A3},
	{0xF900, 0xFAD9},
	{0xFE10, 0xFE19},
	{0xFE30, 0xFE6B},
	{0xFF01, 0xFF60},
	{0xFFE0, 0xFFE6},
	{0x16FE0, 0x1B2FB},
	{0x1F004, 0x1F004},
	{0x1F0CF, 0x1F0CF},
	{0x1F18E, 0x1F18E},
	{0x1F191, 0x1F19A},
	{0x1F200, 0x1F320},
	{0x1F32D, 0x1F335},
	{0x1F337, 0x1F37C},
	{0x1F37E, 0x1F393},
	{0x1F3A0, 0x1F3CA},
	{0x1F3CF, 0x1F3D3},
	{0x1F3E0, 0x1F3F0},
	{0x1F3F4, 0x1F3F4},
	{0x1F3F8, 0x1F43E},
	{0x1F440, 0x1F440},
	{0x1F442, 0x1F4FC},
	{0x1F4FF, 0x1F53D},
	{0x1F54B, 0x1F54E},
	{0x1F550, 0x1F567},
	{0x1F57A, 0x1F57A},
	{0x1F595, 0x1F596},
	{0x1F5A4, 0x1F5A4},
	{0x1F5FB, 0x1F64F},
	{0x1F680, 0x1F6C5},
	{0x1F6CC, 0x1F6CC},
	{0x1F6D0, 0x1F6D2},
	{0x1F6D5, 0x1F6DF},
	{0x1F6EB, 0x1F6EC},
	{0x1F6F4, 0x1F6FC},
	{0x1F7E0, 0x1F7F0},
	{0x1F90C, 0x1F93A},
	{0x1F93C, 0x1F945},
	{0x1F947, 0x1F9FF},
	{0x1FA70, 0x1FAFF},
	{0x20000, 0x3FFFD},
}
