package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPager runs commands on a terminal, with a pager that marks what it shows.
func TestPager(t *testing.T) {
	t.Parallel()
	const pager = "marking-pager" // the test binary, see TestMain
	tests := []struct {
		name     string
		pager    string
		args     []string
		ok       bool
		has, not string
	}{
		{"its output", pager + " -x", []string{"ls"}, true, "paged: 17918257", "\n17918257"},
		{"its environment and flags", pager + " -x", []string{"ls"}, true, "LESS=FRX -x", "error"},
		{"notes", pager, []string{"ls", "--limit=1"}, true, "paged: 9 more", "\n9 more"},
		{"an error, afterwards", pager, []string{"print", "jp-c1"}, false, "\nerror: ", "paged: error"},
		{"changes", pager, []string{"edit", "17853741095", "--pin", "--dry-run"}, true, "would edit", "paged"},
		{"not where it is off", pager, []string{"ls", "--no-pager"}, true, "\n17918257", "paged"},
		{"not cat", "cat", []string{"ls"}, true, "\n17918257", "paged"},
		{"one that is not there", pager + "-none", []string{"ls"}, true, "\n17918257", "paged"},
		{"one that is left at once", "closing-pager", []string{"print", "17906045112", "--style=full"}, true, "closed", "error"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := onTerminal(t, test.pager, test.args...)
			output = "\n" + strings.ReplaceAll(output, "\r\n", "\n")
			if (err == nil) != test.ok || !strings.Contains(output, test.has) || strings.Contains(output, test.not) {
				t.Errorf("it ended with %v and wrote %q; want %q in it, and not %q", err, output, test.has, test.not)
			}
		})
	}
}

// onTerminal runs a conversation command on a terminal, and returns what is on it.
func onTerminal(t *testing.T, pager string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	terminal, tty := openTerminal(t)
	args = append([]string{"conversation", "--workspace", filepath.Join("..", "..", "testdata", "workspaces", "sample")}, args...)
	cmd := exec.CommandContext(ctx, "convtools", args...) // the test binary, see TestMain
	cmd.Env = append(os.Environ(), "PAGER="+pager, "LESS=", "TERM=xterm", "NO_COLOR=1", "JP_USER_DATA_DIR="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	_ = terminal.SetReadDeadline(time.Now().Add(30 * time.Second))
	output, _ := io.ReadAll(terminal) // ends with an error once nobody has the other end
	return string(output), cmd.Wait()
}
