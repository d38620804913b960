// Command bench measures convtools beside peers and prints a table of figures, each beside its bound. A figure beyond
// its bound is marked; the exit code says only whether everything could be measured.
//
// Times differ between machines and between runs, so where there is a peer it is measured in turn with convtools, and
// the fastest runs are compared: other work on the machine only ever makes a run slower. Programs are built with the
// flags of a release, and all files are in the page cache.
//
// The command writes to a temporary directory only, which it removes, and reads no conversation that it did not write.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const usage = `usage: bench [-short] [-only GROUP]

Measures convtools beside peers and prints ratios. make bench runs it. It needs
about 6 GB below the temporary directory. A peer that is missing is skipped.

  -short       measure fewer runs over less data
  -only GROUP  measure one group of rows

Groups:
  start     starting, beside an empty Go program
  serve     convgen serve with a tool of git, beside FastMCP and cli-wrap-mcp
  list      listing conversations of JP, beside cat of the same files
  history   searching and listing sessions of Claude Code
  page      the page in a browser, beside agentsview and a file of its size
  messages  searching and recalling messages, beside SQLite FTS5
  secrets   what is hidden as a secret in source
`

func main() {
	short := flag.Bool("short", false, "")
	only := flag.String("only", "", "")
	repository.Main(usage, func(ctx context.Context) error {
		sizes := fullSizes()
		if *short {
			sizes = shortSizes()
		}
		return measure(ctx, sizes, *only, os.Stdout)
	})
}

// group is rows of the table that are measured together.
type group struct {
	name    string
	measure func(*bench, context.Context) error
}

func groups() []group {
	return []group{
		{"start", (*bench).start},
		{"serve", (*bench).serve},
		{"list", (*bench).list},
		{"history", (*bench).history},
		{"page", (*bench).page},
		{"messages", (*bench).messages},
		{"secrets", (*bench).secrets},
	}
}

// sizes are the numbers of runs and the amounts of data.
type sizes struct {
	starts        int   // runs of a program that only starts
	runs          int   // runs of everything else
	conversations int   // of JP
	bytes         int64 // of these conversations
	sessions      int   // of Claude Code
	history       int64 // bytes of these sessions
	source        int64 // bytes of source in which secrets are counted
	messages      int   // that are indexed
}

func fullSizes() sizes {
	return sizes{starts: 300, runs: 7, conversations: 10_000, bytes: 1_000_000_000, sessions: 272, history: 369_000_000, source: 100_000_000, messages: 1_000_000}
}

func shortSizes() sizes {
	return sizes{starts: 40, runs: 3, conversations: 1000, bytes: 50_000_000, sessions: 200, history: 50_000_000, source: 10_000_000, messages: 40_000}
}

// bench is the programs that are measured, and the table of figures.
type bench struct {
	size  sizes
	dir   string // for everything that is written
	table table.Table

	convtools, convgen, empty string
}

// measure measures all groups, or only the one that is named, and prints the table.
func measure(ctx context.Context, size sizes, only string, stdout io.Writer) (err error) {
	b := &bench{size: size}
	if b.dir, err = os.MkdirTemp("", "convtools-bench-"); err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.progress("building")
	if err := b.build(ctx); err != nil {
		return err
	}
	found := false
	for _, g := range groups() {
		if only != "" && only != g.name {
			continue
		}
		found = true
		b.progress(g.name)
		if err := g.measure(b, ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", g.name, err)
		}
	}
	if !found {
		return fmt.Errorf("there is no group %q; bench -help lists them", only)
	}
	fmt.Fprintf(stdout, "%s/%s, %d cores, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	return b.table.Write(stdout)
}

// build builds the programs that are measured.
func (b *bench) build(ctx context.Context) error {
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return fmt.Errorf("writing an empty program: %w", err)
	}
	for _, target := range []struct {
		path *string
		pkg  string
	}{{&b.convtools, "./cmd/convtools"}, {&b.convgen, "./cmd/convgen"}, {&b.empty, source}} {
		if *target.path, err = repository.Build(ctx, root, target.pkg, b.dir); err != nil {
			return err
		}
	}
	return nil
}

// home returns a directory for a group, which is the home of what it measures.
func (b *bench) home(group string) string { return filepath.Join(b.dir, group, "home") }

func (b *bench) progress(doing string) { fmt.Fprintf(os.Stderr, "bench: %s\n", doing) }
