package store

import (
	"fmt"

	"github.com/convtools/convtools/runtime/transcript"
)

// Problem describes a conversation, or a part of one, that could not be used. Only Path and Err can contain recorded
// text or file names: they are for people, except that Err of DamagedEvents has neither.
type Problem struct {
	ID     transcript.ID // empty for a store, or a part of one
	Source string        // the name of the kind of store; empty if it is not known
	Kind   ProblemKind
	Field  string // the recorded field that is wrong, such as "expires_at"; may be empty
	File   string // the link of Outside, in the conversation, or the database of Unnamed, in the project
	Event  int    // the number of whole events before the damage
	Path   string
	Err    error // the reason, without the id and the path; never nil
}

// ProblemKind is a kind of problem.
type ProblemKind uint8

// The kinds of problems. A conversation with one of the first three, or with Outside, Linked or Vanishing, is left out.
const (
	Unreadable    ProblemKind = iota // it cannot be read
	Duplicate                        // another directory with the same id is read instead
	BadMetadata                      // its metadata cannot be used; it can still be asked for by its id
	BadField                         // a field cannot be used, and counts as missing
	DamagedEvents                    // its events end early; the ones before the damage are used
	Outside                          // it is, or has, a link out of its store
	Linked                           // it is a link where only directories are read
	Vanishing                        // it is renamed or removed again and again
	Reported                         // an external program reports it, in its own words
	SwitchedOff                      // the user's settings switch off this kind of store
	TooLarge                         // some of its events are over the size limit, and left out
	Unnamed                          // File is a database in the project that the user has not named
)

// NotFoundError is the error for ids that no conversation has.
type NotFoundError struct {
	IDs     []transcript.ID
	Nearest []transcript.ID // existing ids with the most similar spelling, best first
	Place   string          // the path of the project; empty for all projects
	Unread  []Problem       // stores that could not be read, and can have them
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("conversations %q not found", e.IDs) }

// BadIDError is the error for a text that is not the id of a conversation in any store.
type BadIDError struct {
	Text   string // as given, shortened if it is long
	Reason string // what is wrong, and what was expected
}

func (e *BadIDError) Error() string {
	return fmt.Sprintf("invalid conversation id %q: %s", e.Text, e.Reason)
}

// NoWorkspaceError is the error for a directory without a workspace.
type NoWorkspaceError struct {
	Dir     string // where the search started
	Missing bool   // Dir does not exist
}

func (e *NoWorkspaceError) Error() string {
	if e.Missing {
		return fmt.Sprintf("Could not locate workspace: %s does not exist; name a directory of a project that has a .jp directory", e.Dir)
	}
	return fmt.Sprintf("Could not locate workspace: no .jp directory in %s or above it; change to a project that has one, or name it with -w DIR", e.Dir)
}

// DamageError is the error for events that end early.
type DamageError struct {
	Event int // the number of whole events before the damage
	Err   error
}

func (e *DamageError) Error() string { return e.Err.Error() }

func (e *DamageError) Unwrap() error { return e.Err }

// StateError is an error about the state of a store that contains nothing recorded.
type StateError string

func (e StateError) Error() string { return string(e) }

// ForModel returns the text for a model.
func (e StateError) ForModel() string { return string(e) }

// CopyTooLargeError is the error for a database in use that is too large to be copied.
type CopyTooLargeError struct{ Size, Most int64 } // bytes

func (e *CopyTooLargeError) Error() string {
	const mega = 1 << 20
	return fmt.Sprintf("it is in use and has to be copied to be read, and its %d MB are more than the %d MB that are copied", e.Size/mega, e.Most/mega)
}

// ForModel returns the text for a model.
func (e *CopyTooLargeError) ForModel() string { return e.Error() }
