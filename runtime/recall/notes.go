package recall

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
)

// Bounds on what notes repeat, in characters and in conversations: they are
// part of the answer and of its size.
const (
	maxRemark = 300
	maxReason = 160
	maxListed = 5
)

// remarks are the notes the answer has to carry from the call. They may repeat
// arguments of any length.
func remarks(call contract.Call) []string {
	notes := make([]string, len(call.Notes))
	for i, note := range call.Notes {
		notes[i] = clip(envelope.SanitizeLine(note), maxRemark)
	}
	return notes
}

// skipped is a conversation the command line could not read, or not to its end.
type skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// String names the conversation and what is wrong with it.
func (s skipped) String() string {
	reason := clip(contract.WithoutPaths(envelope.SanitizeLine(s.Reason)), maxReason)
	if !isIdentifier(s.ID) {
		return reason
	}
	return s.ID + " (" + reason + ")"
}

// sameID is how the command line says that a directory was left aside for
// another one of the same id. Nothing is wrong with the conversation, which is
// read from that one.
const sameID = "another directory has the same id"

// duplicates takes from a list what is about directories of the same id, and
// makes it a note; empty where there are none. rest is about conversations that
// could not be read.
func duplicates(list []skipped) (note string, rest []skipped) {
	var same []skipped
	for _, s := range list {
		if strings.HasPrefix(s.Reason, sameID) {
			same = append(same, s)
		} else {
			rest = append(rest, s)
		}
	}
	if len(same) > 0 {
		note = "Of directories with the same id only one is read: " + namely(same) + "."
	}
	return note, rest
}

// namely lists the first of them.
func namely(list []skipped) string {
	var parts []string
	for _, s := range list[:min(len(list), maxListed)] {
		parts = append(parts, s.String())
	}
	text := strings.Join(parts, "; ")
	if more := len(list) - maxListed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// clip cuts s to n characters and says so with an ellipsis.
func clip(s string, n int) string {
	runes := 0
	for i := range s {
		if runes == n {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		runes++
	}
	return s
}

// quoted shows a value that may be anything in a note.
func quoted(s string) string { return strconv.Quote(clip(s, 80)) }

// list writes ["a","b"] as it stands in a call.
func list(words []string) string {
	shown := slices.Clone(words)
	for i := range shown {
		shown[i] = strconv.Quote(shown[i])
	}
	return "[" + strings.Join(shown, ",") + "]"
}

// join writes "a, b or c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// count writes "1 turn" and "2 turns".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
