package process

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Exec runs real programs. There is no shell in between, and the program gets
// no terminal to ask questions on.
//
// A program runs in a process group (on Windows a job) of its own, and when Run
// returns the whole group is gone: it is asked to stop (SIGTERM, CTRL_BREAK)
// and killed when Limits.Grace has passed; what is left of it after a normal
// end is killed too. Only a process that puts itself in another session can
// escape, and even that cannot make Run wait for its output. Because the group is its
// own, an interrupt from the keyboard does not reach it: a caller that stops on
// signals must cancel ctx.
type Exec struct{}

// Run implements [Runner].
func (Exec) Run(ctx context.Context, cmd Command) (Result, error) {
	if err := cmd.validate(); err != nil {
		return Result{}, err
	}
	path, err := cmd.program()
	if err != nil {
		return Result{}, err
	}
	limits := cmd.Limits.withDefaults()
	limited, stop := limits.apply(ctx)
	defer stop(nil)
	if limited.Err() != nil {
		return Result{}, cmd.stopped(ctx, limited, limits, nil)
	}
	stdout := &cappedBuffer{limit: limits.Stdout, exceeded: stop}
	stderr := &headTail{limit: int(limits.Stderr), most: limits.StderrTotal, exceeded: stop}
	child := &exec.Cmd{
		Path: path, Args: append([]string{cmd.Path}, cmd.Args...), Dir: cmd.Dir, Env: cmd.Env,
		Stdout: stdout, Stderr: stderr, WaitDelay: limits.Grace,
	}
	if child.Env == nil {
		child.Env = DefaultEnv()
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
				select {
				case <-ended:
				case <-time.After(limits.Grace):
				}
			}
			group.kill()
		}
	})
	err = child.Wait()
	close(ended)
	watching.Wait()
	group.kill() // what the program has left behind

	if limited.Err() != nil {
		return Result{}, cmd.stopped(ctx, limited, limits, stderr.bytes())
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return Result{}, cmd.ioError("waiting for it to end", err)
	}
	if signal, ok := fatalSignal(child.ProcessState); ok {
		return Result{}, &Error{
			Kind: Signaled, Command: cmd.display(), Name: cmd.name(), Stderr: stderr.bytes(),
			Detail: "ended by " + signal,
			Hint:   "it crashed, or somebody or the system (short of memory?) killed it: try again, and look at its own log if it recurs",
		}
	}
	return Result{Stdout: stdout.data, Stderr: stderr.bytes(), ExitCode: child.ProcessState.ExitCode()}, nil
}

// program finds the file to run, as an absolute path.
func (c Command) program() (string, error) {
	found, err := exec.LookPath(c.Path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	e := &Error{Command: c.display(), Name: c.name(), Err: err}
	switch {
	case err == nil && isBatchFile(found):
		e.Kind = NotExecutable
		e.Detail = "a batch file, which the command interpreter would run, and that gives arguments a meaning"
		e.Hint = "name the program that the batch file starts"
	case err == nil:
		return found, c.checkDir()
	case errors.Is(err, exec.ErrDot):
		e.Kind = NotFound
		e.Detail = "found only in the current directory, where programs are not looked up"
		e.Hint = "if that is the one, give its path"
	case errors.Is(err, fs.ErrPermission):
		e.Kind = NotExecutable
		e.Detail = "the file cannot be executed"
		e.Hint = "give the path of a program, or make the file executable"
	case errors.Is(err, exec.ErrNotFound):
		e.Kind = NotFound
		e.Detail = "no such program in PATH"
		e.Hint = "install it, or give its full path"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDirectory):
		e.Kind = NotFound
		e.Detail = "no such file"
		e.Hint = "correct the path"
	default: // a directory, for instance
		e.Kind = NotExecutable
		e.Detail = "not a program: " + reason(err)
		e.Hint = "give the path of a program"
	}
	return "", e
}

// checkDir tells a missing directory from a missing program: the operating
// system reports both with the same error.
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
	e := c.badArgument("the working directory "+problem, "name an existing directory")
	e.Path, e.Err = c.Dir, err
	return e
}

// startError describes why the operating system did not start the program. The
// program's file and the working directory existed a moment ago.
func (c Command) startError(err error) *Error {
	e := &Error{Command: c.display(), Name: c.name(), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = NotExecutable
		e.Detail = "the file is there, but what it needs to run is missing: its interpreter (the first line of a script) or its loader"
		e.Hint = "install that, or name another program"
	case errors.Is(err, fs.ErrPermission):
		e.Kind = NotExecutable
		e.Detail = "the system refuses to run it: " + reason(err)
		e.Hint = "make the file and its interpreter executable, and check that its file system allows programs"
	case isBadFormat(err):
		e.Kind = NotExecutable
		e.Detail = "not a program for this system: " + reason(err)
		e.Hint = "a script needs a first line such as #!/bin/sh; a program must be built for this machine"
	case isTooLong(err):
		e.Kind = BadArgument
		e.Detail = "the arguments and the environment are longer than the system allows"
		e.Hint = "pass less, or pass it on standard input"
	default:
		return c.ioError("starting it", err)
	}
	return e
}

// reason returns the innermost error's text: what the layers above it add, the
// message already says.
func reason(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return inline(err.Error(), maxReason)
}

// isBatchFile reports whether path names a file that Windows runs with cmd.exe,
// whose quoting rules no argument can be trusted to.
func isBatchFile(path string) bool {
	// Windows ignores dots and spaces at the end of a name.
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".bat", ".cmd":
		return batchFiles
	}
	return false
}
