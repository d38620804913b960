package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// killWait bounds the wait for a killed process to be gone. Only one that is
// stuck inside the kernel, on a dead network file system for instance, takes
// longer.
const killWait = 5 * time.Second

// Exec runs real programs. There is no shell in between, and the program gets
// no terminal to ask questions on.
//
// A program runs in a process group (on Windows a job) of its own, and when Run
// returns the whole group is gone: it is asked to stop (SIGTERM, CTRL_BREAK)
// and killed when Limits.Grace has passed; what is left of it after a normal
// end is killed too. Only a process that puts itself in another session can
// escape, and even that cannot make Run wait for it. Because the group is its
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

	stdout := &cappedBuffer{limit: limits.Stdout, shared: limits.Shared, exceeded: stop}
	stderr := &headTail{limit: int(limits.Stderr), most: limits.StderrTotal, exceeded: stop}
	defer stdout.release()
	streams, err := openStreams(cmd.Stdin, stdout, stderr)
	if err != nil {
		return Result{}, cmd.ioError("opening pipes", err)
	}
	defer streams.close()

	child := &exec.Cmd{Path: path, Args: append([]string{cmd.Path}, cmd.Args...), Dir: cmd.Dir, Env: cmd.Env}
	if child.Env == nil {
		child.Env = DefaultEnv()
	}
	group, err := streams.start(child)
	if err != nil {
		return Result{}, cmd.startError(err)
	}
	defer group.close()

	exited := make(chan struct{})
	var waitErr error
	go func() {
		defer close(exited)
		waitErr = child.Wait()
	}()

	select {
	case <-exited:
	case <-limited.Done():
	}
	finished := happened(exited)
	if finished {
		select {
		case <-streams.drained:
		case <-time.After(limits.Grace):
		case <-limited.Done():
		}
	} else if group.terminate() == nil {
		within(time.After(limits.Grace), exited, streams.drained)
	}
	complete := finished && happened(streams.drained)
	group.kill()
	gone := within(time.After(killWait), exited)
	streams.close() // from here on stdout and stderr are ours

	if limited.Err() != nil && (!complete || isOutputLimit(context.Cause(limited))) {
		e := cmd.stopped(ctx, limited, limits, stderr.bytes())
		if !gone {
			e.Detail += fmt.Sprintf(", and process %d cannot be killed", child.Process.Pid)
		}
		return Result{}, e
	}
	if exit := (*exec.ExitError)(nil); waitErr != nil && !errors.As(waitErr, &exit) {
		return Result{}, cmd.ioError("waiting for it to end", waitErr)
	}
	if streams.readErr != nil {
		return Result{}, cmd.ioError("reading its output", streams.readErr)
	}
	if signal, ok := fatalSignal(child.ProcessState); ok {
		return Result{}, &Error{
			Kind: Signaled, Command: cmd.display(), Name: cmd.name(), Signal: signal, Stderr: stderr.bytes(),
			Detail: "ended by " + signal,
			Hint:   "it crashed, or somebody or the system (short of memory?) killed it: try again, and look at its own log if it recurs",
		}
	}
	return Result{
		Stdout:          stdout.bytes(),
		Stderr:          stderr.bytes(),
		StderrTruncated: stderr.truncated(),
		ExitCode:        child.ProcessState.ExitCode(),
		OutputHeldOpen:  !complete,
	}, nil
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

// streams are the pipes between this process and a child. They are files and
// not the writers that package exec accepts, because the end of the child and
// the end of its output are two events that have to be seen apart.
type streams struct {
	ours    []*os.File
	theirs  [3]*os.File    // stdin, stdout, stderr; nil for no stdin
	feed    func()         // writes stdin
	copies  []func() error // read stdout and stderr
	running sync.WaitGroup
	drained chan struct{} // closed when stdout and stderr have been read to their end

	mu      sync.Mutex
	closed  bool
	readErr error
}

func openStreams(stdin []byte, stdout, stderr io.Writer) (*streams, error) {
	s := &streams{feed: func() {}, drained: make(chan struct{})}
	if stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		s.ours, s.theirs[0] = append(s.ours, w), r
		s.feed = func() {
			// A command may end, or close its input, without reading it all.
			_, _ = io.Copy(w, bytes.NewReader(stdin))
			_ = w.Close()
		}
	}
	for i, sink := range []io.Writer{stdout, stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			s.closeTheirs()
			s.close()
			return nil, err
		}
		s.ours, s.theirs[1+i] = append(s.ours, r), w
		s.copies = append(s.copies, func() error {
			_, err := io.Copy(sink, r)
			return err
		})
	}
	return s, nil
}

// start starts child on the other ends of the pipes, in a group of its own, and
// begins to feed and read it.
func (s *streams) start(child *exec.Cmd) (*group, error) {
	if s.theirs[0] != nil {
		child.Stdin = s.theirs[0]
	}
	child.Stdout, child.Stderr = s.theirs[1], s.theirs[2]
	group, err := startGroup(child)
	s.closeTheirs()
	if err != nil {
		return nil, err
	}
	s.running.Go(s.feed)
	var reading sync.WaitGroup
	for _, copyOutput := range s.copies {
		reading.Go(func() { s.noteReadError(copyOutput()) })
	}
	s.running.Go(func() {
		reading.Wait()
		close(s.drained)
	})
	return group, nil
}

// noteReadError keeps the first error that is neither an output limit nor
// caused by close.
func (s *streams) noteReadError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !isOutputLimit(err) && !s.closed && s.readErr == nil {
		s.readErr = err
	}
}

func (s *streams) closeTheirs() {
	for _, f := range s.theirs {
		if f != nil {
			_ = f.Close()
		}
	}
}

// close gives up what is still being fed or read, and returns when nothing
// touches the command's input and output any more.
func (s *streams) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, f := range s.ours {
		_ = f.Close()
	}
	s.running.Wait()
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
