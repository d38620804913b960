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

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// program is a command line to measure.
type program struct {
	path string
	args []string
	env  []string // added to the environment, as name=value
	dir  string
	// noMatch accepts exit code 1, by which a search reports that it found nothing.
	noMatch bool
}

func (p program) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:forbidigo,gosec // bench runs what it built or installed itself
	cmd.Env, cmd.Dir = append(os.Environ(), p.env...), p.dir
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
func (p program) output(ctx context.Context) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := p.command(ctx)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err := p.accept(err); err != nil {
		return nil, fmt.Errorf("running %s %s: %w\n%s", p.path, strings.Join(p.args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// measured is the cost of the runs of one program.
type measured struct {
	times []time.Duration // sorted
	peak  int64           // the most memory that a run had resident, in bytes; 0 if unknown
	cpu   time.Duration   // the least processor time of a run
}

func (m measured) min() time.Duration { return m.times[0] }

// median returns the upper of the two in the middle if their number is even.
func (m measured) median() time.Duration { return m.times[len(m.times)/2] }

func (m measured) max() time.Duration { return m.times[len(m.times)-1] }

// add adds a run.
func (m *measured) add(took time.Duration, state *os.ProcessState) {
	at, _ := slices.BinarySearch(m.times, took)
	m.times = slices.Insert(m.times, at, took)
	if state == nil {
		return
	}
	if cpu := state.UserTime() + state.SystemTime(); m.cpu == 0 || cpu < m.cpu {
		m.cpu = cpu
	}
	m.peak = max(m.peak, peakMemory(state))
}

// inTurn runs each program once to warm up, and then n times, one after the other, with
// their output discarded. The order changes from round to round, so that none always runs
// after the same other one.
func inTurn(ctx context.Context, n int, programs ...program) ([]measured, error) {
	results := make([]measured, len(programs))
	for round := range n + 1 {
		for _, i := range rand.Perm(len(programs)) {
			m, err := once(ctx, programs[i])
			if err != nil {
				return nil, err
			}
			if round > 0 {
				results[i].merge(m)
			}
		}
	}
	return results, nil
}

func (m *measured) merge(other measured) {
	for _, took := range other.times {
		m.add(took, nil)
	}
	if m.cpu == 0 || other.cpu < m.cpu {
		m.cpu = other.cpu
	}
	m.peak = max(m.peak, other.peak)
}

// once runs a program once.
func once(ctx context.Context, p program) (m measured, err error) {
	cmd := p.command(ctx)
	forgetPeak()
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if err := p.accept(err); err != nil {
		return m, fmt.Errorf("running %s %s: %w", p.path, strings.Join(p.args, " "), err)
	}
	m.add(took, cmd.ProcessState)
	return m, nil
}

// fastest returns the time of the fastest of n runs.
func fastest(n int, run func() error) (best time.Duration, err error) {
	for i := range n {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// compare returns a row with the times of ours beside those of a peer. The bound, if it is
// not 0, is on the ratio of the fastest runs.
func compare(name, peer string, ours, theirs measured, bound float64) table.Row {
	ratio := ratio(ours.min(), theirs.min())
	row := table.Row{
		Name:   name,
		Result: fmt.Sprintf("%.2fx (%.2fx) of %s", ratio, ours.median().Seconds()/theirs.median().Seconds(), peer),
		Detail: fmt.Sprintf("min %s, median %s; peer %s, %s",
			milliseconds(ours.min()), milliseconds(ours.median()), milliseconds(theirs.min()), milliseconds(theirs.median())),
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

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
