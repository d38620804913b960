package recorded

import (
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Unescape returns the text of a string, as it stands between its quotes.
func Unescape(raw []byte) string { return string(transcript.AppendUnescaped(nil, raw)) }

// Begins reports whether a text, as it stands between its quotes, begins with one of
// some prefixes, white space aside.
func Begins(raw []byte, prefixes ...string) bool {
	const enough = 1 << 10
	text := strings.TrimLeft(Unescape(raw[:min(len(raw), enough)]), " \t\r\n")
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// Title returns the first line that is not blank of a text, as it stands between its quotes, cut
// to a title.
func Title(raw []byte) string {
	const most = 100
	first, _, _ := strings.Cut(strings.TrimSpace(Beginning(raw)), "\n")
	return text.Cut(strings.TrimSpace(first), most)
}

// Request returns the beginning of a prompt, as it stands between its quotes, as
// [store.Conversation.Request] has it.
func Request(raw []byte) string { return store.Request(Beginning(raw)) }

// Beginning returns as much of a text, as it stands between its quotes, as a title or a request is
// made of.
func Beginning(raw []byte) string {
	const enough = 1 << 13
	return Unescape(raw[:min(len(raw), enough)])
}

// Questions returns the text of an inquiry whose arguments have an array of questions:
// each with the answers that it offers.
func Questions(arguments []byte) []Piece {
	var pieces []Piece
	for m := range jsontext.Members(arguments) {
		if !jsontext.KeyIs(m.Key, "questions") {
			continue
		}
		for question := range jsontext.Elements(m.Value) {
			pieces = appendQuestion(pieces, question)
		}
	}
	return pieces
}

func appendQuestion(pieces []Piece, question []byte) []Piece {
	var options []byte
	for m := range jsontext.Members(question) {
		text, ok := jsontext.Unquote(m.Value)
		switch {
		case jsontext.KeyIs(m.Key, "question") && ok:
			pieces = append(pieces, Piece{Raw: text})
		case jsontext.KeyIs(m.Key, "options"):
			options = m.Value
		}
	}
	for option := range jsontext.Elements(options) {
		for m := range jsontext.Members(option) {
			if text, ok := jsontext.Unquote(m.Value); ok && jsontext.KeyIs(m.Key, "label") {
				pieces = append(pieces, Piece{Raw: []byte("- ")}, Piece{Raw: text, Joined: true})
			}
		}
	}
	return pieces
}
