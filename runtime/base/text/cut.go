package text

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxQuoted is how many characters [Quote] repeats.
const maxQuoted = 80

// Cut returns s when it has at most chars characters, and otherwise its first chars-1 characters and "…". It does not
// make anything visible: an escape counts as the characters it has, so that text is made visible first where it is
// to fit into a place.
func Cut(s string, chars int) string {
	first, _, omitted := Ends(s, chars, 0)
	if omitted == 0 || chars <= 0 {
		return first
	}
	_, size := utf8.DecodeLastRuneInString(first)
	return first[:len(first)-size] + "…"
}

// CutMiddle returns s when it has at most chars characters. A longer one loses its middle, and a mark there says how
// much: the beginning is where a program says what it did, the end why it stopped. The mark comes on top of chars.
func CutMiddle(s string, chars int) string {
	chars = max(chars, 0)
	first, last, omitted := Ends(s, chars/2, chars-chars/2)
	if omitted == 0 {
		return s
	}
	return fmt.Sprintf("%s … %d characters omitted … %s", first, omitted, last)
}

// Ends returns the first head and the last tail characters of s, and how many there are between them. With none
// between them, first is s and last is empty. A byte that is not UTF-8 counts as a character.
func Ends[T ~string | ~[]byte](s T, head, tail int) (first, last T, omitted int) {
	head, tail = max(head, 0), max(tail, 0)
	var none T
	if len(s) <= head {
		return s, none, 0
	}
	total := runeCount(s)
	if total-tail <= head {
		return s, none, 0
	}
	from := 0
	for range head {
		_, size := decode(s[from:])
		from += size
	}
	to := len(s)
	for range tail {
		_, size := utf8.DecodeLastRuneInString(string(s[max(0, to-utf8.UTFMax):to]))
		to -= size
	}
	return s[:from], s[to:], total - head - tail
}

func runeCount[T ~string | ~[]byte](s T) int {
	n := 0
	for i := 0; i < len(s); n++ {
		_, size := decode(s[i:])
		i += size
	}
	return n
}

// Quote returns s between double quotes, as it may be repeated in a message: at most 80 characters of it, on one line,
// with everything that is not printable escaped as in Go.
func Quote(s string) string { return strconv.Quote(Cut(s, maxQuoted)) }
