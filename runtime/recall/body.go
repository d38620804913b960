package recall

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// body is the text of an event, or what is kept of it: parts of it in order, and
// how many characters are missing between each two. Where something is missing at
// one end, the part there is empty.
type body struct {
	parts []string // one at least
	gaps  []int    // each more than 0; one fewer than parts
}

// newText is text in the characters that are going to be shown. s may have only two
// parts of what was recorded: of chars characters the first head ones, and those
// that follow in s. With no more chars than s has it is whole.
func newText(s string, chars, head int) body { return newBody(s, chars, head, text.Visible) }

// newJSON is JSON, which the envelope makes visible in a way of its own: by
// escapes that keep it JSON.
func newJSON(s string, chars, head int) body {
	return newBody(s, chars, head, func(s string) string { return s })
}

func newBody(s string, chars, head int, visible func(string) string) body {
	n := utf8.RuneCountInString(s)
	if chars <= n {
		return whole(visible(s))
	}
	first, _, _ := text.Ends(s, head, 0)
	return bodyOf([]line{{text: visible(first), kept: true}, {chars: chars - n, isGap: true}, {text: visible(s[len(first):]), kept: true}})
}

func whole(s string) body { return body{parts: []string{s}} }

// line is a line of a text with its end, a part of one, or a gap.
type line struct {
	text    string
	chars   int  // of text, or missing in the gap
	isGap   bool // it is missing already
	heading bool
	dropped bool // it is part of a paste that is not kept

	kept       bool
	head, tail string // kept of a line that is not kept
}

// lines are the lines of what is kept, and the gaps.
func (t *body) lines() []line {
	var lines []line
	for i, part := range t.parts {
		if i > 0 {
			lines = append(lines, line{chars: t.gaps[i-1], isGap: true, dropped: true})
		}
		for s := range strings.Lines(part) {
			lines = append(lines, line{text: s, chars: utf8.RuneCountInString(s), kept: true})
		}
	}
	return lines
}

// bodyOf makes a body of what is kept of lines. The mark of a gap is on a line of its own: line
// breaks around it would only make it longer. What is shorter than its mark is not left out.
func bodyOf(lines []line) body {
	var b body
	var part, missing []byte // missing is what is known of what is left out behind part
	gap := 0
	end := func(next string) {
		if gap < maxMark && gap == utf8.RuneCount(missing) {
			part = append(part, missing...)
		} else {
			kept := bytes.TrimRight(part, "\n")
			rest := strings.TrimLeft(next, "\n")
			b.parts, b.gaps = append(b.parts, string(kept)), append(b.gaps, gap+len(part)-len(kept)+len(next)-len(rest))
			part, next = part[:0], rest
		}
		part = append(part, next...)
		gap, missing = 0, missing[:0]
	}
	skip := func(s string, chars int) {
		if gap += chars; gap < maxMark {
			missing = append(missing, s...)
		}
	}
	keep := func(s string) {
		switch {
		case gap == 0:
			part = append(part, s...)
		case strings.Trim(s, "\n") == "":
			skip(s, len(s))
		default:
			end(s)
		}
	}
	for _, l := range lines {
		if l.kept {
			keep(l.text)
			continue
		}
		keep(l.head)
		skip(l.text[len(l.head):len(l.text)-len(l.tail)], l.chars-utf8.RuneCountInString(l.head)-utf8.RuneCountInString(l.tail))
		keep(l.tail)
	}
	if gap > 0 {
		end("")
	}
	b.parts = append(b.parts, string(part))
	return b
}

// kept is how many of the recorded characters are kept.
func (t *body) kept() int {
	n := 0
	for _, part := range t.parts {
		n += utf8.RuneCountInString(part)
	}
	return n
}

func (t *body) isShortened() bool { return len(t.gaps) > 0 }

// length is how many characters String has.
func (t *body) length() int { return utf8.RuneCountInString(t.String()) }

// String is the text with a mark, on a line of its own, where something is missing.
func (t *body) String() string {
	var s strings.Builder
	for i, part := range t.parts {
		if i > 0 {
			if s.Len() > 0 {
				s.WriteByte('\n')
			}
			s.WriteString(mark(t.gaps[i-1]))
			if part != "" {
				s.WriteByte('\n')
			}
		}
		s.WriteString(part)
	}
	return s.String()
}

// mark stands where characters are missing.
func mark(missing int) string { return fmt.Sprintf("[… %d chars …]", missing) }

// maxMark is how many characters a mark has at most, with the ends of the lines
// around it, in a text of less than 10 GB. An ellipsis is one.
const maxMark = len("\n[. 9999999999 chars .]\n")
