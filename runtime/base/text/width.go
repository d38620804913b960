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
	i := sort.Search(len(wide)/2, func(i int) bool { return r <= wide[2*i+1] })
	return 2*i < len(wide) && r >= wide[2*i]
}

// wide lists the characters whose East_Asian_Width is W or F (Unicode Standard Annex 11), in order: the first and the
// last of each range. Ranges run over unassigned code points where nothing narrow lies between.
var wide = [...]rune{
	0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x23f0, 0x23f0, 0x23f3, 0x23f3, 0x25fd, 0x25fe,
	0x2614, 0x2615, 0x2648, 0x2653, 0x267f, 0x267f, 0x2693, 0x2693, 0x26a1, 0x26a1, 0x26aa, 0x26ab, 0x26bd, 0x26be,
	0x26c4, 0x26c5, 0x26ce, 0x26ce, 0x26d4, 0x26d4, 0x26ea, 0x26ea, 0x26f2, 0x26f3, 0x26f5, 0x26f5, 0x26fa, 0x26fa,
	0x26fd, 0x26fd, 0x2705, 0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c, 0x274e, 0x274e, 0x2753, 0x2755,
	0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x27bf, 0x27bf, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55,
	0x2e80, 0x303e, 0x3041, 0x3247, 0x3250, 0x4dbf, 0x4e00, 0xa4c6, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfad9,
	0xfe10, 0xfe19, 0xfe30, 0xfe6b, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x1b2fb, 0x1f004, 0x1f004,
	0x1f0cf, 0x1f0cf, 0x1f18e, 0x1f18e, 0x1f191, 0x1f19a, 0x1f200, 0x1f320, 0x1f32d, 0x1f335, 0x1f337, 0x1f37c,
	0x1f37e, 0x1f393, 0x1f3a0, 0x1f3ca, 0x1f3cf, 0x1f3d3, 0x1f3e0, 0x1f3f0, 0x1f3f4, 0x1f3f4, 0x1f3f8, 0x1f43e,
	0x1f440, 0x1f440, 0x1f442, 0x1f4fc, 0x1f4ff, 0x1f53d, 0x1f54b, 0x1f54e, 0x1f550, 0x1f567, 0x1f57a, 0x1f57a,
	0x1f595, 0x1f596, 0x1f5a4, 0x1f5a4, 0x1f5fb, 0x1f64f, 0x1f680, 0x1f6c5, 0x1f6cc, 0x1f6cc, 0x1f6d0, 0x1f6d2,
	0x1f6d5, 0x1f6df, 0x1f6eb, 0x1f6ec, 0x1f6f4, 0x1f6fc, 0x1f7e0, 0x1f7f0, 0x1f90c, 0x1f93a, 0x1f93c, 0x1f945,
	0x1f947, 0x1f9ff, 0x1fa70, 0x1faff, 0x20000, 0x3fffd,
}
