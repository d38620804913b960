package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/install/internal/configedit"
)

// ManualError is the error for a file that was left alone: why, what to do about
// that, and what its user can write into it instead.
type ManualError struct {
	Path string
	Err  error
	// Fix is what to do before trying again, without a full stop; or empty.
	Fix string
	// Where is the place that Snippet has to go to. Both are empty when writing into the
	// file would not help.
	Where, Snippet string
}

func (e *ManualError) Error() string {
	return fmt.Sprintf("%s was left alone: %v", e.Path, e.Err)
}

func (e *ManualError) Unwrap() error { return e.Err }

// leftAlone returns the error for a file that is not changed because of err.
func leftAlone(path string, err error) *ManualError {
	e := &ManualError{Path: path, Err: err}
	var conflict *configedit.ConflictError
	var syntax *configedit.SyntaxError
	var blocked *obstacle
	switch {
	case errors.As(err, &conflict):
		e.Fix = conflict.Fix
	case errors.As(err, &syntax):
		e.Fix = "correct that place"
	case errors.As(err, &blocked):
		e.Fix = blocked.fix
	}
	return e
}

// addByHand adds what can be written into the file in place of the change that
// could not be made, in the form that fits what is there.
func (e *ManualError) addByHand(format configedit.Format, src []byte, path []string, members []configedit.Member) {
	var conflict *configedit.ConflictError
	var syntax *configedit.SyntaxError
	var blocked *obstacle
	inBraces := errors.As(e.Err, &conflict) && conflict.InBraces
	if !inBraces && !errors.As(e.Err, &syntax) && (!errors.As(e.Err, &blocked) || !blocked.byHand) {
		return
	}
	around, name := path[:len(path)-1], path[len(path)-1:]
	const commas = ", with commas between what is there"
	switch {
	case inBraces:
		e.Where = "put this between the braces of " + strings.Join(around, ".") + commas
		e.Snippet = configedit.MemberSnippet(format, name, members)
	case format == configedit.TOML:
		e.Where = "put this at the end of the file"
		e.Snippet = configedit.Snippet(format, path, members)
	case blocked != nil && len(bytes.TrimSpace(src)) == 0:
		e.Where = "write this into the file"
		e.Snippet = configedit.Snippet(format, path, members)
	case bytes.Contains(src, []byte(`"`+around[0]+`"`)): // as far as can be told
		e.Where = fmt.Sprintf("put this between the braces of %q%s", strings.Join(around, "."), commas)
		e.Snippet = configedit.MemberSnippet(format, name, members)
	default:
		e.Where = "put this between the outermost braces" + commas
		e.Snippet = configedit.MemberSnippet(format, path, members)
	}
}
