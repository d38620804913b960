package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// workspaceVariable names the environment variable with the workspace that the
// profiled benchmarks run on.
const workspaceVariable = "CONVTOOLS_BENCH_WORKSPACE"

// profileRows is how many functions of a profile are shown.
const profileRows = 12

// profile is the functions that took the most time.
type profile struct{ of, top string }

// profile runs a Go benchmark of this package on a workspace and returns where
// its time went.
func (b *builds) profile(ctx context.Context, benchmark string, ws synthetic) (string, error) {
	cpu := filepath.Join(b.dir, benchmark+".cpu")
	binary := filepath.Join(b.dir, benchmark+".test")
	test := program{
		path: b.goCommand,
		args: []string{
			"test", "-run", "^$", "-bench", "^" + benchmark + "$", "-benchtime", b.plan.profiled,
			"-cpuprofile", cpu, "-o", binary, module + "/cmd/convtools/internal/bench",
		},
		env: []string{workspaceVariable + "=" + ws.dir},
	}
	if _, err := test.output(ctx, b.dataDir); err != nil {
		return "", err
	}
	out, err := b.goRun(ctx, "tool", "pprof", "-top", fmt.Sprintf("-nodecount=%d", profileRows), binary, cpu)
	if err != nil {
		return "", err
	}
	return topRows(string(out)), nil
}

// topRows returns the rows of pprof -top and the line above them, without the
// lines on how the profile was taken.
func topRows(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if b.Len() > 0 || strings.HasPrefix(strings.TrimSpace(line), "flat ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
