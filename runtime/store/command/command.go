// Package command gets conversations from an outside conversation command line, such as
// another version of this program: which there are from its "ls", and their events from
// its "print". It is the only place with such a program's arguments and its JSON.
//
// It never lets what is recorded choose the program or become a flag of it, and never
// searches what the program says for a meaning: of a run that fails only the exit code
// counts. What is printed is checked before anybody sees it, and bounded.
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

// Limits on what a program may use.
const (
	timeout   = 60 * time.Second
	maxStdout = 64 << 20 // bytes of one run
	maxRuns   = 2        // at one time: each holds what it prints
	maxSaid   = 2000     // characters of standard error that an error repeats
)

// Options says which program it is.
type Options struct {
	// Line is the program and its first words, quoted as in a shell.
	Line string
	// Setting is the environment variable that Line was read from, if any.
	Setting string
	Runner  process.Runner
	// ParseID reads the id of a conversation, whichever kind of store it is of, and SourceOf
	// returns the name of that kind; empty for JP.
	ParseID  func(text string) (transcript.ID, error)
	SourceOf func(transcript.ID) string
}

// Program is a configured program. It is safe for concurrent use. A process should have
// one of each: how many runs there are at one time is bounded.
type Program struct {
	options Options
	runs    chan struct{} // holds an element for each
}

// New returns the program that options name.
func New(o Options) *Program { return &Program{options: o, runs: make(chan struct{}, maxRuns)} }

// In returns the conversations that the program finds when it is run in a directory, which
// is absolute.
func (p *Program) In(dir string) *Store { return &Store{program: p, dir: dir} }

// Error is why a program has not told what it was asked.
type Error struct {
	// Program is a file name or a path; empty where Setting holds no command line.
	Program, Setting string
	// Command is what it was asked: "ls" or "print".
	Command string
	// IsJP reports whether it is JP itself, which has the same commands, and not yet all of
	// what is asked of them.
	IsJP bool
	// Exit is the exit code it ended with, where that is not 0.
	Exit int
	// Said is what it printed on standard error: a stranger's words, made safe to show.
	Said string
	// Transient reports whether the same question may be answered later.
	Transient bool
	// Err is the cause: a [*process.Error] where it was not run to its end, an [*OutputError]
	// where it printed something else than it should, and nil where Exit says it.
	Err error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("exit code %d: %s", e.Exit, text.Line(e.Said))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// OutputError is what is wrong with the output of a program.
type OutputError struct {
	Reason string // safe to show
}

func (e *OutputError) Error() string { return "not the records that were expected: " + e.Reason }

// Lacks reports whether the program is a JP that does not do what is asked of it: it does not
// know the flags, where Exit is not 0, or prints other records.
func (e *Error) Lacks() bool {
	const unknownFlags = 2
	var output *OutputError
	return e.IsJP && (e.Exit == unknownFlags || errors.As(e.Err, &output))
}

// isJP reports whether a program is JP itself.
func isJP(program string) bool {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.EqualFold(strings.TrimSuffix(base, ".exe"), "jp")
}

// output is what a program printed.
type output struct {
	stdout  []byte
	failure Error // if that is not what it should be
}

// run runs the program with a command.
func (s *Store) run(ctx context.Context, command string, args ...string) (output, error) {
	o := &s.program.options
	words, err := process.SplitCommand(o.Line)
	if err != nil {
		return output{}, &Error{Setting: o.Setting, Err: err}
	}
	select {
	case s.program.runs <- struct{}{}:
		defer func() { <-s.program.runs }()
	case <-ctx.Done():
		return output{}, ctx.Err()
	}
	result, err := o.Runner.Run(ctx, process.Command{
		Path:   words[0],
		Args:   append(append(words[1:len(words):len(words)], "conversation", command, "--format=json"), args...),
		Dir:    s.dir,
		Env:    process.DefaultEnv("JP_*"),
		Limits: process.Limits{Timeout: timeout, Stdout: maxStdout},
	})
	failure := Error{Program: words[0], Setting: o.Setting, Command: command, IsJP: isJP(words[0]), Exit: result.ExitCode, Said: said(result.Stderr), Err: err}
	var stopped *process.Error
	if errors.As(err, &stopped) {
		failure.Said = said(stopped.Stderr)
		failure.Transient = stopped.Kind == process.Timeout || stopped.Kind == process.Canceled
	}
	if err != nil || result.ExitCode != 0 {
		return output{}, &failure
	}
	return output{result.Stdout, failure}, nil
}

// said makes what a program wrote to standard error safe to show.
func said(stderr []byte) string {
	return strings.TrimSpace(text.Visible(text.CutMiddle(string(stderr), maxSaid)))
}

// wrong is the error for output that is not what was asked for.
func (o *output) wrong(format string, args ...any) error {
	failure := o.failure
	failure.Err = &OutputError{fmt.Sprintf(format, args...)}
	return &failure
}

// records returns the JSON array that the program printed, or that an object has as "data", with
// nothing behind it.
func (o *output) records() ([]byte, error) {
	c := jsontext.Cursor{Data: o.stdout}
	ok := c.Space()
	start := c.Pos
	if !ok || !c.Value(1) {
		return nil, o.wrong("%v, after %d bytes", c.Err(), c.Pos)
	}
	value := o.stdout[start:c.Pos]
	if value[0] == '{' {
		value = jsontext.Get(value, "data")
	}
	if c.Space() || len(value) == 0 || value[0] != '[' {
		return nil, o.wrong("it is no array, and no object with one as data, or there is more behind it")
	}
	n := 0
	for element := range jsontext.Elements(value) {
		if n++; element[0] != '{' {
			return nil, o.wrong("record %d is no object", n)
		}
	}
	return value, nil
}
