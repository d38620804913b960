package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
)

// Command is one run of a command line.
type Command struct {
	CLI  string // as tools.toml names it
	Args []string
	// Stdin is the whole standard input. Nil means none.
	Stdin []byte
	// Env is what a tool adds to the environment, as NAME=value.
	Env []string
	// Dir is the working directory: a slash-separated path below the directory that
	// the call comes from. Empty means that directory.
	Dir string
	// Timeout is how long the program may run. Zero means the limit of who runs it.
	Timeout time.Duration
}

// CommandResult is what a program that ran to its end left.
type CommandResult struct {
	Stdout, Stderr []byte
	Exit           int
}

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
func CommandFailed(tool, cli string, result CommandResult, failures ...ExitFailure) error {
	failure := &Error{Message: "The command line " + strconv.Quote(cli) + " that " + tool + " runs ended with exit code " + strconv.Itoa(result.Exit)}
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

// DecodeRecords reads what a command line printed into records, a pointer to a
// slice: either one JSON array, or one JSON object with the array as its member
// "data" beside "format" and "version". Anything less than one whole value, or
// more, is an error: half an answer must not look like a short one.
func DecodeRecords(tool, cli string, stdout []byte, records any) error {
	return DecodeOutput(tool, cli, Output{}, stdout, records)
}

func recordArray(stdout []byte) (json.RawMessage, error) {
	value, err := oneValue(stdout)
	if err != nil {
		return nil, err
	}
	switch value[0] {
	case '[':
		return value, nil
	case '{':
		var document struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(value, &document); err != nil {
			return nil, err
		}
		if len(document.Data) > 0 && document.Data[0] == '[' {
			return document.Data, nil
		}
		return nil, errors.New(`it printed an object without an array named "data"`)
	default:
		return nil, errors.New("it printed a single value and no array")
	}
}

// oneValue reads text that is one JSON value, whole.
func oneValue(stdout []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(stdout)) == 0 {
		return nil, errors.New("it printed nothing")
	}
	dec := json.NewDecoder(bytes.NewReader(stdout))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	end := dec.InputOffset()
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more text after the JSON value, from byte %d", end)
	}
	return value, nil
}

func reason(err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON text ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Sprintf("%s is a JSON %s where %s is expected", text.Quote(mismatch.Field), mismatch.Value, goKind(mismatch))
	case errors.As(err, &mismatch):
		return fmt.Sprintf("a record is a JSON %s", mismatch.Value)
	default:
		return err.Error()
	}
}

func goKind(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "int":
		return "an integer"
	case "bool":
		return "a boolean"
	case "slice":
		return "an array"
	default:
		return "a string"
	}
}

// LeftOut is the note of an answer that had to leave records out to keep to its
// size cap.
func LeftOut(kept, all, maxChars int) string {
	return fmt.Sprintf("Showing %d of %d records: the rest would take this answer over its limit of %d characters. Ask for less to see more of it.", kept, all, maxChars)
}

// MiddleLeftOut is the note of an answer that had to leave out the middle of a text to
// keep to its size cap.
func MiddleLeftOut(kept, all, maxChars int) string {
	return fmt.Sprintf("Showing %d of %d characters, from the beginning and the end: the middle would take this answer over its limit of %d characters. Ask for less to see more of it.", kept, all, maxChars)
}

// NothingFits is the error for an answer whose frame alone is over its size cap.
func NothingFits(tool string, maxChars int) error {
	return &Error{Message: fmt.Sprintf("The answer of %s does not fit into its limit of %d characters even without records. Shorten the arguments that it repeats.", tool, maxChars)}
}
