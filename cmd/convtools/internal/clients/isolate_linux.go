package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runIsolated runs this program with args in a network namespace of its own, in
// which there is nothing but loopback, and so no way out. It needs no privileges
// where the system lets users have namespaces.
func runIsolated(ctx context.Context, args []string, stdout, stderr io.Writer) (passed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...) //nolint:forbidigo,gosec // itself; runtime/process knows no namespaces
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		// Root within the namespace only: whoever runs this stays who they are
		// as far as files are concerned.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%w: %w", errNotIsolated, err)
	}
	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && exit.ExitCode() == exitNotIsolated:
		return false, errNotIsolated
	case errors.As(err, &exit) && exit.Exited():
		return false, nil
	default:
		return false, fmt.Errorf("running the steps: %w", err)
	}
}

// loopbackUp brings up the loopback interface of this process's namespace, and
// makes sure that it is the only one.
func loopbackUp() (err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(socket)) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("naming lo: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("setting the flags of lo: %w", err)
	}
	return onlyLoopback()
}
