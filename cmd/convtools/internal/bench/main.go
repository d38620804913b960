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
	"runtime"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const usage = `usage: bench [-short] [-only GROUP] [-history BYTES]

Measures convtools beside peers and prints ratios. make bench runs it. It needs about
6 GB below the temporary directory. A peer that is missing here is skipped.

  -short          fewer runs over less data, to try it out
  -only GROUP     only one group of rows
  -history BYTES  the size of the sessions of Claude Code

Groups:
  start      starting, beside an empty Go program
  mcp        the MCP server, beside one with nothing but the SDK
  serve      convgen serve with a tool of git, beside FastMCP and cli-wrap-mcp of PyPI
  generator  convgen over many specs
  list       listing conversations of JP, beside cat of the same files
  history    searching and listing sessions of Claude Code
  messages   searching and recalling messages, beside FTS5 of SQLite
`

func main() {
	short := flag.Bool("short", false, "")
	history := flag.Int64("history", 0, "")
	only := flag.String("only", "", "")
	repository.Main(usage, func(ctx context.Context) error {
		amount := fullAmount()
		if *short {
			amount = shortAmount()
		}
		if *history > 0 {
			amount.history = *history
		}
		return measure(ctx, &bench{amount: amount, stderr: os.Stderr}, *only, os.Stdout)
	})
}

// group is some rows that are measured together.
type group struct {
	name    string
	measure func(*bench, context.Context) error
}

func groups() []group {
	return []group{
		{"start", (*bench).start},
		{"mcp", (*bench).mcp},
		{"serve", (*bench).served},
		{"generator", (*bench).generator},
		{"list", (*bench).list},
		{"history", (*bench).history},
		{"messages", (*bench).messages},
	}
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
