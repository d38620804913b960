package recall

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// maxSaid is how many characters of standard error an error shows.
const maxSaid = 2000

// source is the program behind a command line. The built-in one speaks for
// itself; what any other says is shown as what it said, with the setting that
// chose it, where there is one.
type source struct {
	external bool
	setting  string // sentences about it
	paths    bool   // what it says is shown with its paths
}

func (s source) blame(message string) string {
	if s.setting == "" {
		return message
	}
	return message + " " + s.setting
}

// unreadable is the error for output that is not the JSON agreed on.
func (s source) unreadable(err error, stdout, stderr []byte) error {
	message := "The conversation command line did not print what was expected, one JSON array of records: " + mismatch(err, stdout) + "."
	if said := s.saying(stderr); said != "" {
		message += " It said: " + said
	}
	return &contract.Error{Message: s.blame(message), Err: err}
}

// notRun is the error for a command line that could not be run to its end.
func (s source) notRun(err error) error {
	var e *contract.Error
	if s.paths || !errors.As(err, &e) {
		return err
	}
	shown := *e
	shown.Message = contract.WithoutPaths(e.Message)
	shown.Trace = slices.Clone(e.Trace)
	for i, cause := range shown.Trace {
		shown.Trace[i] = contract.WithoutPaths(cause)
	}
	return &shown
}

// failed is the error for a command line that gave up. What it says went wrong
// is good enough for a model; what to do about it has to be said in terms of the
// tools, not of command line flags.
func (s source) failed(tool string, exit int, stderr []byte) error {
	said := s.saying(stderr)
	if said == "" {
		return &contract.Error{Message: s.blame(fmt.Sprintf("The conversation command line gave up with exit code %d and said nothing.", exit))}
	}
	// Larger numbers are read as the largest there is, which nobody asked for.
	message := strings.Replace(said, fmt.Sprintf("Turn %d out of range", math.MaxInt), "There is no such turn: it is out of range", 1)
	if s.external {
		message = s.blame(fmt.Sprintf("The conversation command line gave up with exit code %d and said: %s", exit, message))
	}
	if advice := remedy(tool, said); advice != "" {
		message += " " + advice
	}
	return &contract.Error{Message: message, Caller: exit == 1 || exit == 2}
}

// remedy is what the caller of a tool can do about the complaints the command
// line is known to make.
func remedy(tool, said string) string {
	said = strings.ToLower(said)
	switch {
	case strings.Contains(said, "invalid conversation id"), strings.Contains(said, "not found"):
		return "conversation_list shows the ids there are; archived=true shows those of archived conversations."
	case tool == "conversation_read" && strings.Contains(said, "out of range"):
		return "Turns count from 1; last=1 reads the last one."
	default:
		return ""
	}
}

// saying makes sentences of what a command line wrote to standard error.
// Warnings are about what it did all the same, and its hints name flags that
// the caller of a tool does not have, save the ids near to one that is unknown.
// A tool works in one workspace: where that is, and other absolute paths, are
// for people only.
func (s source) saying(stderr []byte) string {
	var sentences []string
	for line := range strings.Lines(process.Printable(stderr, maxSaid)) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "error: ")
		if strings.HasPrefix(line, "warning: ") {
			continue
		}
		if hint, ok := strings.CutPrefix(line, "hint: "); ok {
			if !strings.HasPrefix(hint, "nearest ids") {
				continue
			}
			line = hint
		}
		line = sentence(line)
		if !s.paths {
			line = forModel(line)
		}
		if line != "" {
			sentences = append(sentences, line)
		}
	}
	return strings.Join(sentences, " ")
}

// forModel is a sentence without the absolute paths in it.
func forModel(s string) string {
	const unknown = " not found in "
	if what, place, ok := strings.Cut(s, unknown); ok && contract.WithoutPaths(place) != place {
		s = what + unknown + "this workspace."
	}
	return contract.WithoutPaths(s)
}

// sentence gives text a capital and a full stop. Text that begins with
// something other than a word, such as an id or a path, keeps its spelling.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	word, _, _ := strings.Cut(s, " ")
	if !strings.ContainsFunc(strings.TrimRight(word, ".,:;"), func(r rune) bool { return !unicode.IsLower(r) }) {
		s = capital(s)
	}
	if !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
