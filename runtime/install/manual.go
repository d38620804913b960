package install

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/configedit"
)

// ManualError is the error for a file that was not changed, with the reason, the fix, and the text to write by hand.
type ManualError struct {
	Path string // empty for a file that was only read
	Err  error
	Fix  string // what a person does before another try, without a full stop; or empty
	// Snippet is the text that a person can write into the file, and Where the place; empty if that would not help.
	Where, Snippet string

	byHand bool // a person can write into the file although this program cannot
}

func (e *ManualError) Error() string {
	if e.Path == "" { // the file was only read
		return e.Err.Error()
	}
	return fmt.Sprintf("%s was left alone: %v", e.Path, e.Err)
}

func (e *ManualError) Unwrap() error { return e.Err }

// leftAlone returns the error for the file at path, which is not changed because of err. If err is a *ManualError, it sets
// the path of err and returns err.
func leftAlone(path string, err error) *ManualError {
	if manual, ok := errors.AsType[*ManualError](err); ok {
		manual.Path = path
		return manual
	}
	manual := &ManualError{Path: path, Err: err}
	if conflict, ok := errors.AsType[*configedit.ConflictError](err); ok {
		manual.Fix = conflict.Fix
	}
	if _, ok := errors.AsType[*configedit.SyntaxError](err); ok {
		manual.Fix, manual.byHand = "correct that place", true
	}
	return manual
}

// addByHand sets Snippet to the text of an entry at path with the members, and Where to the place for this text. It
// does nothing if byHand is false: then a person cannot write into the file.
func (e *ManualError) addByHand(format configedit.Format, path []string, members []configedit.Member) {
	if !e.byHand {
		return
	}
	e.Where, e.Snippet = "put this at the end of the file", configedit.Snippet(format, path, members)
	if format != configedit.TOML { // the text is the member path[0]; a file that has this member gets only what is inside of the text
		e.Where = fmt.Sprintf("put this between the outermost braces, with commas between what is there; where there is a %q already, what is inside of this one goes into that", path[0])
	}
}
