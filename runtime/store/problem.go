package store

import (
	"fmt"

	"github.com/convtools/convtools/runtime/transcript"
)

// Problem is why a conversation, or a part of one, could not be used. Nothing in
// it but Path and Err repeats what is recorded or the name of a file: those two
// are for people. The Err of DamagedEvents repeats neither.
type Problem struct {
	ID transcript.ID // empty where it is a whole store, or a part of one
	// Source is the name of the kind of store; empty where that is not known.
	Source string
	Kind   ProblemKind
	// Field names the recorded field that is wrong, such as "expires_at"; empty
	// where it is not one field.
	Field string
	// File is the name of the file in the conversation that is the link of Outside, or in
	// the project that is Unnamed; empty where it is no file.
	File string
	// Event is the number of whole events before the damage.
	Event int
	Path  string
	Err   error // what is wrong, with neither the id nor the path; never nil
}

// ProblemKind is what is wrong.
type ProblemKind uint8

// The kinds of problems.
const (
	// Unreadable: it could not be read at all, and is left out.
	Unreadable ProblemKind = iota
	// Duplicate: another directory with the same id is read instead.
	Duplicate
	// BadMetadata: the record that lists it cannot be used. It is left out, unless
	// it was asked for by its id.
	BadMetadata
	// BadField: one field is not usable, and counts as missing.
	BadField
	// DamagedEvents: its events end early; those before were used.
	DamagedEvents
	// Outside: it is, or has, a link that leads out of its store, and is left out.
	Outside
	// Linked: it is a link where only directories are read, and is left out.
	Linked
	// Vanishing: it is renamed or removed again and again, and is left out.
	Vanishing
	// Reported: an external program reports it, in words that are not searched for a
	// meaning.
	Reported
	// SwitchedOff: the user's settings have it that this kind of store, which was asked
	// for by name, is not read.
	SwitchedOff
	// TooLarge: some of its events are larger than what is read, and left out.
	TooLarge
	// Unnamed: File is a database in the project that its user has not named, so that it is
	// not read.
	Unnamed
)

// NotFoundError is the error for ids that no conversation has.
type NotFoundError struct {
	IDs     []transcript.ID
	Nearest []transcript.ID // those there are that are spelled most alike, best first
	Place   string          // the project, a path; empty where it is all of them
	Unread  []Problem       // stores that could not be read, and may have them
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("conversations %q not found", e.IDs) }

// BadIDError is the error for text that is not the id of a conversation in any
// store.
type BadIDError struct {
	Text   string // as given, shortened when long
	Reason string // what is wrong, and what was expected
}

func (e *BadIDError) Error() string {
	return fmt.Sprintf("invalid conversation id %q: %s", e.Text, e.Reason)
}

// NoWorkspaceError is the error where there is no workspace to look in.
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
	Event int // number of whole events before the damage
	Err   error
}

func (e *DamageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// CopyTooLargeError is the error for a database that has to be copied to be read, because its
// owner has not put all of it into one file, and that is too large for that.
type CopyTooLargeError struct{ Size, Most int64 } // bytes

func (e *CopyTooLargeError) Error() string {
	const mega = 1 << 20
	return fmt.Sprintf("it is in use and has to be copied to be read, and its %d MB are more than the %d MB that are copied", e.Size/mega, e.Most/mega)
}

// ForModel is what a model is told.
func (e *CopyTooLargeError) ForModel() string { return e.Error() }
