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
	"context"
	"fmt"
	"math"
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

// A Runner runs a command to its end. [Exec] is the real one; package processtest
// has a scripted one for tests.
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

	Limits Limits
}

// Limits bounds one run. A zero field means its default; negative is an error.
type Limits struct {
	// Timeout is how long the command may run. A sooner deadline of the context
	// wins.
	Timeout time.Duration

	// Stdout is how many bytes the command may print. One more ends it: half an
	// output is worth nothing to whoever parses it.
	Stdout int64

	// Shared is what the command may print together with others that have the
	// same budget. Nil sets no such bound.
	Shared *Budget

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

// A Result is what a command that ran to its end left.
type Result struct {
	Stdout []byte // complete

	// Stderr is what was printed to standard error, with a line in the middle
	// saying how much is missing if StderrTruncated. Not safe to show as it is:
	// see [text.Visible].
	Stderr          []byte
	StderrTruncated bool

	ExitCode int

	// OutputHeldOpen reports whether a process the command had started still held
	// its output open when Grace had passed after the command's end. Stdout and
	// Stderr then hold what was printed until that moment.
	OutputHeldOpen bool
}

func (l Limits) withDefaults() Limits {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Stdout == 0 {
		l.Stdout = DefaultStdout
	}
	if l.Stderr == 0 {
		l.Stderr = DefaultStderr
	}
	if l.StderrTotal == 0 {
		l.StderrTotal = DefaultStderrTotal
	}
	if l.Grace == 0 {
		l.Grace = DefaultGrace
	}
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
		return c.badArgument("no program is named", "give the program's name or path")
	}
	if strings.ContainsRune(c.Path, 0) {
		return c.badArgument("the program's path holds a NUL byte", "remove it")
	}
	for i, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return c.badArgument(fmt.Sprintf("argument %d holds a NUL byte, which no program can be given", i+1), "remove it")
		}
	}
	if strings.ContainsRune(c.Dir, 0) {
		return c.badArgument("the working directory's path holds a NUL byte", "remove it")
	}
	for i, entry := range c.Env {
		if strings.ContainsRune(entry, 0) {
			return c.badArgument(fmt.Sprintf("environment entry %d holds a NUL byte", i+1), "remove it")
		}
		if !strings.Contains(entry, "=") {
			return c.badArgument(fmt.Sprintf("environment entry %d has no =", i+1), "write it as NAME=value")
		}
	}
	l := c.Limits
	if l.Timeout < 0 || l.Stdout < 0 || l.Stderr < 0 || l.StderrTotal < 0 || l.Grace < 0 {
		return c.badArgument("a limit is negative", "leave it at zero for the default")
	}
	if l.Stderr > math.MaxInt32 {
		return c.badArgument("the limit for stderr is over 2 GiB", "choose a smaller one")
	}
	return nil
}

// within reports whether every event happens before the timer fires.
func within(timer <-chan time.Time, events ...<-chan struct{}) bool {
	for _, event := range events {
		select {
		case <-event:
		case <-timer:
			return false
		}
	}
	return true
}

// happened reports whether the event has already happened.
func happened(event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	default:
		return false
	}
}
