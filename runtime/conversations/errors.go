package conversations

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
)

// Types of package store.
type (
	NotFoundError    = store.NotFoundError
	BadIDError       = store.BadIDError
	NoWorkspaceError = store.NoWorkspaceError
	Problem          = store.Problem
)

// errRewritten is the error for a conversation that was indexed and has other messages now.
var errRewritten = errors.New("the conversation does not begin with the messages in the index")

// ExcludedError is the error for a project that the user has excluded.
type ExcludedError struct {
	By         string // the path of the file that excludes it, or the directory in the user's settings
	Remembered string // the excluded directory if the file is gone; otherwise empty
}

// Error tells that the file or setting By excludes the project. If the file is gone, it also tells what it excluded.
func (e *ExcludedError) Error() string {
	if e.Remembered != "" { // the file is gone: this is the excluded directory
		return fmt.Sprintf("conversations here are excluded since %s did that for %s", e.By, e.Remembered)
	}
	return "conversations here are excluded by " + e.By
}

// RangeError is the error for a turn or an event that a conversation does not have.
type RangeError struct {
	Events bool // N is the number of an event, and not of a turn
	N, Of  int  // the missing number, and how many there are
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

// UnreadableError is the error for a conversation whose events cannot be read.
type UnreadableError struct{ Problem }

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("reading conversation %s: %v", e.ID, e.Err)
}
func (e *UnreadableError) Unwrap() error { return e.Err }
