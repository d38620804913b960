// Command bench measures convtools beside peers and prints one table of ratios, each
// beside its bound. A ratio beyond its bound is marked; nothing is asserted, and the exit
// code tells only whether everything could be measured.
//
// Times differ between machines and between runs, so each figure is a ratio to a peer
// that was measured in turn with convtools in the same run, and is taken from the fastest
// run of each: other work on the machine only ever makes a run slower. The run builds
// everything that it measures with the flags of a release.
//
// The command writes to a temporary directory only, which it removes, and never reads a
// conversation that it did not write.
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
	"strings"
	"syscall"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// group is some rows that are measured together.
type group struct {
	name, about string
	measure     func(*bench, context.Context) error
}

func groups() []group {
	return []group{
		{"start", "starting, beside an empty Go program", (*bench).start},
		{"mcp", "the MCP server, beside one with nothing but the SDK", (*bench).mcp},
		{"serve", "convgen serve with a tool of git, beside FastMCP and cli-wrap-mcp of PyPI", (*bench).served},
		{"generator", "convgen over many specs", (*bench).generator},
		{"query", "asking a model, beside Codex and opencode of npm", (*bench).query},
		{"list", "listing conversations of JP, beside cat of the same files", (*bench).list},
		{"history", "searching and listing sessions of Claude Code", (*bench).history},
		{"messages", "searching and recalling messages, beside FTS5 of SQLite", (*bench).messages},
	}
}

func usage() string {
	var b strings.Builder
	b.WriteString(`usage: bench [-short] [-only GROUP] [-history BYTES] [-keep DIR]

Measures convtools beside peers and prints ratios. make bench runs it. It needs about
6 GB below the temporary directory. A peer that is missing here is skipped.

  -short          fewer runs over less data, to try it out
  -only GROUP     only one group of rows
  -history BYTES  the size of the sessions of Claude Code
  -keep DIR       keep the databases of messages in DIR, and use those of an earlier run

Groups:
`)
	for _, g := range groups() {
		fmt.Fprintf(&b, "  %-10s  %s\n", g.name, g.about)
	}
	return b.String()
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	short := flags.Bool("short", false, "")
	history := flags.Int64("history", 0, "")
	only := flags.String("only", "", "")
	keep := flags.String("keep", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n%s", err, usage())
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "error: bench takes no arguments, got %q\n%s", flags.Arg(0), usage())
		return 2
	}
	amount := fullAmount()
	if *short {
		amount = shortAmount()
	}
	if *history > 0 {
		amount.history = *history
	}
	if err := measure(ctx, &bench{amount: amount, keep: *keep, stderr: stderr}, *only, stdout); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// amount says how much is measured.
type amount struct {
	starts        int   // runs of a program that only starts
	runs          int   // runs of a program that works
	calls         int   // of an MCP server, in each run
	conversations int   // of JP, that are listed
	bytes         int64 // in these
	tools         int   // that convgen generates
	history       int64 // bytes of sessions of Claude Code
	sessions      int   // that have these bytes
	messages      int   // that are searched
}

func fullAmount() amount {
	return amount{
		starts: 300, runs: 7, calls: 1000, conversations: 10_000, bytes: 1_000_000_000,
		tools: 1000, history: 369_000_000, sessions: 272, messages: 1_000_000,
	}
}

func shortAmount() amount {
	return amount{
		starts: 40, runs: 3, calls: 200, conversations: 1000, bytes: 50_000_000,
		tools: 100, history: 50_000_000, sessions: 200, messages: 40_000,
	}
}

// measure measures the groups, or only one, and prints the table.
func measure(ctx context.Context, b *bench, only string, stdout io.Writer) (err error) {
	if b.dir, err = os.MkdirTemp("", "convtools-bench-"); err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.build(ctx); err != nil {
		return err
	}
	measured := 0
	for _, g := range groups() {
		if only != "" && only != g.name {
			continue
		}
		measured++
		b.progress(g.name)
		if err := g.measure(b, ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", g.name, err)
		}
	}
	if measured == 0 {
		return fmt.Errorf("there is no group %q; bench -help names them", only)
	}
	fmt.Fprintf(stdout, "%s/%s, %d cores, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(stdout, "Ratios are of the fastest runs, taken in turn; in brackets of the medians. All files are\nin the page cache.\n\n")
	return b.table.Write(stdout)
}

// bench is the programs that are measured, and the table of results.
type bench struct {
	amount amount
	keep   string // directory of databases that later runs use again; empty for none
	dir    string // for everything that is written
	stderr io.Writer
	table  table.Table

	convtools string
	convgen   string
	empty     string // an empty Go program
	minimal   string // an MCP server with nothing but the SDK
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.stderr, "bench: "+format+"\n", args...)
}
