package output

import (
	"bytes"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// ExitFailure is what an exit code means that is not one of an answer.
type ExitFailure struct {
	Exit      int
	Reason    string // the cause and what to do about it
	Caller    bool   // the caller can put it right by calling differently
	Transient bool   // the same call may work later
}

// maxComplaint is how many characters of a program's own complaint an error shows.
const maxComplaint = 2000

// CommandFailed is the error for a command line that ended with an exit code its tool
// does not accept, with the reason that failures declares for the code. What the
// program printed on standard error, or else on standard output, is shown with
// everything hidden in it made visible, and without the middle of a long text.
func CommandFailed(tool, cli string, result contract.CommandResult, failures ...ExitFailure) error {
	failure := &contract.Error{Message: "The command line " + strconv.Quote(cli) + " that " + tool + " runs ended with exit code " + strconv.Itoa(result.Exit)}
	for _, f := range failures {
		if f.Exit == result.Exit {
			failure.Message = f.Reason + " " + failure.Message
			failure.Caller, failure.Transient = f.Caller, f.Transient
		}
	}
	said := result.Stderr
	if len(bytes.TrimSpace(said)) == 0 {
		said = result.Stdout
	}
	if len(bytes.TrimSpace(said)) == 0 {
		failure.Message += " and said nothing about why."
	} else {
		failure.Message += " and said:\n" + text.Visible(text.CutMiddle(string(bytes.TrimRight(said, "\r\n")), maxComplaint))
	}
	return failure
}
