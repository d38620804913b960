package conversations

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/settings"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/trust"
)

// What stores and their readers have in common with a Source.
type (
	// NotFoundError is the error for ids that no conversation has.
	NotFoundError = store.NotFoundError
	// BadIDError is the error for text that is not the id of a conversation in any
	// store.
	BadIDError = store.BadIDError
	// NoWorkspaceError is the error where there is no workspace to look in.
	NoWorkspaceError = store.NoWorkspaceError
	// OutsideError is the error for what a project's own files name outside of the
	// project, which the user has not allowed. Its Hint names the setting.
	OutsideError = trust.OutsideError
	// SettingsError is the error for the user's settings about stores that cannot be used.
	SettingsError = settings.Error
	// MissingDatabaseError is the error for a database that the environment names and that
	// does not exist.
	MissingDatabaseError = chatgpt.MissingError
	// Problem is why a conversation, or a part of one, could not be used. Nothing in
	// it but Path and Err repeats what is recorded or the name of a file: those two
	// are for people.
	Problem = store.Problem
	// ProblemKind is what is wrong.
	ProblemKind = store.ProblemKind
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

// TurnRangeError is the error for a turn that a conversation does not have.
type TurnRangeError struct {
	ID    transcript.ID
	Turn  int
	Turns int // of the conversation
}

func (e *TurnRangeError) Error() string { return fmt.Sprintf("turn %d of %d", e.Turn, e.Turns) }

// EventRangeError is the error for a number that no event of a conversation has.
type EventRangeError struct {
	ID     transcript.ID
	Number int
	Events int // numbered events of the conversation
}

func (e *EventRangeError) Error() string { return fmt.Sprintf("event %d of %d", e.Number, e.Events) }

// PatternError is the error for a pattern that cannot be searched for.
type PatternError struct {
	Reason PatternReason
	Err    error // of the regular expression's parser, or nil
}

// PatternReason is what is wrong with a pattern.
type PatternReason uint8

// The reasons.
const (
	PatternEmpty PatternReason = iota
	PatternHasNUL
	PatternHasLines
	PatternNotUTF8
	PatternSyntax // of a regular expression
	PatternTooLarge
)

func (e *PatternError) Error() string {
	return fmt.Sprintf("bad pattern (reason %d): %v", e.Reason, e.Err)
}
func (e *PatternError) Unwrap() error { return e.Err }

// UnavailableError is the error where conversations cannot be got at all: a store
// that cannot be read, a program that fails or prints something else than it
// should.
type UnavailableError struct {
	// Program is the external program that failed, a file name or a path; empty
	// where it is a store. Setting is the environment variable it is configured in,
	// if any.
	Program, Setting string
	// Exit is the exit code it ended with, where that is not one of an answer; 0
	// where it did not come to that.
	Exit int
	// Said is what it printed on standard error: a stranger's words, made safe to
	// show, and never searched for a meaning.
	Said string
	Path string // of a store
	// Lacks is the part of what is asked of a conversation command line that Program
	// does not do, where that is a jp; zero where it is another program, or fails in
	// another way.
	Lacks ContractPart
	// Transient reports whether the same query may work later.
	Transient bool
	// Err is the cause: an [*OutputError] where the program printed something else
	// than it should.
	Err error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("conversations are unavailable: %v", e.Err)
}
func (e *UnavailableError) Unwrap() error { return e.Err }

// ContractPart is a part of what is asked of a conversation command line.
type ContractPart struct {
	Command string // "ls", "grep" or "print"; empty for no part
	// Flags reports whether it is the flags of the command; else it is the records
	// that it prints.
	Flags bool
}

// OutputError is what is wrong with the output of an external program.
type OutputError struct {
	Reason string // safe to show
	Err    error  // of the decoder, or nil
}

func (e *OutputError) Error() string { return "not the records that were expected: " + e.Reason }
func (e *OutputError) Unwrap() error { return e.Err }

// ErrUnsupported is the error for a query that an external program cannot be
// asked.
var ErrUnsupported = errors.New("the external program cannot be asked this")

// UnreadableError is the error for a conversation that is there, but whose events
// cannot be read.
type UnreadableError struct{ Problem }

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("reading conversation %s: %v", e.ID, e.Err)
}
func (e *UnreadableError) Unwrap() error { return e.Err }

// NoConversationError is the error of a [ReadQuery] without an id where there is
// no live conversation.
type NoConversationError struct {
	Place string // the project, a path; empty where it is all of them
}

func (e *NoConversationError) Error() string { return "there is no live conversation in " + e.Place }
