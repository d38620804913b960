package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// How many characters of each thing go into an error's text.
const (
	maxCommand = 160 // the whole command line
	maxWord    = 60  // one argument of it
	maxLine    = 200 // the last line of stderr
	maxReason  = 300 // an error of the operating system, a panic's value
)

// Printable makes untrusted output safe to show to a person or a model. Line
// feeds and tabs stay. Other control characters become the pictures of Unicode
// (ESC becomes ␛), invisible characters that reorder or hide text are spelled
// out (\u{202E}), and what is not UTF-8 becomes U+FFFD: nothing is dropped
// silently. Text of more than maxChars characters loses its middle, and a mark
// there says how much; the mark comes on top of maxChars.
func Printable(text []byte, maxChars int) string {
	maxChars = max(maxChars, 0)
	total := utf8.RuneCount(text)
	if total <= maxChars {
		return visible(string(text))
	}
	head := maxChars / 2
	tail := maxChars - head
	return visible(string(text[:runeOffset(text, head)])) +
		fmt.Sprintf(" … %d characters omitted … ", total-maxChars) +
		visible(string(text[runeOffset(text, total-tail):]))
}

// runeOffset returns where character n of text starts, in bytes.
func runeOffset(text []byte, n int) int {
	offset := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRune(text[offset:])
		offset += size
	}
	return offset
}

// visible applies the character rules of [Printable].
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			// A line ending of Windows counts as one line feed.
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7F:
			b.WriteRune('\u2421')
		case r >= 0x80 && r < 0xA0, r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		case r >= 0x202A && r <= 0x202E, // overrides of the writing direction
			r >= 0x2066 && r <= 0x2069,   // isolates
			r >= 0xE0000 && r <= 0xE007F: // tags, a hidden copy of ASCII
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inline makes s safe to show within one line.
func inline(s string, maxChars int) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(Printable([]byte(s), maxChars))
}

// lastLine returns the last line of stderr that says something, safe to show.
func lastLine(stderr []byte) string {
	text := strings.TrimSpace(string(stderr))
	return inline(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), maxLine)
}

// display shows the command line for an error: words with odd characters are
// quoted, long ones shortened, the whole bounded.
func (c Command) display() string {
	if c.Path == "" {
		return "(no program)"
	}
	var b strings.Builder
	b.WriteString(displayWord(c.Path))
	used := utf8.RuneCountInString(b.String())
	for i, arg := range c.Args {
		word := displayWord(arg)
		used += 1 + utf8.RuneCountInString(word)
		if used > maxCommand {
			fmt.Fprintf(&b, " … (%d more)", len(c.Args)-i)
			break
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

// name shows the program without its directory.
func (c Command) name() string { return displayWord(filepath.Base(c.Path)) }

func displayWord(word string) string {
	shown := inline(word, maxWord)
	if word == "" || strings.ContainsAny(shown, " '\"\\") {
		return "'" + strings.ReplaceAll(shown, "'", `'\''`) + "'"
	}
	return shown
}
