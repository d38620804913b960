package install

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/configedit"
)

// ManualError is the error for a file that was not changed: the reason, the fix, and the text that its user can write
// into it instead.
type ManualError struct {
	Path string
	Err  error
	// Fix is the step before another try, without a full stop; or empty.
	Fix string
	// Where is the place for Snippet. Both are empty if writing into the file would not help.
	Where, Snippet string

	byHand bool // a person can still write into the file
}

func (e *ManualError) Error() string {
	return fmt.Sprintf("%s was left alone: %v", e.Path, e.Err)
}

func (e *ManualError) Unwrap() error { return e.Err }

// leftAlone returns the error for a file that is not changed because of err.
func leftAlone(path string, err error) *ManualError {
	e := &ManualError{Err: err}
	var conflict *configedit.ConflictError
	var syntax *configedit.SyntaxError
	switch {
	case errors.As(err, &e):
	case errors.As(err, &conflict):
		e.Fix = conflict.Fix
	case errors.As(err, &syntax):
		e.Fix, e.byHand = "correct that place", true
	}
	e.Path = path
	return e
}

// addByHand adds the text that a person can write into the file, if that helps.
func (e *ManualError) addByHand(format configedit.Format, path []string, members []configedit.Member) {
	if !e.byHand {
		return
	}
	e.Where, e.Snippet = "put this at the end of the file", configedit.Snippet(format, path, members)
	if format != configedit.TOML {
		e.Where = fmt.Sprintf("put this between the outermost braces, with commas between what is there; where there is a %q already, what is inside of this one goes into that", path[0])
	}
}
