// Package processtest has a scripted [process.Runner] for the tests of code that
// runs commands. It must never start anything, and a call nobody expected must
// never pass.
package processtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/process"
)

// TB is the part of testing.TB that a [Fake] reports to.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Fake is a [process.Runner] that answers the commands it was told to expect.
// Any other command fails the test, with a comparison of the two command lines,
// and so does, when the test ends, a command that was expected and never came.
// Commands may come in any order and from several goroutines, once everything is
// announced.
type Fake struct {
	tb TB

	mu       sync.Mutex
	expected []*Expectation
	calls    []process.Command
}

// An Expectation is a command a [Fake] waits for. Without any of its methods it
// is run once, with any directory, environment, input and limits, and prints
// nothing and exits with 0.
type Expectation struct {
	argv  []string
	left  int
	dir   *string
	stdin *string
	run   func(context.Context, process.Command) (process.Result, error)
}

// New returns a Fake that expects nothing yet and reports to tb.
func New(tb TB) *Fake {
	f := &Fake{tb: tb}
	tb.Cleanup(f.reportUnmet)
	return f
}

// Expect announces a command with exactly these arguments. Of several equal
// ones, the one announced first is answered first.
func (f *Fake) Expect(path string, args ...string) *Expectation {
	e := &Expectation{argv: append([]string{path}, args...), left: 1}
	e.Return(process.Result{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected = append(f.expected, e)
	return e
}

// Times expects the command n times.
func (e *Expectation) Times(n int) *Expectation {
	e.left = n
	return e
}

// InDir also expects this working directory.
func (e *Expectation) InDir(dir string) *Expectation {
	e.dir = &dir
	return e
}

// WithStdin also expects this standard input.
func (e *Expectation) WithStdin(stdin string) *Expectation {
	e.stdin = &stdin
	return e
}

// Return answers with result.
func (e *Expectation) Return(result process.Result) *Expectation {
	return e.Do(func(context.Context, process.Command) (process.Result, error) { return result, nil })
}

// ReturnStdout answers with this output and exit code 0.
func (e *Expectation) ReturnStdout(stdout string) *Expectation {
	return e.Return(process.Result{Stdout: []byte(stdout)})
}

// Fail answers with an error; a real runner's is always a [*process.Error].
func (e *Expectation) Fail(err error) *Expectation {
	return e.Do(func(context.Context, process.Command) (process.Result, error) { return process.Result{}, err })
}

// Do answers with what run returns, for what the other answers cannot do, such
// as waiting until the context is canceled.
func (e *Expectation) Do(run func(context.Context, process.Command) (process.Result, error)) *Expectation {
	e.run = run
	return e
}

// Run implements [process.Runner].
func (f *Fake) Run(ctx context.Context, cmd process.Command) (process.Result, error) {
	f.tb.Helper()
	e, err := f.take(cmd)
	if err != nil {
		f.tb.Errorf("%v", err)
		return process.Result{}, err
	}
	return e.run(ctx, cmd)
}

// Calls returns the commands run so far, the unexpected ones too, in order.
func (f *Fake) Calls() []process.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// take records the call and finds what answers it.
func (f *Fake) take(cmd process.Command) (*Expectation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	recorded := cmd
	recorded.Args, recorded.Env, recorded.Stdin = slices.Clone(cmd.Args), slices.Clone(cmd.Env), slices.Clone(cmd.Stdin)
	f.calls = append(f.calls, recorded)

	var nearest []string
	var fewest int
	for _, e := range f.expected {
		if e.left <= 0 {
			continue
		}
		diff, changes := diffLines(e.describe(), describe(cmd, e.dir != nil, e.stdin != nil))
		if changes == 0 {
			e.left--
			return e, nil
		}
		if nearest == nil || changes < fewest {
			nearest, fewest = diff, changes
		}
	}
	if nearest == nil {
		return nil, fmt.Errorf("processtest: unexpected command, and no other is expected any more:\n%s",
			strings.Join(describe(cmd, true, true), "\n"))
	}
	return nil, fmt.Errorf("processtest: unexpected command (- the nearest expected one, + this one):\n%s",
		strings.Join(nearest, "\n"))
}

func (f *Fake) reportUnmet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.expected {
		if e.left > 0 {
			f.tb.Errorf("processtest: expected %d more time(s), but never run:\n%s", e.left, strings.Join(e.describe(), "\n"))
		}
	}
}

func (e *Expectation) describe() []string {
	cmd := process.Command{Path: e.argv[0], Args: e.argv[1:]}
	if e.dir != nil {
		cmd.Dir = *e.dir
	}
	if e.stdin != nil {
		cmd.Stdin = []byte(*e.stdin)
	}
	return describe(cmd, e.dir != nil, e.stdin != nil)
}

// describe writes one line for each thing that is compared.
func describe(cmd process.Command, dir, stdin bool) []string {
	lines := []string{fmt.Sprintf("path  %q", cmd.Path)}
	for _, arg := range cmd.Args {
		lines = append(lines, fmt.Sprintf("arg   %q", arg))
	}
	if dir {
		lines = append(lines, fmt.Sprintf("dir   %q", cmd.Dir))
	}
	if stdin {
		lines = append(lines, fmt.Sprintf("stdin %q", cmd.Stdin))
	}
	return lines
}
