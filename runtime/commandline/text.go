package commandline

import (
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
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

// cut returns the text if it has at most limit characters. Otherwise it returns limit characters, half of them from the
// beginning and half from the end, around a mark with the number of omitted characters.
func (t *clippedText) cut(limit int) string {
	kept := t.String()
	first, last, omitted := text.Ends(kept, limit/2, limit-limit/2)
	if omitted == 0 {
		return kept
	}
	omitted += t.chars - utf8.RuneCountInString(kept) // those that t has not kept
	return fmt.Sprintf("%s … %d characters omitted … %s", first, omitted, last)
}

// textDocument returns the answer of a tool that prints text: the whole text, or a note and as much of its beginning
// and end as fits. If the program was stopped, the text is not whole. The error says that no part of the text fits.
func (t *Tool) textDocument(printed *clippedText, args coerce.Object, notes []string, stopped bool) (string, error) {
	kept := printed.String()
	isWhole := printed.Total == len(kept) // printed has kept all of the text
	all := utf8.RuneCountInString(kept)   // an answer with fewer characters than this has a note
	if !isWhole {
		all++ // all kept characters are not all characters: an answer with them has a note too
	}
	documentWith := func(chars int) string {
		part, allNotes := kept, notes
		if chars < all {
			part = printed.cut(chars)
			allNotes = append(slices.Clip(notes), t.omittedMiddleNote(chars, printed.chars, stopped))
		}
		if printed.Total == 0 {
			return t.Envelope.document(args, nil, 0, allNotes)
		}
		w := openRoot()
		_ = t.Envelope.Record.append(w, textRecord(part)) // the record has the one field that the spec may name
		return t.Envelope.document(args, insideRoot(w), 1, allNotes)
	}
	isTooLong := func(chars int) bool { return utf8.RuneCountInString(documentWith(chars)) > t.MaxChars }
	if isWhole && !stopped && !isTooLong(all) {
		return documentWith(all), nil
	}
	tooMany := sort.Search(all, isTooLong) // the least number of characters that does not fit, or all
	if tooMany == 0 {
		return "", t.tooLong("there is no room for any of its text")
	}
	return documentWith(tooMany - 1), nil
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
