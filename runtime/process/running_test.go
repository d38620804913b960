package process_test

import (
	"bufio"
	"io"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

// startHelper starts a helper with a short grace time.
func startHelper(t *testing.T, mode string, args ...string) *process.Running {
	t.Helper()
	cmd := helperCommand(mode, args...)
	cmd.Limits.Grace = 100 * time.Millisecond
	server, err := process.Exec{}.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

// A program answers while it runs, and ends with its input.
func TestRunning(t *testing.T) {
	t.Parallel()
	server := startHelper(t, "cat")
	out := bufio.NewReader(server.Stdout)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(server.Stdin, line); err != nil {
			t.Fatal(err)
		}
		if got, err := out.ReadString('\n'); got != line || err != nil {
			t.Errorf("it answers %q, %v", got, err)
		}
	}
	server.Stop()
	server.Stop() // a second time does nothing
	if _, err := io.WriteString(server.Stdin, "three\n"); err == nil {
		t.Error("a program that has ended takes input")
	}
}

// The last line on standard error is available after Stop.
func TestRunningLastLine(t *testing.T) {
	t.Parallel()
	server := startHelper(t, "print", "", "first\nno licence\x1b[31m\n", "3")
	if _, err := io.ReadAll(server.Stdout); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if got := server.LastLine(); got != "no licence␛[31m" {
		t.Errorf("last line %q", got)
	}
}

// Stop ends a program that ignores its input and signals, and all that it has started.
func TestRunningStopEndsTheGroup(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	server := startHelper(t, "tree", m.addr())
	members := m.await(2)
	server.Stop()
	members["leader"].gone()
	members["child"].gone()
}

// Start returns the same kinds of errors as Run.
func TestRunningNotFound(t *testing.T) {
	t.Parallel()
	_, err := process.Exec{}.Start(process.Command{Path: "no-such-program-of-process"})
	wantKind(t, err, process.NotFound)
}
