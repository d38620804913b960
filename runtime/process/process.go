// Package process runs other programs for this one: [Exec] runs a [Command] under [Limits] and fails with an [Error].
//
// Output and arguments of a command are untrusted. The package bounds time and bytes, uses no shell, and leaves no
// process running. It must never interpret an argument, an output or an exit code, or give a command the terminal.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// The defaults of [Limits].
const (
	DefaultTimeout = 30 * time.Second
	DefaultStdout  = 64 << 20 // bytes
	DefaultStderr  = 64 << 10 // bytes
	DefaultGrace   = 500 * time.Millisecond
)

// A Runner runs a command to its end. [Exec] is the real one; tests have others.
type Runner interface {
	// Run runs cmd and returns its output and its exit code. An exit code other than 0 is a result, not an error: only the
	// caller knows which codes are fine. Every error is an [*Error], with an empty Result.
	Run(ctx context.Context, cmd Command) (Result, error)
}

// A Command is a program, its input and its limits.
type Command struct {
	// Path is a path, or a file name that is looked up in PATH. A relative path starts at this process's working
	// directory and not at Dir, so that a directory never decides which program runs.
	Path string
	Args []string // after the program's name; without NUL bytes
	Dir  string   // the working directory; empty for this process's own
	Env  []string // the whole environment as NAME=value; nil for [DefaultEnv]()
	// Stdin is the whole standard input; nil for none.
	Stdin []byte
	// Output gets the standard output as it comes, in place of [Result].Stdout and without Limits.Stdout. A Write that
	// returns [ErrEnough] stops the command, which is not an error of the run.
	Output io.Writer
	Limits Limits
}

// ErrEnough is the error of a [Command].Output that needs no more.
var ErrEnough = errors.New("no more output is needed")

// Limits bounds one run. A zero field is its default.
type Limits struct {
	Timeout time.Duration // of the run; an earlier deadline of the context wins
	// Stdout is the number of bytes that the command may print. One more is an error: a part cannot be parsed.
	Stdout int64
	// Stderr is the number of bytes of standard error that are kept, half from the start and half from the end.
	Stderr int64
	// Grace is the time from asking to end to killing, and that for processes left behind to close the output.
	Grace time.Duration
}

// A Result is the output of a command that ran to its end. If a process that the command has left still had the output
// open after Grace, the result has the output until then.
type Result struct {
	Stdout   []byte
	Stderr   []byte // see [Limits]; not safe to show as it is
	ExitCode int
	Enough   bool // the command was stopped with [ErrEnough], and has no exit code
}

func (l Limits) withDefaults() Limits {
	l.Timeout = cmp.Or(l.Timeout, DefaultTimeout)
	l.Stdout = cmp.Or(l.Stdout, DefaultStdout)
	l.Stderr = cmp.Or(l.Stderr, DefaultStderr)
	l.Grace = cmp.Or(l.Grace, DefaultGrace)
	return l
}

// apply returns the context of one run, which ends with its parent, after the time limit, or with stop. The cause of
// the context says which of these ended it.
func (l Limits) apply(parent context.Context) (limited context.Context, stop context.CancelCauseFunc) {
	timed, stopTimer := context.WithTimeoutCause(parent, l.Timeout, errTimeLimit)
	limited, cancel := context.WithCancelCause(timed)
	return limited, func(cause error) {
		cancel(cause)
		stopTimer()
	}
}

// validate returns an error if the command has no program, or an argument with a NUL byte, which would end it.
func (c Command) validate() error {
	if strings.TrimSpace(c.Path) == "" {
		return c.failure(BadArgument, nil, "no program is named", "give the program's name or path")
	}
	for i, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return c.failure(BadArgument, nil, fmt.Sprintf("argument %d holds a NUL byte, which no program can be given", i+1), "remove it")
		}
	}
	return nil
}
