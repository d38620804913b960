package commandline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// maxComplaint is how many characters of a program's own complaint an error shows.
const maxComplaint = 2000

// runs begins a sentence about what a tool runs.
func (t *Tool) runs() string {
	return "The command line " + strconv.Quote(t.Command.Line) + " that " + t.Name + " runs "
}

// failed is the error for a command line that ended with an exit code the tool does not
// accept, with the reason that the spec has for it. What the program printed on standard
// error, or else on standard output, is shown with everything hidden in it made visible,
// and without the middle of a long text.
func (t *Tool) failed(exit int, stderr []byte, stdout *ends) error {
	failure := &contract.Error{Message: t.runs() + "ended with exit code " + strconv.Itoa(exit)}
	for _, f := range t.Command.Failures {
		if slices.Contains(f.Exit, exit) {
			failure.Message = f.Reason + " " + failure.Message
			failure.Caller, failure.Transient = f.Caller, f.Transient
		}
	}
	said := text.CutMiddle(string(stderr), maxComplaint)
	if strings.TrimSpace(said) == "" {
		said = stdout.cut(maxComplaint)
	}
	if strings.TrimSpace(said) == "" {
		failure.Message += " and said nothing about why."
	} else {
		failure.Message += " and said:\n" + text.Visible(strings.TrimRight(said, "\r\n"))
	}
	return failure
}

// misprinted is the error for output that is not of the form it should have: half an
// answer must not look like a short one.
func (t *Tool) misprinted(err error) error {
	failure := &contract.Error{Message: t.runs() + "did not print the records it should: " + reason(err) + ".", Err: err}
	if errors.Is(err, errNothing) {
		failure.Detail = failure.Message + " If that means that there are none, its spec says so with may_be_absent = true in [command.output]."
	}
	return failure
}

func reason(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the JSON text ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	default:
		return err.Error()
	}
}

// tooLong is the error for an answer that does not fit, even with as little in it as
// there can be.
func (t *Tool) tooLong(what string) error {
	return &contract.Error{Message: fmt.Sprintf("The answer of %s does not fit into its limit of %d characters: %s.%s", t.Name, t.MaxChars, what, t.askForLess()), Caller: true}
}

// askForLess ends a remark about what was left out.
func (t *Tool) askForLess() string {
	if t.Narrow == "" {
		return " Ask for less to see more of it."
	}
	return " Ask for less with " + t.Narrow + " to see more of it."
}
