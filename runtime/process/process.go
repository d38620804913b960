// Package process is the one way this program runs another: [Exec] runs a
// [Command] under [Limits] and fails with an [Error].
//
// Everything a command prints is untrusted, and so are its arguments. This
// package bounds both time and bytes, starts programs without a shell, and
// leaves nothing running behind. It must never interpret an argument, guess at
// what a command meant by its output or its exit code, or hand a command the
// terminal.
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

// What a zero field of [Limits] means.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultStdout      = 64 << 20 // bytes
	DefaultStderr      = 64 << 10 // bytes
	DefaultStderrTotal = 64 << 20 // bytes
	DefaultGrace       = 500 * time.Millisecond
)

// A Runner runs a command to its end. [Exec] is the real one; tests have others.
type Runner interface {
	// Run runs cmd and returns what it printed and its exit code. An exit code
	// other than 0 is a result, not an error: only the caller knows which codes
	// are fine. Every error is an [*Error], and the Result next to it is empty.
	// Nothing of cmd is used after Run has returned.
	Run(ctx context.Context, cmd Command) (Result, error)
}

// A Command says what to run, with which input, and how much of everything it
// may use.
type Command struct {
	// Path names the program: a file name that is looked up in PATH, or a path.
	// A relative path starts at this process's working directory, not at Dir,
	// so that a directory being looked at never decides which program runs.
	Path string

	// Args are the arguments after the program's name, handed over as they are.
	// They must not hold NUL bytes.
	Args []string

	// Dir is the working directory. Empty means this process's own.
	Dir string

	// Env is the whole environment as NAME=value. Nil means [DefaultEnv]().
	Env []string

	// Stdin is the whole standard input. Nil means none: the command reads end
	// of file at once.
	Stdin []byte

	// Output gets what the command prints, as it comes, in the place of
	// [Result].Stdout, and Limits.Stdout bounds it no more. The command is stopped
	// where a Write returns [ErrEnough], which is no error of the run.
	Output io.Writer

	Limits Limits
}

// ErrEnough is what a [Command].Output returns that needs no more.
var ErrEnough = errors.New("no more output is needed")

// Limits bounds one run. A zero field means its default.
type Limits struct {
	// Timeout is how long the command may run. A sooner deadline of the context
	// wins.
	Timeout time.Duration

	// Stdout is how many bytes the command may print. One more ends it: half an
	// output is worth nothing to whoever parses it.
	Stdout int64

	// Stderr is how many bytes of standard error are kept, half from the start
	// and half from the end. Printing more is no error.
	Stderr int64

	// StderrTotal is how many bytes of standard error the command may print. One
	// more ends it: it complains without end.
	StderrTotal int64

	// Grace is the time between asking a command to stop and killing it, and
	// the time that processes it leaves behind have to close its output.
	Grace time.Duration
}

// A Result is what a command that ran to its end left. Where a process that it had
// started still held its output open when Grace had passed, the output is what
// was printed until then.
type Result struct {
	Stdout   []byte
	Stderr   []byte // see [Limits]; not safe to show as it is
	ExitCode int
	// Enough reports whether the command was stopped with [ErrEnough]; there is no
	// exit code then.
	Enough bool
}

func (l Limits) withDefaults() Limits {
	l.Timeout = cmp.Or(l.Timeout, DefaultTimeout)
	l.Stdout = cmp.Or(l.Stdout, DefaultStdout)
	l.Stderr = cmp.Or(l.Stderr, DefaultStderr)
	l.StderrTotal = cmp.Or(l.StderrTotal, DefaultStderrTotal)
	l.Grace = cmp.Or(l.Grace, DefaultGrace)
	return l
}

// apply derives the context one run lives in: it ends with the parent, when the
// time limit has passed, or when stop is called. Its cause says which.
func (l Limits) apply(parent context.Context) (limited context.Context, stop context.CancelCauseFunc) {
	timed, stopTimer := context.WithTimeoutCause(parent, l.Timeout, errTimeLimit)
	limited, cancel := context.WithCancelCause(timed)
	return limited, func(cause error) {
		cancel(cause)
		stopTimer()
	}
}

// validate finds what would make the command mean something else than the
// caller wrote, before anything is started.
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
