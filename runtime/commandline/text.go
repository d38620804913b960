package commandline

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/process"
)

// mostText is the number of bytes after which a program that prints text is stopped.
const mostText = 16 << 20

// ends keeps the beginning and the end of a text.
type ends struct {
	process.HeadTail
	chars int  // length of the text in characters
	stops bool // stop after mostText bytes
}

func (e *ends) Write(p []byte) (int, error) {
	for _, b := range p {
		if utf8.RuneStart(b) {
			e.chars++
		}
	}
	n, err := e.HeadTail.Write(p)
	if e.stops && e.Total > mostText {
		err = process.ErrEnough
	}
	return n, err
}

// cut returns the text with a number of characters, without its middle if it is longer.
func (e *ends) cut(chars int) string {
	all := e.String()
	first, last, omitted := text.Ends(all, chars/2, chars-chars/2)
	if omitted == 0 {
		return all
	}
	omitted += e.chars - utf8.RuneCountInString(all)
	return fmt.Sprintf("%s … %d characters omitted … %s", first, omitted, last)
}

// text returns the answer of a tool that prints text, without its middle if it is too long.
func (t *Tool) text(printed *ends, args coerce.Object, notes []string, stopped bool) (string, error) {
	all := printed.String()
	chars := utf8.RuneCountInString(all)
	if printed.Total > len(all) {
		chars++ // what was kept is not all: it is cut in any case
	}
	render := func(kept int) string {
		part, said := all, notes
		if kept < chars {
			part = printed.cut(kept)
			said = append(slices.Clip(notes), t.middleLeftOut(kept, printed.chars, stopped))
		}
		count := min(printed.Total, 1)
		if count == 0 {
			return t.Envelope.document(args, nil, 0, said)
		}
		return t.Envelope.document(args, inRoot(func(w *envelope.Writer) { _ = t.Envelope.Record.append(w, oneText(part)) }), count, said)
	}
	fits := func(kept int) bool { return utf8.RuneCountInString(render(kept)) <= t.MaxChars }
	if printed.Total == len(all) && !stopped && fits(chars) {
		return render(chars), nil
	}
	over := sort.Search(chars, func(kept int) bool { return !fits(kept) })
	if over == 0 {
		return "", t.tooLong("there is no room for any of its text")
	}
	return render(over - 1), nil
}

// oneText returns the one record of a tool that prints text.
func oneText(s string) any { return map[string]any{Text: printed(s)} }

func (t *Tool) middleLeftOut(kept, all int, stopped bool) string {
	if stopped {
		return fmt.Sprintf("Showing %d characters of what was printed until the program was stopped, from the beginning and the end of it: more would take this answer over its limit of %d characters.%s", kept, t.MaxChars, t.askForLess())
	}
	return fmt.Sprintf("Showing %d of %d characters, from the beginning and the end: the middle would take this answer over its limit of %d characters.%s", kept, all, t.MaxChars, t.askForLess())
}
