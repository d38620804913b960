package recall

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on what notes repeat, in characters and in conversations: they
// are part of the answer and of its size.
const (
	maxRemark = 300
	maxReason = 160
	maxListed = 5
)

// remarks are the notes the answer has to carry from the call. They may
// repeat arguments of any length.
func remarks(call contract.Call) []string {
	notes := make([]string, len(call.Notes))
	for i, note := range call.Notes {
		notes[i] = clip(text.Line(note), maxRemark)
	}
	return notes
}

// missedNotes are the notes about what could not be searched, or not to
// its end.
func missedNotes(problems []conversations.Problem) []string {
	var missed []conversations.Problem
	for _, p := range problems {
		if p.Kind != conversations.Duplicate && p.Kind != conversations.BadField {
			missed = append(missed, p)
		}
	}
	return withoutNotes("Not searched: ", missed)
}

// withoutNotes are the notes about what an answer is without.
func withoutNotes(opening string, problems []conversations.Problem) []string {
	if len(problems) == 0 {
		return nil
	}
	return []string{opening + namely(problems) + "."}
}

// namely lists the first of some problems: the conversations, and what
// is wrong with them, without anything that is recorded or the name of a
// file.
func namely(problems []conversations.Problem) string {
	parts := make([]string, len(problems))
	for i := range problems {
		p := &problems[i]
		parts[i] = matterOf(p)
		if p.Kind != conversations.DamagedEvents {
			parts[i] += " (" + reason(p) + ")"
		}
	}
	return bounded(parts, "; ", maxListed)
}

// matterOf names what a problem is about.
func matterOf(p *conversations.Problem) string {
	switch id := string(p.ID); {
	case p.Kind == conversations.TooLarge:
		return "some of " + id
	case p.Kind == conversations.DamagedEvents:
		return id + " from where it is damaged"
	case p.Kind == conversations.BadField:
		return p.Field + " of " + id
	case id != "":
		return id
	case p.Kind == conversations.Reported:
		return "one without an id"
	case p.Kind == conversations.SwitchedOff:
		return p.Source
	case p.Kind == conversations.Unnamed:
		return clip(text.Quote(p.File), maxReason)
	case p.Source != "" && p.Source != jp.Name:
		return "some of " + p.Source
	}
	return "a whole store"
}

// reason returns what is wrong, in our own words.
func reason(p *conversations.Problem) string {
	switch p.Kind {
	case conversations.Reported:
		return "the conversation command line says so"
	case conversations.Duplicate:
		return "another directory has the same id"
	case conversations.Outside:
		return cmp.Or(p.File, "it") + " is a link that leads out of the store"
	case conversations.Linked:
		return "it is a link; only directories are read"
	case conversations.Vanishing:
		return "its directory is renamed or removed again and again"
	case conversations.DamagedEvents:
		return clip(text.Line(p.Err.Error()), maxReason)
	case conversations.BadField:
		return "it cannot be used"
	case conversations.TooLarge, conversations.Unnamed:
		return p.Err.Error()
	case conversations.SwitchedOff:
		return "the user's settings switch it off"
	case conversations.BadMetadata:
		return "its metadata cannot be used" + because(p.Err)
	}
	return "it cannot be read" + because(p.Err)
}

// because is what of a cause a model is told.
func because(err error) string {
	var known interface{ ForModel() string }
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ": a file is missing"
	case errors.Is(err, fs.ErrPermission):
		return ": permission denied"
	case errors.As(err, &known):
		return ": " + known.ForModel()
	default:
		return ""
	}
}

// clip leaves the first n characters of s, and an ellipsis for more.
func clip(s string, n int) string { return text.Cut(s, n+1) }

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

// either is one of two texts.
func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// isIdentifier reports whether s looks like the id of a conversation.
func isIdentifier(s string) bool {
	const inside = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return 0 < len(s) && len(s) <= 128 && strings.Trim(s, inside) == ""
}

// given returns the value of a parameter that need not be given.
func given[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// names returns ids as texts.
func names(ids []transcript.ID) []string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return texts
}

// maxNames is how many of anything an error names.
const maxNames = 20

// bounded joins the first of some texts, and counts the others.
func bounded(texts []string, separator string, most int) string {
	if more := len(texts) - most; more > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, separator)
}
