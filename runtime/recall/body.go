package recall

import (
	"fmt"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// body is the text of an event. It may be shorter already than what was
// recorded: then head is where the part that is missing was.
type body struct {
	kept   string
	length int  // characters of kept
	head   int  // characters of kept before the missing part
	chars  int  // characters that were recorded
	inside bool // parts inside were cut and marked: chars is less than what was recorded
}

// newText is text in the characters that are going to be shown. It may hold only
// two parts of what was recorded: of chars characters the first head ones, and
// those that follow in s. With no more chars than s has it is whole.
func newText(s string, chars, head int) body {
	n := utf8.RuneCountInString(s)
	if chars <= n {
		return whole(text.Visible(s))
	}
	at := offset(s, min(max(head, 0), n))
	first := text.Visible(s[:at])
	t := whole(first + text.Visible(s[at:]))
	t.head = utf8.RuneCountInString(first)
	t.chars += chars - n
	return t
}

// newJSON is JSON, which the envelope makes visible in a way of its own: by
// escapes that keep it JSON.
func newJSON(s string, chars, head int) body {
	t := whole(s)
	if chars > t.length {
		t.chars, t.head = chars, min(max(head, 0), t.length)
	}
	return t
}

func whole(s string) body {
	n := utf8.RuneCountInString(s)
	return body{kept: s, length: n, head: n, chars: n}
}

// missing is how many of the recorded characters are not kept.
func (t *body) missing() int { return t.chars - t.length }

func (t *body) isShortened() bool { return t.inside || t.missing() > 0 }

// String is the text with a mark where something is missing.
func (t *body) String() string {
	if t.missing() <= 0 {
		return t.kept
	}
	mark := fmt.Sprintf("[... %d of %d chars omitted ...]", t.missing(), t.chars)
	if t.inside {
		mark = fmt.Sprintf("[... at least %d chars omitted ...]", t.missing())
	}
	// The mark stands on a line of its own.
	at := offset(t.kept, t.head)
	head, tail := t.kept[:at], t.kept[at:]
	if head != "" {
		head += "\n"
	}
	if tail != "" {
		tail = "\n" + tail
	}
	return head + mark + tail
}

// offset is the byte offset of character n.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// shrink keeps n characters of the text: 60 % of them from its head, the rest
// from its tail.
func (t *body) shrink(n int) {
	if t.length <= n {
		return
	}
	head := n * 6 / 10
	tail := n - head
	if t.missing() > 0 {
		// Some of it is gone already: what is kept must lie around that.
		head = min(head, t.head)
		tail = min(n-head, t.length-t.head)
		head = min(n-tail, t.head)
	}
	t.kept = t.kept[:offset(t.kept, head)] + t.kept[offset(t.kept, t.length-tail):]
	t.head, t.length = head, head+tail
}

// limit shortens a text that has to be shortened to at most n characters later,
// without a difference to that: what is saved depends on which texts are longer
// than n and the mark.
func (t *body) limit(n int) { t.shrink(n + markChars + 1) }
