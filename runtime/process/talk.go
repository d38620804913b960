package process

import (
	"io"
	"os/exec"
	"sync"
	"time"
)

// Talk is a program that runs until it is stopped, and is written to and read from meanwhile.
type Talk struct {
	// Stdin is closed by Stop.
	Stdin io.WriteCloser
	// Stdout ends with the program. Nothing bounds it: that is up to its reader.
	Stdout io.Reader

	child  *exec.Cmd
	group  *group
	stderr *headTail
	grace  time.Duration
	once   sync.Once
}

// Start starts a program to talk with, in a group of its own as Run has it. Of its limits, Grace and Stderr apply, and
// Stdin has to be nil. Stop has to be called. An error is an [*Error].
func (Exec) Start(cmd Command) (*Talk, error) {
	limits := cmd.Limits.withDefaults()
	child, err := cmd.child(limits)
	if err != nil {
		return nil, err
	}
	t := &Talk{child: child, stderr: &headTail{limit: int(limits.Stderr), most: 1 << 62}, grace: limits.Grace}
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

// Stop ends the input of the program, and asks it to end and kills it where that is not enough within its grace each.
// Nothing of its group is left when it returns.
func (t *Talk) Stop() {
	t.once.Do(func() {
		defer t.group.close()
		_ = t.Stdin.Close() // an input that is closed is what is wanted
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = t.child.Wait() // how it ends is of no interest
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

// Stderr returns what was printed to standard error, as [Result] has it. It is there after Stop.
func (t *Talk) Stderr() []byte { return t.stderr.bytes() }

// LastLine returns the last line of that, safe to show.
func (t *Talk) LastLine() string { return lastLine(t.Stderr()) }
