//go:build unix

package process_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

func TestExecNotExecutable(t *testing.T) {
	// Not parallel: a file that is open for writing in a process being forked
	// at that moment cannot be executed.
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name, path, want string
	}{
		{"no permission", write("plain", "#!/bin/sh\n", 0o600), "cannot be executed"},
		{"a directory", dir, "is a directory"},
		{"no known format", write("format", "\x00\x01\x02", 0o700), "not a program for this system"},
		{"interpreter missing", write("script", "#!/no/such/interpreter\n", 0o700), "interpreter"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := process.Exec{}.Run(testContext(t), process.Command{Path: test.path})
			wantContains(t, wantKind(t, err, process.NotExecutable).Error(), test.want, "; ")
		})
	}
}

func TestExecSignaled(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]string{
		syscall.SIGKILL: "SIGKILL (killed)",
		syscall.SIGTERM: "SIGTERM (terminated)",
		syscall.SIGHUP:  "SIGHUP (hangup)",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(sig) {
				t.Skip("this process ignores " + want + ", as nohup makes it, and a program it starts does too")
			}
			_, err := process.Exec{}.Run(testContext(t), helperCommand("kill-itself", strconv.Itoa(int(sig))))
			e := wantKind(t, err, process.Signaled)
			wantContains(t, e.Error(), "ended by "+want+" (last line on stderr: about to go); ")
		})
	}
}

func TestExecAsksBeforeItKills(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	ctx, cancel := context.WithCancel(testContext(t))
	cmd := helperCommand("polite", m.addr(), "polite")
	cmd.Limits.Grace = 10 * patience // killing it takes longer than the test may
	r := startRun(ctx, cmd)
	member := m.await(1)["polite"]
	cancel()
	_, err := r.wait(t)
	e := wantKind(t, err, process.Canceled)
	if got := member.gone(); got != "asked to stop\n" {
		t.Errorf("last words %q", got)
	}
	if got := string(e.Stderr); got != "stopping\n" {
		t.Errorf("stderr %q", got)
	}
}

// A process in another session cannot be killed, but Run does not wait for it.
func TestExecEscapedProcessHoldsOutput(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	cmd := helperCommand("leave-escaped", m.addr())
	cmd.Limits.Grace = 50 * time.Millisecond
	r := startRun(testContext(t), cmd)
	members := m.await(2)
	members["leader"].release()
	if _, err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	members["escaped"].conn.Close() // makes it end
}

func TestExecHasNoTerminal(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	result, err := process.Exec{}.Run(testContext(t), process.Command{Path: "cat", Args: []string{"/proc/self/stat"}})
	if err != nil {
		t.Fatal(err)
	}
	// pid (comm) state ppid pgrp session tty_nr
	fields := strings.Fields(string(result.Stdout))
	pid, group, session, tty := fields[0], fields[4], fields[5], fields[6]
	if group != pid || session != pid || tty != "0" {
		t.Errorf("process %s is in group %s and session %s with terminal %s, want its own and none", pid, group, session, tty)
	}
}

// Descriptors and goroutines: a server runs commands for days.
func TestExecLeaksNothing(t *testing.T) {
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("needs /proc: %v", err)
		}
		return len(entries)
	}
	cat := helperCommand("cat")
	cat.Stdin = []byte("in")
	flood := helperCommand("bytes", "100000")
	flood.Limits = process.Limits{Stdout: 10, Grace: time.Millisecond}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	round := func() {
		for _, cmd := range []process.Command{cat, flood, {Path: script, Stdin: []byte("in")}} {
			process.Exec{}.Run(testContext(t), cmd)
		}
	}
	round()
	before := descriptors()
	for range 10 {
		round()
	}
	if after := descriptors(); after > before {
		t.Errorf("%d open descriptors before, %d after 30 runs", before, after)
	}
}
