package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	ours := measured{times: []time.Duration{3 * time.Millisecond, 4 * time.Millisecond, 50 * time.Millisecond}}
	theirs := measured{times: []time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 2 * time.Millisecond}}
	got := compare("some work", "a peer", ours, theirs, 0)
	want := table.Row{
		Name: "some work", Result: "1.50x (2.00x) of a peer",
		Detail: "min 3.00 ms, median 4.00 ms; peer 2.00 ms, 2.00 ms",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInTurn(t *testing.T) {
	t.Parallel()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	version := program{path: goCommand, args: []string{"version"}}
	got, err := inTurn(context.Background(), 4, version, version)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range got {
		if len(m.times) != 4 || m.min() <= 0 || m.median() < m.min() || m.times[3] < m.median() {
			t.Errorf("times %v: want 4, ascending", m.times)
		}
	}
	failing := program{path: goCommand, args: []string{"no-such-command"}}
	if _, err := inTurn(context.Background(), 1, failing); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("a failing program: error %v, want one that names it", err)
	}
	// go exits with 2 there: only 1 means that nothing matched.
	failing.noMatch = true
	if _, err := failing.output(context.Background()); err == nil || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("a failing program: error %v, want what it wrote", err)
	}
}

func TestPeakMemory(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := inTurn(context.Background(), 1, program{path: exe, args: []string{"-test.run=^$"}})
	if err != nil {
		t.Fatal(err)
	}
	if peak := got[0].peak; peak != 0 && (peak < 1<<20 || peak > 1<<30) {
		t.Errorf("peak memory of a small program: %d bytes", peak)
	}
}

// What this process had needed before counts for no program that it starts.
func TestForgetPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts it")
	}
	if testing.Short() { // as with the race detector, which keeps memory of its own for what was touched
		t.Skip("it touches much memory")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const much = 300 << 20
	memory := make([]byte, much)
	for i := 0; i < much; i += 4096 {
		memory[i] = 1
	}
	runtime.KeepAlive(memory)
	got, err := inTurn(t.Context(), 1, program{path: exe, args: []string{"-test.run=^$"}})
	if err != nil {
		t.Fatal(err)
	}
	if peak := got[0].peak; peak > much/2 {
		t.Errorf("a small program had %d bytes, and this process %d before", peak, much)
	}
}
