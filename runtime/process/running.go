package process

import (
	"io"
	"os/exec"
	"sync"
	"time"
)

// Running is a program that the caller writes to and reads from.
type Running struct {
	// Stdin is closed by Stop.
	Stdin io.WriteCloser
	// Stdout ends with the program. Its reader has to bound it.
	Stdout io.Reader

	child  *exec.Cmd
	group  *group
	stderr *HeadTail
	grace  time.Duration
	once   sync.Once
}

// Start starts a program that the caller writes to and reads from, in a process group as Run does. Of cmd's limits only
// Grace and Stderr apply; cmd.Stdin has to be nil. The caller has to call Stop. The error is an [*Error].
func (Exec) Start(cmd Command) (*Running, error) {
	limits := cmd.Limits.withDefaults()
	child, err := cmd.child(limits)
	if err != nil {
		return nil, err
	}
	r := &Running{child: child, stderr: &HeadTail{Limit: int(limits.Stderr)}, grace: limits.Grace}
	child.Stderr = r.stderr
	if r.Stdin, err = r.child.StdinPipe(); err != nil {
		return nil, cmd.ioError("opening its input", err)
	}
	if r.Stdout, err = r.child.StdoutPipe(); err != nil {
		return nil, cmd.ioError("opening its output", err)
	}
	if r.group, err = startGroup(r.child); err != nil {
		return nil, cmd.startError(err)
	}
	return r, nil
}

// Stop closes the input of the program. A program that still runs after Grace is asked to end, and killed after Grace
// again. When Stop returns, no process of the group is left.
func (r *Running) Stop() {
	r.once.Do(func() {
		defer r.group.close()
		_ = r.Stdin.Close() // it may be closed already
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = r.child.Wait()
		}()
		if !endsWithin(r.grace, ended) && r.group.terminate() == nil {
			endsWithin(r.grace, ended)
		}
		r.group.kill()
		<-ended
	})
}

// Stderr returns the standard error as [Result] has it, after Stop.
func (r *Running) Stderr() []byte { return r.stderr.bytes() }

// LastLine returns the last line of Stderr, safe to show.
func (r *Running) LastLine() string { return lastLine(r.Stderr()) }
