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

// inline makes s safe to show within one line.
func inline(s string, maxChars int) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(text.Visible(text.CutMiddle(s, maxChars)))
}

// lastLine returns the last line of stderr that is not blank, safe to show.
func lastLine(stderr []byte) string {
	said := strings.TrimSpace(string(stderr))
	return inline(strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]), maxLine)
}

// display returns the command line for an error. Words with special characters are quoted, long ones are shortened,
// and the whole has a bound.
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

func displayWord(word string) string {
	shown := inline(word, maxWord)
	if word == "" || strings.ContainsAny(shown, " '\"\\") {
		return "'" + strings.ReplaceAll(shown, "'", `'\''`) + "'"
	}
	return shown
}
