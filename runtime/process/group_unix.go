//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNotDirectory is the error of looking for a file below a file.
var errNotDirectory error = syscall.ENOTDIR

// group is a process group; the started program is its leader.
type group struct {
	id int
}

// startGroup starts child as the leader of a new session, without a terminal to ask something on.
func startGroup(child *exec.Cmd) (*group, error) {
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return nil, err
	}
	return &group{id: child.Process.Pid}, nil
}

// terminate asks every process of the group to end.
func (g *group) terminate() error { return syscall.Kill(-g.id, syscall.SIGTERM) }

// kill kills every process that the group still has. The leader may be gone. Its id is not reused while the group has a
// member, and afterwards only if the system uses up all ids within Limits.Grace.
func (g *group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}

// fatalSignal returns the name of the signal that ended the process, and false if none did.
func fatalSignal(state *os.ProcessState) (string, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	signal := status.Signal()
	return fmt.Sprintf("%s (%s)", unix.SignalName(signal), signal), true
}

func isBadFormat(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
