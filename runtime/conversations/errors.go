package conversations

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/transcript"
)

// NotFoundError is the error for ids that no conversation has.
type NotFoundError struct {
	IDs     []transcript.ID
	Nearest []transcript.ID // those there are that are spelled most alike, best first
	Place   string          // the workspace, a path
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

func (e *NoWorkspaceError) Error() string { return "no workspace at or above " + e.Dir }

// OutsideError is the error for what a project's own files name outside of the
// project, which the user has not allowed.
type OutsideError struct {
	Path   string // what the project names
	Target string // where it leads
	Root   string // the project
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s leads out of the project %s, to %s", e.Path, e.Root, e.Target)
}

// TurnRangeError is the error for a turn that a conversation does not have.
type TurnRangeError struct {
	ID    transcript.ID
	Turn  int
	Turns int // of the conversation
}

func (e *TurnRangeError) Error() string { return fmt.Sprintf("turn %d of %d", e.Turn, e.Turns) }

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

// ErrNoConversation is the error of a [ReadQuery] without an id where there is no
// live conversation.
var ErrNoConversation = errors.New("there is no live conversation")

// Problem is why a conversation, or a part of one, could not be used. Nothing in
// it but Path and Err repeats what is recorded or the name of a file: those two
// are for people.
type Problem struct {
	ID   transcript.ID // empty where it is a whole store
	Kind ProblemKind
	// Field names the recorded field that is wrong, such as "expires_at"; empty
	// where it is not one field.
	Field string
	// Event is the number of whole events before the damage.
	Event int
	Path  string
	Err   error // nil where Kind says all
}

// ProblemKind is what is wrong.
type ProblemKind uint8

// The kinds of problems.
const (
	// Unreadable: it could not be read at all.
	Unreadable ProblemKind = iota
	// Duplicate: another directory with the same id is read instead.
	Duplicate
	// BadMetadata: the record that lists it cannot be used.
	BadMetadata
	// BadField: one field is not usable, and counts as missing.
	BadField
	// DamagedEvents: its events end early; those before were used.
	DamagedEvents
	// Outside: it leads out of its store.
	Outside
	// Vanishing: it is renamed or removed again and again.
	Vanishing
	// Reported: an external program reports it, in words that are not searched for
	// a meaning.
	Reported
)
