package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prove prepares a directory and runs the steps in it. It returns whether all of
// them passed.
func prove(ctx context.Context, s settings, stdout, stderr io.Writer) (passed bool, err error) {
	if s.prepared {
		if err := loopbackUp(); err != nil {
			return false, fmt.Errorf("%w: bringing up loopback in it: %w", errNotIsolated, err)
		}
		fmt.Fprintln(stderr, "clients: cut off from the network from here on")
		return runSteps(ctx, openLab(s.dir), steps(), s.only, stdout)
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "convtools-clients-"); err != nil {
			return false, fmt.Errorf("creating a directory to work in: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	} else if s.dir, err = ownDir(s.dir); err != nil {
		return false, err
	}
	progress := func(what string) { fmt.Fprintf(stderr, "clients: %s\n", what) }
	l, err := prepare(ctx, s.dir, progress)
	if err != nil {
		return false, err
	}
	args := []string{"-prepared", "-dir", s.dir, "-only", s.only}
	passed, err = runIsolated(ctx, args, stdout, stderr)
	if !errors.Is(err, errNotIsolated) {
		return passed, err
	}
	progress("running with this machine's network: " + err.Error())
	return runSteps(ctx, l, steps(), s.only, stdout)
}

// ownDir returns the absolute path of a directory that is new, or that this
// command made: others hold files that it must not overwrite.
func ownDir(dir string) (string, error) {
	const mark = "made-by-convtools-clients"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the directory to work in: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating the directory to work in: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("looking into the directory to work in: %w", err)
	}
	if len(entries) == 0 {
		if err := os.WriteFile(filepath.Join(dir, mark), nil, 0o600); err != nil {
			return "", fmt.Errorf("marking the directory to work in: %w", err)
		}
		return dir, nil
	}
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == mark }) {
		return "", fmt.Errorf("%s holds other files; name a directory that does not exist", dir)
	}
	return dir, nil
}

// errNotIsolated says that there can be no network namespace here.
var errNotIsolated = errors.New("no network namespace")

// step is one proof.
type step struct {
	// name says who does what, over which transport, separated by slashes.
	name  string
	limit time.Duration
	// run returns what is worth knowing although nothing is wrong.
	run func(ctx context.Context, l *lab) (notes []string, err error)
}

// runSteps runs the steps whose name begins with only, one after the other.
func runSteps(ctx context.Context, l *lab, all []step, only string, stdout io.Writer) (bool, error) {
	ran, failed := 0, 0
	for _, s := range all {
		if !strings.HasPrefix(s.name, only) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("before %s: %w", s.name, context.Cause(ctx))
		}
		ran++
		start := time.Now()
		bounded, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("not done after %v", s.limit))
		notes, err := s.run(bounded, l)
		if err != nil && bounded.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(bounded), err)
		}
		cancel()
		verdict := "ok  "
		if err != nil {
			verdict = "FAIL"
			failed++
		}
		fmt.Fprintf(stdout, "%s  %-28s %6.1fs\n", verdict, s.name, time.Since(start).Seconds())
		for _, note := range notes {
			fmt.Fprintf(stdout, "      note: %s\n", indent(note))
		}
		if err != nil {
			fmt.Fprintf(stdout, "      %s\n", indent(err.Error()))
		}
	}
	if ran == 0 {
		return false, fmt.Errorf("no step begins with %q; -list names all", only)
	}
	fmt.Fprintf(stdout, "\n%d of %d steps passed\n", ran-failed, ran)
	return failed == 0, nil
}

func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ")
}
