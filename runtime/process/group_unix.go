//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const batchFiles = false

// errNotDirectory is what looking for a file below another file gives.
var errNotDirectory error = syscall.ENOTDIR

// group is a process group with the started program as its leader.
type group struct {
	id int
}

// startGroup starts child as the leader of a new session. The session is what
// takes the terminal away: a program that wants to ask something on /dev/tty
// fails instead of waiting for an answer or being stopped by the terminal.
func startGroup(child *exec.Cmd) (*group, error) {
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return nil, err
	}
	return &group{id: child.Process.Pid}, nil
}

// terminate asks every process of the group to end.
func (g *group) terminate() error { return syscall.Kill(-g.id, syscall.SIGTERM) }

// kill ends every process of the group. An error means that none is left.
//
// The leader may have been reaped by now. Its id stays taken while the group
// has a member; once it has none, the system would have to use up all its
// process ids within Limits.Grace to give this one to somebody else.
func (g *group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}

// fatalSignal names the signal that ended the process, if one did.
func fatalSignal(state *os.ProcessState) (string, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	signal := status.Signal()
	return fmt.Sprintf("%s (%s)", signalName(signal), signal), true
}

// signalName returns the POSIX name; the syscall package has only descriptions.
func signalName(signal syscall.Signal) string {
	switch signal {
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGTERM:
		return "SIGTERM"
	}
	return fmt.Sprintf("signal %d", int(signal))
}

func isBadFormat(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
