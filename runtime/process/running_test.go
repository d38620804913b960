package process_test

import (
	"bufio"
	"io"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

// talkTo starts a helper to talk with, which has little time to end.
func talkTo(t *testing.T, mode string, args ...string) *process.Running {
	t.Helper()
	cmd := helperCommand(mode, args...)
	cmd.Limits.Grace = 100 * time.Millisecond
	talk, err := process.Exec{}.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(talk.Stop)
	return talk
}

// A program answers what it is told while it runs, and ends with its input.
func TestTalk(t *testing.T) {
	t.Parallel()
	talk := talkTo(t, "cat")
	out := bufio.NewReader(talk.Stdout)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(talk.Stdin, line); err != nil {
			t.Fatal(err)
		}
		if got, err := out.ReadString('\n'); got != line || err != nil {
			t.Errorf("it answers %q, %v", got, err)
		}
	}
	talk.Stop()
	talk.Stop() // a second time does nothing
	if _, err := io.WriteString(talk.Stdin, "three\n"); err == nil {
		t.Error("a program that has ended takes input")
	}
}

// What a program says last on standard error is there when it has ended.
func TestTalkLastLine(t *testing.T) {
	t.Parallel()
	talk := talkTo(t, "print", "", "first\nno licence\x1b[31m\n", "3")
	if _, err := io.ReadAll(talk.Stdout); err != nil {
		t.Fatal(err)
	}
	talk.Stop()
	if got := talk.LastLine(); got != "no licence␛[31m" {
		t.Errorf("last line %q", got)
	}
}

// A program that does not care about its input or about being asked to end is gone after Stop, with what it has started.
func TestTalkStopEndsTheGroup(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	talk := talkTo(t, "tree", m.addr())
	members := m.await(2)
	talk.Stop()
	members["leader"].gone()
	members["child"].gone()
}

// What cannot be started is an error of the kind that Run has.
func TestTalkNotFound(t *testing.T) {
	t.Parallel()
	_, err := process.Exec{}.Start(process.Command{Path: "no-such-program-of-process"})
	wantKind(t, err, process.NotFound)
}
