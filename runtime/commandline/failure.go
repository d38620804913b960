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

// maxComplaint is the number of characters of a program's error message in an error.
const maxComplaint = 2000

// subject returns the subject of a sentence about the command line of a tool.
func (t *Tool) subject() string {
	return "The command line " + strconv.Quote(t.Command.Line) + " that " + t.Name + " runs "
}

// exitError returns the error for an exit code that the tool does not accept: the spec's reason for the exit code, and
// the standard error or, if that is blank, the standard output, without the middle of a long text.
func (t *Tool) exitError(exit int, stderr []byte, stdout *clippedText) error {
	failure := &contract.Error{Message: t.subject() + "ended with exit code " + strconv.Itoa(exit)}
	for _, f := range t.Command.Failures {
		if slices.Contains(f.Exit, exit) {
			failure.Message = f.Reason + " " + failure.Message
			failure.Caller, failure.Transient = f.Caller, f.Transient
		}
	}
	output := text.CutMiddle(string(stderr), maxComplaint)
	if strings.TrimSpace(output) == "" {
		output = stdout.cut(maxComplaint)
	}
	if strings.TrimSpace(output) == "" {
		failure.Message += " and said nothing about why."
	} else {
		failure.Message += " and said:\n" + text.Visible(strings.TrimRight(output, "\r\n"))
	}
	return failure
}

// outputError returns the error for output of the wrong form; err says what is wrong. The error takes the place of the
// answer, even if the first records were right: these alone would look like a whole answer.
func (t *Tool) outputError(err error) error {
	failure := &contract.Error{Message: t.subject() + "did not print the records it should: " + reason(err) + ".", Err: err}
	if errors.Is(err, errNothing) { // the author of the spec may have expected empty output
		failure.Detail = failure.Message + " If that means that there are none, its spec says so with may_be_absent = true in [command.output]."
	}
	return failure
}

// reason returns the end of a sentence about an error of reading output.
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

// tooLong returns the error for an answer that does not fit even in its shortest form.
func (t *Tool) tooLong(what string) error {
	return &contract.Error{Message: fmt.Sprintf("The answer of %s does not fit into its limit of %d characters: %s.%s", t.Name, t.MaxChars, what, t.askForLess()), Caller: true}
}

// askForLess returns the end of a note about omitted output.
func (t *Tool) askForLess() string {
	if t.Narrow == "" {
		return " Ask for less to see more of it."
	}
	return " Ask for less with " + t.Narrow + " to see more of it."
}
