// Command clients proves "convtools mcp" with programs that were written elsewhere: MCP
// Inspector, the MCP conformance suite, the clients of the TypeScript SDK and of mcp-go,
// and three agents, Claude Code, Codex and opencode, which run against a scripted model.
// The SDKs of OpenAI and Anthropic check the requests of the adapters for models.
//
// It is no test: it fetches pinned versions of these programs, and so needs npm and a
// network. Every step prints one line and is bounded in time.
//
// The command never reads a workspace, a configuration or a home directory other than
// those it makes itself.
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
)

const usage = `usage: clients [-dir DIR] [-only PREFIX] [-list]

Runs real MCP clients and agents against convtools, built from this tree. make
clients runs it. It needs npm, and about 1.6 GB below the temporary directory.

  -dir DIR      work in DIR, which is made or was left by an earlier run, and leave
                it there; packages that are there are used again
  -only PREFIX  only the steps whose name begins so
  -list         print the names of all steps
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("clients", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir, only, list := flags.String("dir", "", ""), flags.String("only", "", ""), flags.Bool("list", false, "")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("clients takes no arguments, got %q", flags.Arg(0))
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n%s", err, usage)
		return 2
	case *list:
		for _, step := range steps() {
			fmt.Fprintln(stdout, step.name)
		}
		return 0
	}
	passed, err := prove(ctx, *dir, *only, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
	}
	if err != nil || !passed {
		return 1
	}
	return 0
}

// prove prepares a directory, runs the steps in it, and reports whether all of them passed.
func prove(ctx context.Context, dir, only string, stdout, stderr io.Writer) (passed bool, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "convtools-clients-"); err != nil {
			return false, fmt.Errorf("creating a directory to work in: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if dir, err = ownDir(dir); err != nil {
		return false, err
	}
	l, err := prepare(ctx, dir, func(what string) { fmt.Fprintf(stderr, "clients: %s\n", what) })
	if err != nil {
		return false, err
	}
	return runSteps(ctx, l, steps(), only, stdout)
}

// ownDir returns the absolute path of a directory that is new, or that an earlier run made:
// others have files that this command must not overwrite.
func ownDir(dir string) (string, error) {
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
	mark := filepath.Join(dir, "made-by-convtools-clients")
	if _, err := os.Stat(mark); err != nil && len(entries) > 0 {
		return "", fmt.Errorf("%s holds other files; name a directory that does not exist", dir)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return "", fmt.Errorf("marking the directory to work in: %w", err)
	}
	return dir, nil
}

// step is one proof.
type step struct {
	// name says who does what, over which transport, separated by slashes.
	name  string
	limit time.Duration
	// run returns what is worth knowing although nothing is wrong.
	run func(ctx context.Context, l *lab) (note string, err error)
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
		note, err := s.run(bounded, l)
		if err != nil && bounded.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(bounded), err)
		}
		cancel()
		verdict := "ok  "
		if err != nil {
			verdict, note = "FAIL", note+"\n"+err.Error()
			failed++
		}
		fmt.Fprintf(stdout, "%s  %-28s %6.1fs\n", verdict, s.name, time.Since(start).Seconds())
		if note = strings.TrimSpace(note); note != "" {
			fmt.Fprintf(stdout, "      %s\n", strings.ReplaceAll(note, "\n", "\n      "))
		}
	}
	if ran == 0 {
		return false, fmt.Errorf("no step begins with %q; -list names all", only)
	}
	fmt.Fprintf(stdout, "\n%d of %d steps passed\n", ran-failed, ran)
	return failed == 0, nil
}
