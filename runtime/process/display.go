package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// Greatest lengths in messages, in characters.
const (
	maxCommand = 160 // the whole command line
	maxWord    = 60  // one argument of it
	maxLine    = 200 // the last line of stderr
	maxReason  = 300 // an error of the operating system, a panic's value
)

// inline returns s on one line, safe to show, without the middle of a text of more than maxChars characters.
func inline(s string, maxChars int) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(text.Visible(text.CutMiddle(s, maxChars)))
}

// lastLine returns the last line of stderr that is not blank, safe to show.
func lastLine(stderr []byte) string {
	trimmed := strings.TrimSpace(string(stderr))
	return inline(strings.TrimSpace(trimmed[strings.LastIndexByte(trimmed, '\n')+1:]), maxLine)
}

// display returns the command line for an error. Words with special characters are quoted, and long words are
// shortened. After maxCommand characters, only the number of further words follows.
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

// name returns the program without its directory, for messages.
func (c Command) name() string { return displayWord(filepath.Base(c.Path)) }

// displayWord returns a word of a command line, shortened and safe to show, in quotes if it needs them.
func displayWord(word string) string {
	shown := inline(word, maxWord)
	if word == "" || strings.ContainsAny(shown, " '\"\\") {
		return "'" + strings.ReplaceAll(shown, "'", `'\''`) + "'"
	}
	return shown
}
