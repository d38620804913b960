package process

import (
	"io"
	"os/exec"
	"sync"
	"time"
)

// Talk is a running program that the caller writes to and reads from.
type Talk struct {
	// Stdin is closed by Stop.
	Stdin io.WriteCloser
	// Stdout ends with the program. Its reader has to bound it.
	Stdout io.Reader

	child  *exec.Cmd
	group  *group
	stderr *headTail
	grace  time.Duration
	once   sync.Once
}

// Start starts a program to talk with, in a process group of its own as Run does. Only Grace and Stderr of its limits apply;
// Stdin has to be nil. The caller has to call Stop. The error is an [*Error].
func (Exec) Start(cmd Command) (*Talk, error) {
	limits := cmd.Limits.withDefaults()
	child, err := cmd.child(limits)
	if err != nil {
		return nil, err
	}
	t := &Talk{child: child, stderr: &headTail{limit: int(limits.Stderr)}, grace: limits.Grace}
	child.Stderr = t.stderr
	if t.Stdin, err = t.child.StdinPipe(); err != nil {
		return nil, cmd.ioError("opening its input", err)
	}
	if t.Stdout, err = t.child.StdoutPipe(); err != nil {
		return nil, cmd.ioError("opening its output", err)
	}
	if t.group, err = startGroup(t.child); err != nil {
		return nil, cmd.startError(err)
	}
	return t, nil
}

// Stop closes the input of the program, asks it to end after Grace, and kills it after Grace again. When Stop returns, no
// process of the group is left.
func (t *Talk) Stop() {
	t.once.Do(func() {
		defer t.group.close()
		_ = t.Stdin.Close() // it may be closed already
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = t.child.Wait()
		}()
		within := func() bool {
			timer := time.NewTimer(t.grace)
			defer timer.Stop()
			select {
			case <-ended:
				return true
			case <-timer.C:
				return false
			}
		}
		if !within() && t.group.terminate() == nil {
			within()
		}
		t.group.kill()
		<-ended
	})
}

// Stderr returns the standard error as [Result] has it, after Stop.
func (t *Talk) Stderr() []byte { return t.stderr.bytes() }

// LastLine returns the last line of Stderr, safe to show.
func (t *Talk) LastLine() string { return lastLine(t.Stderr()) }
