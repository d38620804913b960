package recall

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

// Bounds on what notes and errors repeat, in characters and in number.
const (
	maxRemark = 300
	maxReason = 160
	maxListed = 5
	maxNames  = 20 // in an error
)

// remarks returns the notes of a call, which may repeat arguments of any length.
func remarks(call contract.Call) []string {
	notes := make([]string, len(call.Notes))
	for i, note := range call.Notes {
		notes[i] = clip(text.Line(note), maxRemark)
	}
	return notes
}

// missedNotes returns a note about what could not be searched, or not to its
// end; none where all was searched.
func missedNotes(problems []conversations.Problem) []string {
	var missed []conversations.Problem
	for _, p := range problems {
		if p.Kind != conversations.Duplicate && p.Kind != conversations.BadField {
			missed = append(missed, p)
		}
	}
	return problemNotes("Not searched: ", missed)
}

// problemNotes returns a note about problems; none where there are none.
func problemNotes(opening string, problems []conversations.Problem) []string {
	if len(problems) == 0 {
		return nil
	}
	return []string{opening + listProblems(problems) + "."}
}

// listProblems names the first of some problems, without anything that is
// recorded, and no path.
func listProblems(problems []conversations.Problem) string {
	parts := make([]string, len(problems))
	for i := range problems {
		parts[i] = describe(&problems[i])
	}
	return bounded(parts, "; ", maxListed)
}

// describe says what a problem is about, and in brackets what is wrong.
func describe(p *conversations.Problem) string {
	about, why := string(p.ID), ""
	switch {
	case about != "":
	case p.Source != "" && p.Source != jp.Name:
		about = "some of " + p.Source
	default:
		about = "a whole store"
	}
	switch p.Kind {
	case conversations.DamagedEvents:
		return about + " from where it is damaged"
	case conversations.TooLarge:
		about, why = "some of "+about, p.Err.Error()
	case conversations.Unnamed:
		about, why = clip(text.Quote(p.File), maxReason), p.Err.Error()
	case conversations.SwitchedOff:
		about, why = p.Source, "the user's settings switch it off"
	case conversations.Reported:
		about, why = cmp.Or(string(p.ID), "one without an id"), "the conversation command line says so"
	case conversations.BadField:
		about, why = p.Field+" of "+about, "it cannot be used"
	case conversations.Duplicate:
		why = "another directory has the same id"
	case conversations.Outside:
		why = cmp.Or(p.File, "it") + " is a link that leads out of the store"
	case conversations.Linked:
		why = "it is a link; only directories are read"
	case conversations.Vanishing:
		why = "its directory is renamed or removed again and again"
	case conversations.BadMetadata:
		why = "its metadata cannot be used" + because(p.Err)
	default:
		why = "it cannot be read" + because(p.Err)
	}
	return about + " (" + why + ")"
}

// because returns the part of a cause that a model is told.
func because(err error) string {
	var known interface{ ForModel() string }
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ": a file is missing"
	case errors.Is(err, fs.ErrPermission):
		return ": permission denied"
	case errors.As(err, &known):
		return ": " + known.ForModel()
	}
	return ""
}

// clip returns the first n characters of s, and an ellipsis where there are more.
func clip(s string, n int) string { return text.Cut(s, n+1) }

// join returns "a, b or c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// bounded joins the first of some texts, and counts the others.
func bounded[T ~string](all []T, separator string, most int) string {
	var texts []string
	for i, s := range all {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		texts = append(texts, string(s))
	}
	return strings.Join(texts, separator)
}

// either returns one of two texts.
func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// given returns the value of an optional parameter.
func given[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
