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

// clippedText keeps the beginning and the end of a text.
type clippedText struct {
	process.HeadTail
	chars int  // length of the whole text in characters
	stops bool // the program is stopped after mostText bytes
}

// Write adds a part of the text. The error is [process.ErrEnough] if the program is to be stopped.
func (t *clippedText) Write(p []byte) (int, error) {
	for _, b := range p {
		if utf8.RuneStart(b) {
			t.chars++
		}
	}
	n, err := t.HeadTail.Write(p)
	if t.stops && t.Total > mostText {
		err = process.ErrEnough
	}
	return n, err
}

// cut returns the text if it has at most a number of characters, otherwise so many of its beginning and end, with a
// mark between them that counts the omitted ones.
func (t *clippedText) cut(chars int) string {
	kept := t.String()
	first, last, omitted := text.Ends(kept, chars/2, chars-chars/2)
	if omitted == 0 {
		return kept
	}
	omitted += t.chars - utf8.RuneCountInString(kept)
	return fmt.Sprintf("%s … %d characters omitted … %s", first, omitted, last)
}

// textDocument returns the answer of a tool that prints text: the whole text, or as much of its beginning and end as
// fits. It returns an error if no part fits. stopped is true if the program was stopped before it had printed all.
func (t *Tool) textDocument(printed *clippedText, args coerce.Object, notes []string, stopped bool) (string, error) {
	kept := printed.String()
	chars := utf8.RuneCountInString(kept)
	if printed.Total > len(kept) {
		chars++ // the middle is not kept: no answer has it
	}
	render := func(shown int) string {
		part, allNotes := kept, notes
		if shown < chars {
			part = printed.cut(shown)
			allNotes = append(slices.Clip(notes), t.omittedMiddleNote(shown, printed.chars, stopped))
		}
		if printed.Total == 0 {
			return t.Envelope.document(args, nil, 0, allNotes)
		}
		return t.Envelope.document(args, inRoot(func(w *envelope.Writer) { _ = t.Envelope.Record.append(w, textRecord(part)) }), 1, allNotes)
	}
	fits := func(shown int) bool { return utf8.RuneCountInString(render(shown)) <= t.MaxChars }
	if printed.Total == len(kept) && !stopped && fits(chars) {
		return render(chars), nil
	}
	tooMany := sort.Search(chars, func(shown int) bool { return !fits(shown) })
	if tooMany == 0 {
		return "", t.tooLong("there is no room for any of its text")
	}
	return render(tooMany - 1), nil
}

// textRecord returns the one record of a tool that prints text.
func textRecord(s string) any { return map[string]any{Text: printed(s)} }

// omittedMiddleNote returns the note of an answer that shows kept of all characters.
func (t *Tool) omittedMiddleNote(kept, all int, stopped bool) string {
	if stopped {
		return fmt.Sprintf("Showing %d characters of what was printed until the program was stopped, from the beginning and the end of it: more would take this answer over its limit of %d characters.%s", kept, t.MaxChars, t.askForLess())
	}
	return fmt.Sprintf("Showing %d of %d characters, from the beginning and the end: the middle would take this answer over its limit of %d characters.%s", kept, all, t.MaxChars, t.askForLess())
}
