package process_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/process"
)

// The runs that share a budget hold no more than it together, one of ordinary
// size never fails, and what a run held is there for the next.
func TestBudget(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	limits := process.Limits{Shared: process.NewBudget(4 * mib)}
	run := func(size int) (process.Result, error) {
		command := helperCommand("bytes", strconv.Itoa(size))
		command.Limits = limits
		return process.Exec{}.Run(testContext(t), command)
	}
	succeeds := func(when string, size int) {
		t.Helper()
		result, err := run(size)
		if err != nil || len(result.Stdout) != size || strings.Trim(string(result.Stdout), "x") != "" {
			t.Errorf("%s: %d bytes of %d, error %v", when, len(result.Stdout), size, err)
		}
	}

	succeeds("alone", 5*mib)
	_, err := run(5*mib + 1)
	wantContains(t, wantKind(t, err, process.BudgetExhausted).Error(), "at the same time printed more than 4 MiB together; try again")
	succeeds("after one that failed", 5*mib)

	m := newMonitor(t)
	other := make(chan error)
	go func() {
		command := helperCommand("hold", m.addr(), "holder", strconv.Itoa(4*mib))
		command.Limits = limits
		_, err := process.Exec{}.Run(testContext(t), command)
		other <- err
	}()
	holder := m.await(1)["holder"]
	succeeds("what fits next to another", 2*mib)
	succeeds("an ordinary size", process.Uncounted)
	_, err = run(3 * mib)
	wantKind(t, err, process.BudgetExhausted)
	holder.release()
	if err := <-other; err != nil {
		t.Errorf("the other was stopped: %v", err)
	}
	succeeds("when the other has ended", 5*mib)
}

// A program that is over the budget is stopped like one that is over its own
// limit.
func TestBudgetStopsProgram(t *testing.T) {
	t.Parallel()
	budget := process.NewBudget(2 << 20)
	run := func(count string) error {
		cmd := helperCommand("bytes", count)
		cmd.Limits.Shared = budget
		_, err := process.Exec{}.Run(testContext(t), cmd)
		return err
	}
	for range 2 { // what the first held must be there for the second
		wantKind(t, run("20000000"), process.BudgetExhausted)
	}
	if err := run("3145728"); err != nil {
		t.Error(err)
	}
}
