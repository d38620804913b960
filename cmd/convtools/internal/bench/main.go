// Command bench measures convtools against peers and prints one table of
// ratios, each beside the bound it should keep. A ratio beyond its bound is
// marked; nothing is asserted, and the exit code tells only whether everything
// could be measured.
//
// Times differ between machines and between runs, so every figure is a ratio to
// a peer that was measured in the same run, in turn with convtools, and is taken
// from the fastest run of each: other work on the machine only ever makes a run
// slower. Everything is built by the run itself, with the flags of a release.
//
// The command writes to a temporary directory only, which it removes, and never
// reads a workspace that it did not write.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const usage = `usage: bench [-short] [-histories | -sessions | -messages] [-history BYTES] [-keep DIR]

Measures convtools against peers and prints ratios. make bench runs it.
It needs about 6 GB below the temporary directory, ripgrep for the rows on
searching, npm and a network for those on server-everything and on agents, and a
module proxy for those on other generators.

  -short          fewer runs over smaller workspaces, to try it out
  -histories      only what is measured on histories of other programs
  -sessions       only what is measured of sessions
  -history BYTES  how large each of these is
  -messages       only what is measured on searching messages
  -imports        only what is measured on importing them, and on PostgreSQL
  -keep DIR       use again what is written there of the messages, and of their peers
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	short := flags.Bool("short", false, "")
	histories := flags.Bool("histories", false, "")
	sessions := flags.Bool("sessions", false, "")
	history := flags.Int64("history", 0, "")
	messages := flags.Bool("messages", false, "")
	imports := flags.Bool("imports", false, "")
	keep := flags.String("keep", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n%s", err, usage)
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "error: bench takes no arguments, got %q\n%s", flags.Arg(0), usage)
		return 2
	}
	plan := fullPlan()
	if *short {
		plan = shortPlan()
	}
	if *history > 0 {
		plan.history = *history
	}
	plan.onlyHistories, plan.onlySessions, plan.onlyMessages, plan.onlyImports, plan.keep = *histories, *sessions, *messages, *imports, *keep
	if err := bench(ctx, plan, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// plan says how much is measured.
type plan struct {
	starts        int    // runs of each program that only starts
	runs          int    // runs of each program that works through a workspace
	counts        int    // runs of each Go benchmark that is compared
	rounds        int    // runs of calls of each MCP server
	calls         int    // in each of these runs
	benchtime     string // of each of these runs
	bytes         int64  // of events in a large workspace
	conversations int    // in a large workspace
	few           int    // conversations, where they are large
	many          int    // conversations, where they are small
	writes        int    // of each kind
	folders       int    // of the large topic
	knowledgeRuns int    // of each program that works with it
	tools         int    // of the project that is generated for
	history       int64  // bytes of the history of another program
	sessions      int    // in that
	messages      int    // that are searched
	keep          string // directory of what later runs use again; empty for none
	onlyHistories bool   // nothing else is measured
	onlyMessages  bool   // nothing else is measured
	onlyImports   bool   // nothing else is measured
	onlySessions  bool
}

func fullPlan() plan {
	return plan{
		starts: 300, runs: 7, rounds: 9, calls: 1000, counts: 6, benchtime: "200ms",
		bytes: 200_000_000, conversations: 2000, few: 20, many: 10_000, writes: 200, folders: 400, knowledgeRuns: 15,
		tools: 1000, history: 1_000_000_000, sessions: 2000, messages: 1_000_000,
	}
}

func shortPlan() plan {
	return plan{
		starts: 40, runs: 3, rounds: 3, calls: 200, counts: 2, benchtime: "20ms",
		bytes: 20_000_000, conversations: 200, few: 4, many: 1000, writes: 40, folders: 40, knowledgeRuns: 5,
		tools: 100, history: 50_000_000, sessions: 200, messages: 40_000,
	}
}

// bench measures everything and prints the table.
func bench(ctx context.Context, p plan, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "convtools-bench-")
	if err != nil {
		return fmt.Errorf("creating a directory for what is measured: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	progress := func(what string) { fmt.Fprintf(stderr, "bench: %s\n", what) }

	progress("building")
	b, err := build(ctx, dir)
	if err != nil {
		return err
	}
	b.plan = p
	var t table.Table
	switch {
	case p.onlySessions:
		progress("sessions")
		if err := b.sessions(ctx, &t); err != nil {
			return fmt.Errorf("measuring sessions: %w", err)
		}
	case !p.onlyHistories && !p.onlyMessages && !p.onlyImports:
		if err := b.everything(ctx, &t, progress); err != nil {
			return err
		}
	}
	if !p.onlySessions && !p.onlyMessages && !p.onlyImports {
		if err := b.histories(ctx, &t, progress); err != nil {
			return err
		}
	}
	if !p.onlySessions && !p.onlyHistories && !p.onlyImports {
		if err := b.messages(ctx, &t, progress); err != nil {
			return fmt.Errorf("measuring searches of messages: %w", err)
		}
	}
	if !p.onlySessions && !p.onlyHistories {
		if err := b.imports(ctx, &t, progress); err != nil {
			return fmt.Errorf("measuring imports: %w", err)
		}
	}
	fmt.Fprintf(stdout, "%s/%s, %d cores, %s, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), b.ripgrepVersion)
	fmt.Fprintf(stdout, "Ratios are of the fastest runs, taken in turn; in brackets of the medians. Files are\nin the page cache for every program alike.\n\n")
	if err := t.Write(stdout); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// everything measures all but the histories of other programs.
func (b *builds) everything(ctx context.Context, t *table.Table, progress func(string)) error {
	for _, part := range []struct {
		name    string
		measure func(context.Context, *table.Table) error
	}{
		{"start", b.start},
		{"validation", b.validation},
		{"generator", b.generator},
		{"knowledge", b.knowledge},
		{"writes", b.writes},
		{"sessions", b.sessions},
	} {
		progress(part.name)
		if err := part.measure(ctx, t); err != nil {
			return fmt.Errorf("measuring %s: %w", part.name, err)
		}
	}
	if err := b.workspaces(ctx, t, progress); err != nil {
		return err
	}
	// What calls many servers at once needs memory itself: see peakMemory.
	if err := b.mcp(ctx, t, progress); err != nil {
		return fmt.Errorf("measuring MCP: %w", err)
	}
	return nil
}
