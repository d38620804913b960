package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"
)

// InProcess runs a function of this program as if it were a command: args are
// [Command.Args], and what it returns is the exit code. Command.Path only
// serves to name it in errors.
//
// A function has no working directory and no environment of its own, so a
// Command with Dir or Env set is a [BadArgument]: it should say the same in its
// arguments. The function must return soon after ctx ends. One that does not is
// abandoned when [Limits].Grace has passed: its goroutine goes on, but what it
// writes goes nowhere and fails. A panic in a goroutine that the function
// starts itself cannot be caught.
type InProcess func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Run implements [Runner].
func (f InProcess) Run(ctx context.Context, cmd Command) (Result, error) {
	if err := cmd.validate(); err != nil {
		return Result{}, err
	}
	if f == nil {
		return Result{}, cmd.badArgument("there is no function to run", "give the runner a function")
	}
	if cmd.Dir != "" || cmd.Env != nil {
		return Result{}, cmd.badArgument("a command that runs inside this process has no directory or environment of its own",
			"leave Dir and Env empty and pass the directory as an argument")
	}
	limits := cmd.Limits.withDefaults()
	limited, stop := limits.apply(ctx)
	defer stop(nil)
	if limited.Err() != nil {
		return Result{}, cmd.stopped(ctx, limited, limits, nil)
	}

	stdout := &cappedBuffer{limit: limits.Stdout, shared: limits.Shared, exceeded: stop}
	stderr := &headTail{limit: int(limits.Stderr), most: limits.StderrTotal, exceeded: stop}
	stdoutGate, stderrGate := &gate{w: stdout}, &gate{w: stderr}

	// Copies, because an abandoned function may still look at them later.
	args, stdin := slices.Clone(cmd.Args), bytes.NewReader(bytes.Clone(cmd.Stdin))

	var exitCode int
	failure := cmd.panicked("ended its goroutine instead of returning") // holds unless call returns
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		exitCode, failure = f.call(limited, cmd, args, stdin, stdoutGate, stderrGate)
	}()

	select {
	case <-returned:
	case <-limited.Done():
		within(time.After(limits.Grace), returned)
	}
	stdoutGate.close()
	stderrGate.close()
	defer stdout.release()

	if happened(returned) && failure != nil {
		failure.Stderr = stderr.bytes()
		return Result{}, failure
	}
	if limited.Err() != nil {
		return Result{}, cmd.stopped(ctx, limited, limits, stderr.bytes())
	}
	return Result{
		Stdout:          stdout.bytes(),
		Stderr:          stderr.bytes(),
		StderrTruncated: stderr.truncated(),
		ExitCode:        exitCode,
	}, nil
}

// call calls the function and turns a panic into an error.
func (f InProcess) call(ctx context.Context, cmd Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (exitCode int, failure *Error) {
	defer func() {
		if value := recover(); value != nil {
			failure = cmd.panicked("panicked: " + inline(fmt.Sprint(value), maxReason))
			failure.Stack = debug.Stack()
			failure.Err, _ = value.(error)
		}
	}()
	return f(ctx, args, stdin, stdout, stderr), nil
}
