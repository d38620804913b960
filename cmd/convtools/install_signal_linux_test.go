package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/convtools/convtools/runtime/cli"
)

// TestInterruptIsNoYes interrupts the question whether to make a change. The program
// ends and changes nothing, even if a yes directly follows, from a person who types
// ahead.
func TestInterruptIsNoYes(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"\x03", "\x03y\n"} {
		for i := range 8 { // which of the two the program sees first is a matter of luck
			t.Run(fmt.Sprintf("%q/%d", typed, i), func(t *testing.T) {
				t.Parallel()
				answerInstall(t, typed)
			})
		}
	}
}

// answerInstall types keys at the question of install. It fails unless install fails
// and changes nothing.
func answerInstall(t *testing.T, typed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	terminal, tty := openTerminal(t)
	cmd := exec.CommandContext(ctx, "convtools", "install", "cursor") // the test binary, see TestMain
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	_ = terminal.SetReadDeadline(time.Now().Add(30 * time.Second))
	var output []byte
	for chunk := make([]byte, 4096); !bytes.Contains(output, []byte("[y/N]")); {
		n, err := terminal.Read(chunk)
		output = append(output, chunk[:n]...)
		if err != nil {
			t.Fatalf("it said %q: %v", output, err)
		}
	}
	if _, err := terminal.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitFailed {
		t.Errorf("it ended with %v", err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("it made %v, %v", entries, err)
	}
}

// openTerminal makes a terminal: what a person types is written to one end of it,
// and a program runs at the other.
func openTerminal(t *testing.T) (terminal, tty *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no terminal can be made here: ", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	var number, unlocked int32
	connection, err := terminal.SyscallConn()
	if err == nil {
		err = connection.Control(func(fd uintptr) {
			_, _, unlock := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlocked)))
			_, _, name := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGPTN, uintptr(unsafe.Pointer(&number)))
			if unlock != 0 || name != 0 {
				t.Fatalf("unlocking a terminal: %v, %v", unlock, name)
			}
		})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return terminal, tty
}
