package process

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Exec runs real programs, without a shell and without a terminal to ask questions on.
//
// A program runs in a process group of its own (on Windows a job), and when Run returns no process of the group is
// left: the group is asked to stop (SIGTERM, CTRL_BREAK) and killed after Limits.Grace; what is left after a normal
// end is killed too. A process that moves to another session can escape, but Run does not wait for its output.
// Interrupts from the keyboard do not reach the group: a caller that stops on signals must cancel ctx.
type Exec struct{}

// Run implements [Runner]. A program that ended with any exit code, or was stopped because Output returned [ErrEnough],
// has a result. A program that did not start, went over a limit, or was ended by ctx or a signal has an error.
func (Exec) Run(ctx context.Context, cmd Command) (Result, error) {
	limits := cmd.Limits.withDefaults()
	child, err := cmd.child(limits)
	if err != nil {
		return Result{}, err
	}
	limited, stop := limits.apply(ctx) // limited ends with ctx, at the time limit or with stop
	defer stop(nil)
	if limited.Err() != nil {
		return Result{}, cmd.stopError(ctx, limited, limits, nil)
	}
	stdout := &cappedBuffer{limit: limits.Stdout, exceeded: stop}
	stderr := &HeadTail{Limit: int(limits.Stderr)}
	child.Stdout, child.Stderr = stdout, stderr
	if cmd.Output != nil {
		child.Stdout = &sink{to: cmd.Output, failed: stop}
	}
	if cmd.Stdin != nil {
		child.Stdin = bytes.NewReader(cmd.Stdin)
	}
	group, err := startGroup(child)
	if err != nil {
		return Result{}, cmd.startError(err)
	}
	defer group.close()
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ended:
		case <-limited.Done():
			if group.terminate() == nil {
				endsWithin(limits.Grace, ended)
			}
			group.kill()
		}
	})
	err = child.Wait()
	close(ended)
	watching.Wait()
	group.kill() // processes that the program has left

	// A run that was stopped is an error even if the program has ended well. Only Output may stop it without an error.
	if ctx.Err() == nil && errors.Is(context.Cause(limited), ErrEnough) {
		return Result{Stderr: stderr.bytes(), Enough: true}, nil
	}
	if limited.Err() != nil {
		return Result{}, cmd.stopError(ctx, limited, limits, stderr.bytes())
	}
	_, hasExitCode := errors.AsType[*exec.ExitError](err)
	hasEnded := err == nil || hasExitCode || errors.Is(err, exec.ErrWaitDelay) // another process may still hold the output
	if !hasEnded {
		return Result{}, cmd.ioError("waiting for it to end", err)
	}
	if signal, ok := fatalSignal(child.ProcessState); ok {
		e := cmd.failure(Signaled, nil, "ended by "+signal, "it crashed, or somebody or the system (short of memory?) killed it: try again, and look at its own log if it recurs")
		e.Stderr = stderr.bytes()
		return Result{}, e
	}
	return Result{Stdout: stdout.data, Stderr: stderr.bytes(), ExitCode: child.ProcessState.ExitCode()}, nil
}

// endsWithin waits until ended is closed, but no longer than limit, and reports whether ended was closed.
func endsWithin(limit time.Duration, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// child returns the command for package os/exec, without input and outputs. The error, an [*Error], says that the
// command cannot be run as written, or that its program or directory does not exist.
func (c Command) child(limits Limits) (*exec.Cmd, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	path, err := c.program()
	if err != nil {
		return nil, err
	}
	child := &exec.Cmd{Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: c.Env, WaitDelay: limits.Grace}
	if child.Env == nil {
		child.Env = DefaultEnv()
	}
	return child, nil
}

// program returns the absolute path of the file to run, or an [*Error] about the file or the working directory.
func (c Command) program() (string, error) {
	found, err := exec.LookPath(c.Path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	switch {
	case err == nil && isBatchFile(found):
		return "", c.failure(NotExecutable, nil, "a batch file, which the command interpreter would run, and that gives arguments a meaning",
			"name the program that the batch file starts")
	case err == nil:
		return found, c.checkDir()
	case errors.Is(err, exec.ErrDot):
		return "", c.failure(NotFound, err, "found only in the current directory, where programs are not looked up", "if that is the one, give its path")
	case errors.Is(err, fs.ErrPermission):
		return "", c.failure(NotExecutable, err, "the file cannot be executed", "give the path of a program, or make the file executable")
	case errors.Is(err, exec.ErrNotFound):
		return "", c.failure(NotFound, err, "no such program in PATH", "install it, or give its full path")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDirectory):
		return "", c.failure(NotFound, err, "no such file", "correct the path")
	default: // a directory, for instance
		return "", c.failure(NotExecutable, err, "not a program: "+reason(err), "give the path of a program")
	}
}

// checkDir returns an error for a missing working directory, which the operating system reports as a missing program.
func (c Command) checkDir() error {
	if c.Dir == "" {
		return nil
	}
	info, err := os.Stat(c.Dir)
	if err == nil && info.IsDir() {
		return nil
	}
	problem := "is not a directory"
	if err != nil {
		problem = "cannot be used: " + reason(err)
	}
	e := c.failure(BadArgument, err, "the working directory "+problem, "name an existing directory")
	e.Path = c.Dir
	return e
}

// startError returns the error for a program that did not start although its file and the working directory existed.
func (c Command) startError(err error) *Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.failure(NotExecutable, err, "the file is there, but what it needs to run is missing: its interpreter (the first line of a script) or its loader",
			"install that, or name another program")
	case errors.Is(err, fs.ErrPermission):
		return c.failure(NotExecutable, err, "the system refuses to run it: "+reason(err),
			"make the file and its interpreter executable, and check that its file system allows programs")
	case isBadFormat(err):
		return c.failure(NotExecutable, err, "not a program for this system: "+reason(err),
			"a script needs a first line such as #!/bin/sh; a program must be built for this machine")
	case isTooLong(err):
		return c.failure(BadArgument, err, "the arguments and the environment are longer than the system allows", "pass less, or pass it on standard input")
	default:
		return c.ioError("starting it", err)
	}
}

// reason returns the text of the innermost error, safe to show: messages already say what the outer errors add.
func reason(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return inline(err.Error(), maxReason)
}

// isBatchFile reports whether the system would run a file with cmd.exe of Windows, which would also run commands that
// an argument of the file contains.
func isBatchFile(path string) bool {
	// Windows ignores dots and spaces at the end of a name.
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".bat", ".cmd":
		return runtime.GOOS == "windows"
	}
	return false
}
