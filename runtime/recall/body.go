package recall

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// body is the text of an event, or what is kept of it: parts of it in order, and
// how many characters are missing between each two. Where something is missing at
// one end, the part there is empty.
type body struct {
	parts  []string // one at least
	gaps   []int    // each more than 0; one fewer than parts
	inside bool     // strings inside are cut and marked: more is missing than gaps have
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
	var b bodyBuilder
	b.keep(visible(first))
	b.skip(chars - n)
	b.keep(visible(s[len(first):]))
	return b.done()
}

func whole(s string) body { return body{parts: []string{s}} }

// bodyBuilder makes a body of what is kept and what is not, in order.
type bodyBuilder struct {
	made body
	part []byte
	gap  int
}

// skip leaves out n characters.
func (b *bodyBuilder) skip(n int) {
	if n > 0 && b.gap == 0 {
		// The mark stands on a line of its own: line breaks around it would only make
		// it longer.
		kept := strings.TrimRight(string(b.part), "\n")
		b.gap = len(b.part) - len(kept)
		b.part = b.part[:len(kept)]
	}
	b.gap += n
}

func (b *bodyBuilder) keep(s string) {
	if b.gap > 0 {
		rest := strings.TrimLeft(s, "\n")
		b.gap += len(s) - len(rest)
		if s = rest; s == "" {
			return
		}
		b.end()
	}
	b.part = append(b.part, s...)
}

// end ends a part, and the gap behind it.
func (b *bodyBuilder) end() {
	b.made.parts, b.part = append(b.made.parts, string(b.part)), b.part[:0]
	b.made.gaps, b.gap = append(b.made.gaps, b.gap), 0
}

func (b *bodyBuilder) done() body {
	if b.gap > 0 {
		b.end()
	}
	b.made.parts = append(b.made.parts, string(b.part))
	return b.made
}

// kept is how many of the recorded characters are kept.
func (t *body) kept() int {
	n := 0
	for _, part := range t.parts {
		n += utf8.RuneCountInString(part)
	}
	return n
}

func (t *body) isShortened() bool { return t.inside || len(t.gaps) > 0 }

// length is how many characters String has.
func (t *body) length() int {
	if len(t.gaps) == 0 {
		return utf8.RuneCountInString(t.parts[0])
	}
	return utf8.RuneCountInString(t.String())
}

// String is the text with a mark, on a line of its own, where something is missing.
func (t *body) String() string {
	if len(t.gaps) == 0 {
		return t.parts[0]
	}
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
