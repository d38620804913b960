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
		notes[i] = clip(text.Line(note), maxRemark)
	}
	return notes
}

// asideNotes are the notes about what a query did not look at, or not to the end.
// others words those that are no duplicates: nothing is wrong with a conversation
// of which there is another directory.
func asideNotes(problems []conversations.Problem, others func([]conversations.Problem) string) []string {
	var same, fields, reported, left []conversations.Problem
	for _, p := range problems {
		switch p.Kind {
		case conversations.Duplicate:
			same = append(same, p)
		case conversations.BadField:
			fields = append(fields, p)
		case conversations.Reported:
			reported = append(reported, p)
		default:
			left = append(left, p)
		}
	}
	var notes []string
	if len(same) > 0 {
		notes = append(notes, "Of directories with the same id only one is read: "+namely(same)+".")
	}
	if len(left) > 0 {
		notes = append(notes, others(left))
	}
	if len(fields) > 0 {
		notes = append(notes, "Not usable, and taken for missing: "+namely(fields)+".")
	}
	if len(reported) > 0 {
		notes = append(notes, fmt.Sprintf("The conversation command line reports %s: %s.", count(len(reported), "problem", "problems"), namely(reported)))
	}
	return notes
}

// notSearched says which conversations were not searched, or in part.
func notSearched(problems []conversations.Problem) []string {
	var damaged []string
	var others, reported []conversations.Problem
	for _, p := range problems {
		switch p.Kind {
		case conversations.BadField: // which takes nothing from a search
		case conversations.DamagedEvents:
			damaged = append(damaged, string(p.ID))
		case conversations.Reported:
			reported = append(reported, p)
		default:
			others = append(others, p)
		}
	}
	say := asideNotes(reported, nil)
	if len(damaged) > 0 {
		say = append(say, "Searched only up to where it is damaged: "+bounded(damaged, ", ", maxListed)+".")
	}
	if len(others) > 0 {
		say = append(say, "Not searched: "+namely(others)+".")
	}
	return say
}

// namely lists the first of some problems: the conversations and what is wrong
// with them, without anything that is recorded or the name of a file.
func namely(list []conversations.Problem) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = "a whole store"
		switch {
		case p.Kind == conversations.TooLarge:
			parts[i] = "some of " + string(p.ID)
		case p.ID != "":
			parts[i] = string(p.ID)
		case p.Kind == conversations.Reported:
			parts[i] = "one without an id"
		case p.Kind == conversations.SwitchedOff:
			parts[i] = p.Source
		case p.Kind == conversations.Unnamed:
			parts[i] = clip(text.Quote(p.File), maxReason)
		case p.Source != "" && p.Source != jp.Name:
			parts[i] = "some of " + p.Source
		}
		if why := reason(&p); why != "" {
			parts[i] += " (" + why + ")"
		}
	}
	return bounded(parts, "; ", maxListed)
}

// reason is what is wrong, in our own words; empty where only others have words
// for it.
func reason(p *conversations.Problem) string {
	switch p.Kind {
	case conversations.Reported:
		return ""
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
		return p.Field
	case conversations.TooLarge, conversations.Unnamed:
		return p.Err.Error()
	case conversations.SwitchedOff:
		return "the user's settings switch it off"
	case conversations.BadMetadata:
		return "its metadata cannot be used" + because(p.Err)
	default:
		return "it cannot be read" + because(p.Err)
	}
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

// count writes "1 turn" and "2 turns".
func count(n int, one, many string) string { return strconv.Itoa(n) + " " + either(n == 1, one, many) }
