package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// program is a command line to measure.
type program struct {
	path string
	args []string
	env  []string // added to the environment, as name=value
	// noMatch accepts exit code 1, with which a search says that it found nothing.
	noMatch bool
}

// command returns the command line ready to run. No program sees the
// conversations of whoever runs the benchmarks: dataDir stands in for the
// directory JP keeps them in.
func (p program) command(ctx context.Context, dataDir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:forbidigo,gosec // running programs that it built itself is what bench is for
	cmd.Env = slices.Concat(os.Environ(), []string{"CGO_ENABLED=0", "JP_USER_DATA_DIR=" + dataDir}, p.env)
	return cmd
}

// accept returns nil for an error of exec that is no failure of the program.
func (p program) accept(err error) error {
	var exit *exec.ExitError
	if p.noMatch && errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// output runs the program once and returns what it wrote to standard output.
func (p program) output(ctx context.Context, dataDir string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := p.command(ctx, dataDir)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err := p.accept(err); err != nil {
		// go test reports failures on standard output.
		text := strings.TrimSpace(stderr.String() + string(out))
		return nil, fmt.Errorf("running %s %s: %w\n%s", p.path, strings.Join(p.args, " "), err, text)
	}
	return out, nil
}

// measured is what the runs of one program took.
type measured struct {
	times []time.Duration // sorted
	// peak is the most memory any run had resident, in bytes; 0 where the
	// system does not tell.
	peak int64
	// cpu is the least time any run took of processors, in programs and in the system.
	cpu time.Duration
}

func (m measured) min() time.Duration { return m.times[0] }

// median is the upper of the two in the middle where their number is even.
func (m measured) median() time.Duration { return m.times[len(m.times)/2] }

// inTurn runs every program once to warm up, and then n times, one after the
// other, with their output going nowhere. The order changes from round to round,
// so that none always runs after the same other one.
func inTurn(ctx context.Context, dataDir string, n int, programs ...program) ([]measured, error) {
	results := make([]measured, len(programs))
	for round := range n + 1 {
		for _, i := range rand.Perm(len(programs)) {
			cmd := programs[i].command(ctx, dataDir)
			forgetPeak()
			start := time.Now()
			err := cmd.Run()
			took := time.Since(start)
			if err := programs[i].accept(err); err != nil {
				return nil, fmt.Errorf("running %s %s: %w", programs[i].path, strings.Join(programs[i].args, " "), err)
			}
			if round > 0 {
				results[i].times = append(results[i].times, took)
				cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				if results[i].cpu == 0 || cpu < results[i].cpu {
					results[i].cpu = cpu
				}
				results[i].peak = max(results[i].peak, peakMemory(cmd.ProcessState))
			}
		}
	}
	for _, r := range results {
		slices.Sort(r.times)
	}
	return results, nil
}
