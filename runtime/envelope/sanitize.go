package envelope

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sanitize makes everything in text visible and fit for XML 1.0: CRLF becomes
// LF; other C0 controls but tab and newline become their control pictures, DEL
// too; C1 controls, U+FFFE, U+FFFF and bytes that are not UTF-8 become U+FFFD;
// characters that reorder the text around them (bidirectional overrides and
// isolates) or that no reader sees (spaces without width, fillers, tags, variation
// selectors) become their escape, such as \u{202E}. Joiners and the selectors of
// emoji stay where they have a meaning: a joiner behind a character that is not
// ASCII, a selector behind one that there may be a picture of, and only one of them.
func Sanitize(text string) string {
	if !needsSanitizing(text) {
		return text
	}
	return string(appendSanitized(nil, text))
}

// SanitizeLine is [Sanitize] for text that has to stay on one line: each line
// break becomes a space.
func SanitizeLine(text string) string {
	if !needsInline(text) {
		return text
	}
	return string(appendInline(nil, text))
}

// needsSanitizing is false for most text and costs no allocation. Non-ASCII
// text is judged by the slow path.
func needsSanitizing(text string) bool {
	for i := range len(text) {
		if b := text[i]; b >= 0x7f || b < 0x20 && b != '\t' && b != '\n' {
			return true
		}
	}
	return false
}

func needsInline(text string) bool {
	for i := range len(text) {
		if b := text[i]; b >= 0x7f || b < 0x20 && b != '\t' || b == '<' || b == '>' || b == '&' {
			return true
		}
	}
	return false
}

func hasMarkup(text []byte) bool { return bytes.ContainsAny(text, "<>&") }

func appendSanitized(dst []byte, text string) []byte {
	start := len(dst)
	for i := 0; i < len(text); {
		b := text[i]
		if b >= 0x20 && b < 0x7f || b == '\n' || b == '\t' {
			dst = append(dst, b)
			i++
			continue
		}
		if b == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		dst = appendVisible(dst, r, dst[start:])
		i += size
	}
	return dst
}

func appendInline(dst []byte, text string) []byte {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	start := len(dst)
	dst = appendSanitized(dst, text)
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return dst
}

// appendVisible writes one character other than printable ASCII, tab, newline.
// Before is what is written of its text already.
func appendVisible(dst []byte, r rune, before []byte) []byte {
	switch {
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r)
	case r == 0x7f:
		return utf8.AppendRune(dst, '\u2421')
	case r < 0xa0, r == 0xfffe, r == 0xffff:
		return utf8.AppendRune(dst, utf8.RuneError)
	case hidden(r, before):
		return fmt.Appendf(dst, `\u{%X}`, r)
	default:
		return utf8.AppendRune(dst, r)
	}
}

// hidden says that r reorders the text around it, or is read by machines and not
// shown to people, where it follows what is written of a text already. Asking about
// what is written, and not about what was read, gives the same answer when the
// result is sanitised again.
func hidden(r rune, before []byte) bool {
	switch {
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		last, _ := utf8.DecodeLastRune(before)
		return len(before) == 0 || last < 0x80 || last == zeroWidthNonJoiner || last == zeroWidthJoiner
	case r == textSelector || r == emojiSelector:
		last, _ := utf8.DecodeLastRune(before)
		return len(before) == 0 || !mayBeEmoji(last)
	}
	return reorders(r) || invisible(r)
}

const (
	zeroWidthNonJoiner = 0x200c
	zeroWidthJoiner    = 0x200d
	textSelector       = 0xfe0e // asks for a character, not a picture
	emojiSelector      = 0xfe0f // asks for a picture
)

func reorders(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// invisible is for the characters with the property Default_Ignorable_Code_Point
// (Unicode 17, DerivedCoreProperties.txt), but for joiners and for the marks of
// direction that right-to-left text needs, and for interlinear annotations.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r >= 0x180b && r <= 0x180f, r == 0x200b, r >= 0x2060 && r <= 0x206f, r == 0x3164,
		r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb,
		r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// mayBeEmoji is for the characters that emoji-variation-sequences.txt lists, and
// for others in the blocks that these are in. None of them is a letter but for ℹ, Ⓜ
// and a few more that look like pictures.
func mayBeEmoji(r rune) bool {
	switch {
	case r == '#', r == '*', r >= '0' && r <= '9', r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049,
		r >= 0x2100 && r <= 0x214f, r >= 0x2190 && r <= 0x23ff, r >= 0x2460 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f,
		r >= 0x2b00 && r <= 0x2bff, r == 0x3030, r == 0x303d, r >= 0x3200 && r <= 0x32ff, r >= 0x1f000 && r <= 0x1faff:
		return true
	}
	return false
}

// appendCDATA writes clean text into an open CDATA section. The section is
// ended and begun again inside every "]]>", so that the text cannot end it.
func appendCDATA(dst, clean []byte) []byte {
	for {
		i := bytes.Index(clean, []byte("]]>"))
		if i < 0 {
			return append(dst, clean...)
		}
		dst = append(dst, clean[:i]...)
		dst = append(dst, "]]]]><![CDATA[>"...)
		clean = clean[i+3:]
	}
}

// appendJSON writes a JSON text into an open CDATA section and keeps it JSON:
// what must not stand as it is becomes a JSON escape. Outside strings JSON has
// none of these characters.
func appendJSON(dst []byte, text string) []byte {
	start := len(dst)
	for i := 0; i < len(text); {
		b := text[i]
		if b == '>' && i >= 2 && text[i-1] == ']' && text[i-2] == ']' {
			dst = append(dst, `\u003e`...)
			i++
			continue
		}
		if b >= 0x20 && b < 0x7f || b == '\n' {
			dst = append(dst, b)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case r < 0xa0, r == 0xfffe, r == 0xffff, hidden(r, dst[start:]):
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += size
	}
	return dst
}

func appendEscape(dst []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}

func appendAttribute(dst []byte, value string) []byte {
	for _, b := range appendInline(nil, value) {
		switch b {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\t':
			dst = append(dst, "&#9;"...)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
