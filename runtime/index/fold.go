package index

import (
	"unicode"
	"unicode/utf8"
)

// appendFolded appends text with each rune replaced by one that stands for all that it is
// equal to by simple case folding. Bytes that are not UTF-8 stay as they are.
//
// As text of UTF-8 has a rune only where it begins, one folded text holds another, byte for
// byte, exactly where the texts match rune for rune.
func appendFolded(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		b := text[i]
		if b < utf8.RuneSelf {
			if 'A' <= b && b <= 'Z' {
				b += 'a' - 'A'
			}
			dst = append(dst, b)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || isCaseless(r) {
			dst = append(dst, text[i:i+size]...)
		} else {
			dst = utf8.AppendRune(dst, foldRune(r))
		}
		i += size
	}
	return dst
}

// isCaseless reports whether a rune is one of a large block of scripts without case: from
// the radicals of Han to Yi, and Hangul.
func isCaseless(r rune) bool { return 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xD800 }

// foldRune returns the smallest rune that a rune is equal to, and of letters in ASCII the
// small one.
func foldRune(r rune) rune {
	least := r
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		least = min(least, v)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
