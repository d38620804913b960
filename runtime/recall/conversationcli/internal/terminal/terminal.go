// Package terminal makes recorded text safe to show to people, and measures and
// cuts it to the columns of a terminal.
//
// Nothing recorded may drive a terminal: move the cursor, change colours or
// titles, write to the clipboard, or reorder what is read. Such characters are
// made visible, never dropped, so that a reader sees that they are there. The
// package only changes text that was recorded; whatever a program adds itself,
// such as colours, is added afterwards.
package terminal

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// AppendText appends text of several lines. Line feeds and tabs stay, and a
// carriage return before a line feed goes.
func AppendText(dst, text []byte) []byte { return appendSafe(dst, text, false) }

// AppendLine appends text as one line: line breaks and tabs become spaces.
func AppendLine(dst, text []byte) []byte { return appendSafe(dst, text, true) }

// Line returns text as one line, as AppendLine does.
func Line(text string) string { return string(AppendLine(nil, []byte(text))) }

func appendSafe(dst, text []byte, oneLine bool) []byte {
	for i := 0; i < len(text); {
		plain := i
		for i < len(text) && ' ' <= text[i] && text[i] < 0x7f {
			i++
		}
		if dst = append(dst, text[plain:i]...); i == len(text) {
			break
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case r == '\r' && i < len(text) && text[i] == '\n':
			// The line feed that follows ends the line.
		case r == '\n' || r == '\t':
			if oneLine {
				r = ' '
			}
			dst = append(dst, byte(r))
		case r < ' ':
			dst = utf8.AppendRune(dst, '\u2400'+r) // the picture of the control
		case r == 0x7f:
			dst = utf8.AppendRune(dst, '\u2421')
		case r == utf8.RuneError || r <= 0x9f || r&0xfffe == 0xfffe:
			// Not UTF-8, a C1 control, or no character at all.
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case invisibleDirection(r):
			dst = fmt.Appendf(dst, `\u{%X}`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// invisibleDirection reports whether r makes text read differently from what it
// is: line separators, bidirectional marks, embeddings, overrides and isolates,
// and the tag characters that can hide whole sentences. Joiners and variation
// selectors stay: emoji and several scripts need them.
func invisibleDirection(r rune) bool {
	return r == 0x2028 || r == 0x2029 || r == 0x200e || r == 0x200f || r == 0x061c ||
		0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || 0xe0000 <= r && r <= 0xe007f
}

// Width returns the number of terminal columns of safe text on one line.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Truncate returns the beginning of safe text that fits into columns, with "…"
// as its last character when something is left out.
func Truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	width, cut := 0, 0 // cut: where s ends when an ellipsis is to fit behind
	for i, r := range s {
		if width <= columns-1 {
			cut = i
		}
		width += runeWidth(r)
		if width > columns {
			return s[:cut] + "…"
		}
	}
	return s
}

// runeWidth follows the East Asian Width property for the blocks terminals
// agree on. It is for alignment only: a wrong guess looks uneven, no more.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0x200d, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115f, // Hangul initial consonants
		0x2e80 <= r && r <= 0x303e, // CJK radicals and punctuation
		0x3041 <= r && r <= 0xa4cf, // kana to Yi
		0xac00 <= r && r <= 0xd7a3, // Hangul syllables
		0xf900 <= r && r <= 0xfaff, // CJK compatibility ideographs
		0xfe30 <= r && r <= 0xfe6f, // CJK compatibility forms
		0xff00 <= r && r <= 0xff60, // full-width forms
		0xffe0 <= r && r <= 0xffe6,
		0x1f300 <= r && r <= 0x1f64f, // pictographs
		0x1f680 <= r && r <= 0x1f6ff,
		0x1f900 <= r && r <= 0x1f9ff,
		0x20000 <= r && r <= 0x3fffd: // CJK extensions
		return 2
	}
	return 1
}
