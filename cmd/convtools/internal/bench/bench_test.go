package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

func TestBeside(t *testing.T) {
	t.Parallel()
	ours, theirs := times{50 * time.Millisecond, 3 * time.Millisecond, 4 * time.Millisecond}, times{2 * time.Millisecond}
	got := compared("some work", "a peer", ours.fastest(), theirs.fastest(), 1.2)
	want := table.Row{
		Name: "some work", Result: "1.50x of a peer", Bound: "at most 1.2x", Missed: true, Detail: "3.00 ms; 2.00 ms",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ours.median() != 4*time.Millisecond || ours.slowest() != 50*time.Millisecond {
		t.Errorf("median %v, slowest %v", ours.median(), ours.slowest())
	}
}

func TestInTurn(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	version := program{path: path, args: []string{"version"}}.run(t.Context())
	results, err := inTurn(4, version, version)
	if err != nil {
		t.Fatal(err)
	}
	for _, times := range results {
		if len(times) != 4 || times.fastest() <= 0 {
			t.Errorf("times %v: want 4", times)
		}
	}
	failing := program{path: path, args: []string{"no-such-command"}}
	if _, err := inTurn(1, failing.run(t.Context())); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("a failing program: error %v, want one that names it", err)
	}
	if _, err := failing.output(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("a failing program: error %v, want one with its output", err)
	}
}

// The memory of this process does not count for a program that it starts.
func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is measured on Linux only")
	}
	if testing.Short() { // tests with the race detector are short, and it needs several times the memory
		t.Skip("it fills much memory")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const size = 300 << 20
	memory := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		memory[i] = 1
	}
	runtime.KeepAlive(memory)
	forgetPeak()
	cmd := program{path: exe, args: []string{"-test.run=^$"}}.command(t.Context())
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if peak := peakMemory(cmd.ProcessState); peak < 1<<20 || peak > size/2 {
		t.Errorf("a small program needed %d bytes", peak)
	}
}
