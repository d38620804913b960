package text

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxQuoted is the number of characters that [Quote] repeats.
const maxQuoted = 80

// Cut returns s if it has at most chars characters, otherwise its first chars-1 characters and "…". A caller who makes
// hidden characters visible does so before Cut, because escapes are longer.
func Cut(s string, chars int) string {
	first, _, omitted := Ends(s, chars, 0)
	if omitted == 0 || chars <= 0 {
		return first
	}
	_, size := utf8.DecodeLastRuneInString(first)
	return first[:len(first)-size] + "…"
}

// CutMiddle returns s if it has at most chars characters. Otherwise a mark with the number of omitted characters
// replaces the middle: programs say first what they did and last why they stopped. The mark does not count in chars.
func CutMiddle(s string, chars int) string {
	chars = max(chars, 0)
	first, last, omitted := Ends(s, chars/2, chars-chars/2)
	if omitted == 0 {
		return s
	}
	return fmt.Sprintf("%s … %d characters omitted … %s", first, omitted, last)
}

// Ends returns the first head and the last tail characters of s, and the number of characters between them. If no
// character is between them, first is s and last is empty. A byte that is not UTF-8 counts as a character.
func Ends(s string, head, tail int) (first, last string, omitted int) {
	head, tail = max(head, 0), max(tail, 0)
	if len(s) <= head { // it has no more characters than bytes
		return s, "", 0
	}
	total := utf8.RuneCountInString(s)
	if total-tail <= head {
		return s, "", 0
	}
	from, to := 0, len(s)
	for range head {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	for range tail {
		_, size := utf8.DecodeLastRuneInString(s[:to])
		to -= size
	}
	return s[:from], s[to:], total - head - tail
}

// Quote returns s between double quotes for a message: at most 80 characters, on one line, escaped as in Go.
func Quote(s string) string { return strconv.Quote(Cut(s, maxQuoted)) }

// Number returns n with a comma between thousands, as in 20,000.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count returns n as [Number] does, with a noun: 1 turn, 20,000 turns.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}
