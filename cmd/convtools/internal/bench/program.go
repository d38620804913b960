package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// program is a command line to measure.
type program struct {
	path string
	args []string
	home string // the home directory; if it is empty, the program has the environment of bench
	dir  string // the working directory
	env  []string
}

func (p program) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:forbidigo,gosec // bench runs what it built or installed itself
	cmd.Dir = p.dir
	if p.home != "" {
		cmd.Env = repository.Environ(p.home, p.env...)
	}
	return cmd
}

// output runs the program and returns its standard output.
func (p program) output(ctx context.Context) ([]byte, error) {
	out, err := p.command(ctx).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("running %s %s: %w\n%s", p.path, strings.Join(p.args, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// run is something to measure. It returns the time that it took.
type run func() (time.Duration, error)

// timed returns a run that calls a function and measures its time.
func timed(do func() error) run {
	return func() (time.Duration, error) {
		start := time.Now()
		err := do()
		return time.Since(start), err
	}
}

// run returns a run of the program, whose output is dropped.
func (p program) run(ctx context.Context) run {
	return func() (time.Duration, error) {
		cmd := p.command(ctx)
		took, err := timed(cmd.Run)()
		if err != nil {
			err = fmt.Errorf("running %s %s: %w", p.path, strings.Join(p.args, " "), err)
		}
		return took, err
	}
}

// calls returns a run of one call of a tool in a server that runs.
func calls(ctx context.Context, server *mcpclient.Session, tool string, arguments map[string]any) run {
	return timed(func() error {
		_, err := server.Call(ctx, tool, arguments)
		return err
	})
}

// times are how long runs took.
type times []time.Duration

func (t times) fastest() time.Duration { return slices.Min(t) }
func (t times) slowest() time.Duration { return slices.Max(t) }
func (t times) median() time.Duration  { return slices.Sorted(slices.Values(t))[len(t)/2] }

// inTurn makes n rounds of all runs, after one round that does not count, and
// returns the times of each. The order of the runs changes from round to round.
func inTurn(n int, runs ...run) ([]times, error) {
	results := make([]times, len(runs))
	for round := range n + 1 {
		for _, i := range rand.Perm(len(runs)) {
			took, err := runs[i]()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				results[i] = append(results[i], took)
			}
		}
	}
	return results, nil
}

// compared returns a row with a time and its ratio to the time of a peer. The ratio has no bound if bound is 0.
func compared(name, peer string, ours, theirs time.Duration, bound float64) table.Row {
	ratio := ours.Seconds() / theirs.Seconds()
	row := table.Row{
		Name: name, Result: fmt.Sprintf("%.2fx of %s", ratio, peer),
		Detail: fmt.Sprintf("%s; %s", milliseconds(ours), milliseconds(theirs)),
	}
	if bound > 0 {
		row.AtMost(ratio, bound)
	}
	return row
}

// within returns a row with a time and its bound.
func within(name string, took, bound time.Duration, detail string) table.Row {
	return table.Row{Name: name, Result: milliseconds(took), Bound: "at most " + milliseconds(bound), Missed: took > bound, Detail: detail}
}

// milliseconds returns a time as text, with two decimals under 10 ms.
func milliseconds(d time.Duration) string {
	ms := d.Seconds() * 1000
	if ms < 10 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
