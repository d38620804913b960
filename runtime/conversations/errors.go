package conversations

import (
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// What stores have in common with a library.
type (
	NotFoundError    = store.NotFoundError
	BadIDError       = store.BadIDError
	NoWorkspaceError = store.NoWorkspaceError
	Problem          = store.Problem
)

// The kinds of problems, as package store describes them.
const (
	Unreadable    = store.Unreadable
	Duplicate     = store.Duplicate
	BadMetadata   = store.BadMetadata
	BadField      = store.BadField
	DamagedEvents = store.DamagedEvents
	Outside       = store.Outside
	Linked        = store.Linked
	Vanishing     = store.Vanishing
	Reported      = store.Reported
	SwitchedOff   = store.SwitchedOff
	TooLarge      = store.TooLarge
	Unnamed       = store.Unnamed
)

// ExcludedError is the error where the user excluded a project.
type ExcludedError struct {
	Dir string // as it was named
	By  string // the path of the file that does it, or the directory in the user's settings
	// Remembered is the directory that is excluded though the file is gone; empty where it is
	// there.
	Remembered string
}

func (e *ExcludedError) Error() string {
	if e.Remembered != "" {
		return fmt.Sprintf("conversations here are excluded since %s did that for %s", e.By, e.Remembered)
	}
	return "conversations here are excluded by " + e.By
}

// RangeError is the error for a turn that a conversation does not have, or a number that none
// of its events has.
type RangeError struct {
	ID     transcript.ID
	Events bool // it is about events
	N, Of  int
}

func (e *RangeError) Error() string { return fmt.Sprintf("%d of %d", e.N, e.Of) }

// UnavailableError is the error for a store that cannot be read at all.
type UnavailableError struct {
	Path string // of the store
	Err  error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("conversations are unavailable: %v", e.Err)
}
func (e *UnavailableError) Unwrap() error { return e.Err }

// UnreadableError is the error for a conversation that is there, but whose events
// cannot be read.
type UnreadableError struct{ Problem }

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("reading conversation %s: %v", e.ID, e.Err)
}
func (e *UnreadableError) Unwrap() error { return e.Err }
