// Command prove shows what the tests of sessions are worth. It explores all states that the shipped reducer reaches within
// bounds, with a crash after every record. It breaks the code in the ways in which such code goes wrong, one at a time,
// and wants the tests to notice. It kills processes, some hundred of them, and looks for an order of what clients saw who
// did things at the same time. And it has SPIN check a model of the scheduling, and find the counter-example in the
// variant of it that this code must not be.
//
// SPIN and a C compiler are installed from Debian where they are missing and apt-get may do that. Nothing is written but
// into a temporary directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	only := flag.String("only", "", "explore, mutate, kill, order or spin alone")
	flag.Parse()
	if err := prove(ctx, os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to do but that
	}
}

func prove(ctx context.Context, out io.Writer, only string) (err error) {
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "convtools-prove-")
	if err != nil {
		return fmt.Errorf("creating a directory to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l := &lab{root: root, dir: dir, out: out}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"explore", l.explore},
		{"mutate", l.mutate},
		{"kill", l.kills},
		{"order", l.order},
		{"spin", l.spin},
	} {
		if only == "" || only == part.name {
			err = errors.Join(err, part.run(ctx))
		}
	}
	return err
}

// lab is where things are proved.
type lab struct {
	root string // of the repository
	dir  string // for what is written
	out  io.Writer
}

// run runs a command in a directory and returns what it printed, on both outputs, and whether it ended with exit code 0.
func run(ctx context.Context, dir string, command ...string) (printed string, ok bool, err error) {
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: command[0], Args: command[1:], Dir: dir, Env: os.Environ(), Limits: process.Limits{Timeout: 2 * time.Hour},
	})
	if err != nil {
		return "", false, err
	}
	return string(result.Stdout) + string(result.Stderr), result.ExitCode == 0, nil
}

// explore runs the exploration of the reducer that the tests begin, to its end: no state is left from which it has not gone
// on.
func (l *lab) explore(ctx context.Context) error {
	for _, bounds := range []struct{ conversations, queue int }{{3, 1}, {3, 2}, {4, 0}} {
		printed, err := l.test(ctx, l.root, "./runtime/session", "TestExplore", "-states=0",
			fmt.Sprint("-conversations=", bounds.conversations), fmt.Sprint("-queue=", bounds.queue))
		if err != nil {
			return fmt.Errorf("exploring the reducer: %w", err)
		}
		for line := range strings.Lines(printed) {
			_, report, found := strings.Cut(line, "explore_test.go:")
			if _, report, _ = strings.Cut(report, ": "); !found {
				continue
			}
			fmt.Fprintf(l.out, "explore  %d conversations, %d waiting: %s", bounds.conversations, bounds.queue, report)
			if !strings.Contains(report, ": all ") {
				return errors.New("the exploration has not come to its end")
			}
		}
	}
	return nil
}

// test runs a test with arguments of its own, and returns what it printed.
func (l *lab) test(ctx context.Context, dir, pkg, name string, args ...string) (string, error) {
	command := append([]string{"go", "test", pkg, "-count=1", "-run=^" + name + "$", "-v", "-timeout=2h", "-args"}, args...)
	printed, ok, err := run(ctx, dir, command...)
	if err == nil && !ok {
		err = errors.New(said(printed))
	}
	return printed, err
}

// kills kills processes at random: those of an engine, and convtools itself.
func (l *lab) kills(ctx context.Context) error {
	for _, part := range []struct {
		pkg, name, what string
		kills           int
	}{
		{"./runtime/session/engine", "TestKill", "processes of an engine", 200},
		{"./cmd/convtools", "TestKilledQuery", "convtools query and session resume", 100},
	} {
		if _, err := l.test(ctx, l.root, part.pkg, part.name, fmt.Sprint("-kills=", part.kills)); err != nil {
			return fmt.Errorf("killing %s: %w", part.what, err)
		}
		fmt.Fprintf(l.out, "kill     %s, at least %d times: every call has its answer, once\n", part.what, part.kills)
	}
	return nil
}

// order has clients use an engine at the same time, and Porcupine look for an order of what they saw.
func (l *lab) order(ctx context.Context) error {
	const rounds = 300
	if _, err := l.test(ctx, filepath.Join(l.root, "cmd", "convtools", "internal"), "./prove", "TestLinearizable", fmt.Sprint("-rounds=", rounds)); err != nil {
		return fmt.Errorf("looking for an order of what clients saw: %w", err)
	}
	fmt.Fprintf(l.out, "order    %d histories of clients that used a session at the same time are linearizable\n", rounds)
	return nil
}

// spin checks the model of the scheduling.
func (l *lab) spin(ctx context.Context) error {
	if err := installSPIN(ctx); err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(l.root, "cmd", "convtools", "internal", "prove", "session.pml"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.dir, "session.pml"), source, 0o600); err != nil {
		return err
	}
	build := func(define string, options ...string) error {
		for _, command := range [][]string{
			{"spin", define, "-a", "session.pml"},
			append(append([]string{"gcc", "-w", "-O2"}, options...), "-o", "pan", "pan.c"),
		} {
			if printed, ok, err := run(ctx, l.dir, command...); err != nil || !ok {
				return errors.Join(fmt.Errorf("building the checker: %s", said(printed)), err)
			}
		}
		return nil
	}
	if err := build("-DSTACK", "-DNOFAIR"); err != nil {
		return err
	}
	for _, claim := range []string{"serial", "answered0", "answered1", "answered2"} {
		printed, _, err := run(ctx, l.dir, filepath.Join(l.dir, "pan"), "-a", "-m5000000", "-N", claim)
		if err != nil {
			return err
		}
		if !strings.Contains(printed, "errors: 0") || strings.Contains(printed, "max search depth too small") {
			return fmt.Errorf("SPIN: %s does not hold, or was not searched to the end: %s", claim, said(printed))
		}
		fmt.Fprintf(l.out, "spin     %-10s holds: %s\n", claim, lineWith(printed, "states, stored"))
	}
	if err := build("-DFIFO", "-DSAFETY", "-DBFS"); err != nil {
		return err
	}
	printed, _, err := run(ctx, l.dir, filepath.Join(l.dir, "pan"))
	if err != nil {
		return err
	}
	violated := lineWith(printed, "assertion violated")
	if !strings.Contains(violated, "missing[who]==0") {
		return fmt.Errorf("SPIN finds no counter-example in the queue: %s", said(printed))
	}
	way, _, err := run(ctx, l.dir, "spin", "-DFIFO", "-t", "-c", "session.pml")
	if err != nil {
		return err
	}
	way, _, _ = strings.Cut(way, "spin: ")
	fmt.Fprintf(l.out, "spin     a queue in place of the stack has a caller continue without its answer:\n%s", way)
	return nil
}

// installSPIN installs what the check needs, from Debian.
func installSPIN(ctx context.Context) error {
	missing := false
	for _, program := range []string{"spin", "gcc"} {
		if _, _, err := run(ctx, "", program, "--version"); err != nil {
			missing = true
		}
	}
	if !missing {
		return nil
	}
	printed, ok, err := run(ctx, "", "apt-get", "install", "-y", "--no-install-recommends", "spin", "gcc", "libc6-dev")
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("SPIN and gcc are missing and cannot be installed: %s; on Debian: apt-get install spin gcc", said(printed)), err)
	}
	return nil
}

func lineWith(printed, part string) string {
	for line := range strings.Lines(printed) {
		if strings.Contains(line, part) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func said(printed string) string {
	return strings.TrimSpace(text.Visible(text.CutMiddle(printed, 4000)))
}
