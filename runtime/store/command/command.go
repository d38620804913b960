// Package command gets conversations from an outside conversation command line, such as
// another version of this program: their list from its "ls", and their events from its
// "print". No other package knows the arguments and the JSON of such a program.
//
// What is recorded never chooses the program and never becomes a flag of it. What the program says is for people: if a
// run fails, only the exit code has a meaning. Its output is bounded, and checked before it is used.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Limits of a run.
const (
	timeout   = 60 * time.Second
	maxStdout = 64 << 20 // bytes
	maxSaid   = 2000     // characters of standard error that an error repeats
)

// Options says which program it is.
type Options struct {
	Line    string // the program and its first words, quoted as in a shell
	Setting string // the environment variable that Line comes from, if any
	Dir     string // the directory to run it in, an absolute path
	Runner  process.Runner
	// ParseID reads an id of any kind of store, and SourceOf returns the name of its kind; empty for JP.
	ParseID  func(text string) (transcript.ID, error)
	SourceOf func(transcript.ID) string
}

// Error is the error for a program that failed or printed something unexpected.
type Error struct {
	Program, Setting string // Program is a name or a path; empty if Setting is no command line
	Command          string // "ls" or "print"
	IsJP             bool   // whether it is JP itself, which has these commands without all of their flags
	Exit             int    // the exit code
	Said             string // the standard error of the program, made safe to show
	Transient        bool   // whether the same call may succeed later
	Output           string // what is wrong with its output, safe to show; empty if nothing is
	Err              error  // a [*process.Error] if the program did not run to its end, or nil
}

func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Output != "":
		return "not the records that were expected: " + e.Output
	}
	return fmt.Sprintf("exit code %d: %s", e.Exit, text.Line(e.Said))
}

func (e *Error) Unwrap() error { return e.Err }

// Lacks reports whether the program is a JP that does not know the flags of the command, or whose output is wrong.
func (e *Error) Lacks() bool {
	const unknownFlags = 2 // exit code
	return e.IsJP && (e.Exit == unknownFlags || e.Output != "")
}

func isJP(program string) bool {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.EqualFold(strings.TrimSuffix(base, ".exe"), "jp")
}

// output is the output of a successful run.
type output struct {
	stdout  []byte
	failure Error // without its Err
}

// run runs the program with a command of "conversation" and arguments, and returns its output. The error is an [*Error]:
// the program did not run to its end, or it returned an exit code other than 0.
func (s *Store) run(ctx context.Context, command string, args ...string) (output, error) {
	words, err := process.SplitCommand(s.Line)
	if err != nil {
		return output{}, &Error{Setting: s.Setting, Err: err}
	}
	result, err := s.Runner.Run(ctx, process.Command{
		Path:   words[0],
		Args:   append(append(words[1:len(words):len(words)], "conversation", command, "--format=json"), args...),
		Dir:    s.Dir,
		Env:    process.DefaultEnv("JP_*"),
		Limits: process.Limits{Timeout: timeout, Stdout: maxStdout},
	})
	failure := Error{Program: words[0], Setting: s.Setting, Command: command, IsJP: isJP(words[0]), Exit: result.ExitCode, Err: err}
	stderr := result.Stderr
	if stopped, ok := errors.AsType[*process.Error](err); ok { // the program did not run to its end: result is empty
		stderr = stopped.Stderr
		failure.Transient = stopped.Kind == process.Timeout || stopped.Kind == process.Canceled
	}
	failure.Said = strings.TrimSpace(text.Visible(text.CutMiddle(string(stderr), maxSaid)))
	if err != nil || result.ExitCode != 0 {
		return output{}, &failure
	}
	return output{result.Stdout, failure}, nil // failure names the command in an error about the output
}

// formError returns the [*Error] for output that has not the form that was asked for.
func (o *output) formError(format string, args ...any) error {
	failure := o.failure
	failure.Output = fmt.Sprintf(format, args...)
	return &failure
}

// records returns the JSON array of objects in the output: the whole output or, if that is an object, its member "data".
// The error, of [output.formError], says that the output is something else.
func (o *output) records() ([]byte, error) {
	c := jsontext.Cursor{Data: o.stdout}
	isEmpty := !c.Space()
	start := c.Pos
	if isEmpty || !c.Value(1) {
		return nil, o.formError("%v, after %d bytes", c.Err(), c.Pos)
	}
	value := o.stdout[start:c.Pos]
	if value[0] == '{' {
		value = jsontext.Get(value, "data")
	}
	hasMore := c.Space()
	if hasMore || len(value) == 0 || value[0] != '[' {
		return nil, o.formError("it is no array, and no object with one as data, or there is more behind it")
	}
	n := 0
	for element := range jsontext.Elements(value) {
		if n++; element[0] != '{' {
			return nil, o.formError("record %d is no object", n)
		}
	}
	return value, nil
}
