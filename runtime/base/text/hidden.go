package text

import "unicode"

// IsHidden reports whether readers do not see r for what it is: controls except tab and line feed, invisible
// characters and those that reorder text, noncharacters, and separators of lines and paragraphs.
//
// IsHidden is also true for joiners (U+200C, U+200D) and the selectors of emoji (U+FE0E, U+FE0F). Other functions of
// this package keep a joiner after a character that is not ASCII, and a selector after a character that may be a
// picture, but not two joiners or two selectors in a row: these could carry a text that nobody sees.
//
// The characters are those with the property Default_Ignorable_Code_Point (Unicode 17, DerivedCoreProperties.txt) or
// Bidi_Control, controls, separators, interlinear annotations and noncharacters.
func IsHidden(r rune) bool {
	switch {
	case r < 0xa0:
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f
	case r < 0x2000:
		switch r {
		case 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5: // soft hyphen, a joiner, a mark of Arabic, fillers, vowels
			return true
		}
		return 0x180b <= r && r <= 0x180f // selectors and a separator of Mongolian
	case r < 0x3000: // joiners and marks of direction; separators and changes of direction; invisible operators, isolates
		return 0x200b <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f
	case r < 0xfdd0:
		return r == 0x3164 // a filler of Hangul
	case r < 0x10000: // noncharacters, selectors, byte order mark, a filler, annotations, noncharacters
		return r <= 0xfdef || 0xfe00 <= r && r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || 0xfff0 <= r && r <= 0xfffb || r >= 0xfffe
	default: // controls of shorthand, controls of music, tags and selectors, noncharacters
		return 0x1bca0 <= r && r <= 0x1bca3 || 0x1d173 <= r && r <= 0x1d17a || 0xe0000 <= r && r <= 0xe0fff || isNoncharacter(r)
	}
}

func isNoncharacter(r rune) bool { return 0xfdd0 <= r && r <= 0xfdef || r&0xfffe == 0xfffe }

// stays reports whether r is visible, or is a joiner with a meaning after the text before it: the bytes of written,
// then more. Both are texts after replacements, so that a second pass changes nothing.
func stays(r rune, written []byte, more string) bool {
	return !IsHidden(r) || isJoiner(r) && mayJoin(r, lastRune(written, more))
}

const (
	zeroWidthNonJoiner = 0x200c
	zeroWidthJoiner    = 0x200d
	textSelector       = 0xfe0e // asks for a character, not a picture
	emojiSelector      = 0xfe0f // asks for a picture
)

// isJoiner reports whether r is a joiner or a selector of emoji: a hidden character that scripts and emoji need.
func isJoiner(r rune) bool {
	return r == zeroWidthNonJoiner || r == zeroWidthJoiner || r == textSelector || r == emojiSelector
}

// mayJoin reports whether a joiner has a meaning after previous, a character. previous is -1 at the start of a text.
func mayJoin(joiner, previous rune) bool {
	if joiner == textSelector || joiner == emojiSelector {
		return mayBeEmoji(previous)
	}
	return previous >= 0x80 && previous != zeroWidthNonJoiner && previous != zeroWidthJoiner // ASCII is never joined
}

// mayBeEmoji reports whether r is in emoji-variation-sequences.txt, or in a block with such characters.
func mayBeEmoji(r rune) bool {
	switch {
	case r == '#', r == '*', r >= '0' && r <= '9', r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049,
		r >= 0x2100 && r <= 0x214f, r >= 0x2190 && r <= 0x23ff, r >= 0x2460 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f,
		r >= 0x2b00 && r <= 0x2bff, r == 0x3030, r == 0x303d, r >= 0x3200 && r <= 0x32ff, r >= 0x1f000 && r <= 0x1faff:
		return true
	}
	return false
}

// IsSpace reports whether a rune is white space of Unicode, or a separator of ASCII, 0x1c to 0x1f.
func IsSpace(r rune) bool { return 0x1c <= r && r <= 0x1f || unicode.IsSpace(r) }
