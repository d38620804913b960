// Command clients proves "convtools mcp" with programs that were written
// elsewhere: MCP Inspector, the MCP conformance suite, the clients of the
// TypeScript SDK and of mcp-go, and three shipping agents, Claude Code, Codex and
// opencode, which run against a scripted model. It also has the SDKs of OpenAI and
// Anthropic check what the adapters for models send.
//
// It is no test: it fetches what it runs, in pinned versions, into a temporary
// directory, and so needs npm and a network until everything is there. After
// that, where the system allows it, nothing that runs has a network but its own
// loopback. Every step prints one line and is bounded in time.
//
// The command never reads a workspace, a configuration or a home directory other
// than those it makes itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: clients [-dir DIR] [-only PREFIX] [-list]

Runs real MCP clients and agents against convtools, built from this tree. make
clients runs it. It needs npm, and about 1.6 GB below the temporary directory.

  -dir DIR      work in DIR, which is made or was left by an earlier run, and leave
                it behind; packages that are there are used again
  -only PREFIX  only the steps whose name begins so
  -list         print the names of all steps
`

// settings is what the command line chose.
type settings struct {
	dir  string
	only string
	list bool
	// prepared says that everything is in dir already. It is how the command
	// calls itself within a network namespace, and not for anybody else.
	prepared bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("clients", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.dir, "dir", "", "")
	flags.StringVar(&s.only, "only", "", "")
	flags.BoolVar(&s.list, "list", false, "")
	flags.BoolVar(&s.prepared, "prepared", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n%s", err, usage)
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "error: clients takes no arguments, got %q\n%s", flags.Arg(0), usage)
		return 2
	}
	if s.list {
		for _, step := range steps() {
			fmt.Fprintln(stdout, step.name)
		}
		return 0
	}
	passed, err := prove(ctx, s, stdout, stderr)
	switch {
	case s.prepared && errors.Is(err, errNotIsolated):
		fmt.Fprintf(stderr, "clients: %v\n", err)
		return exitNotIsolated
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	case !passed:
		return 1
	}
	return 0
}

// exitNotIsolated is how the command tells itself that it has not begun, because
// its network namespace is of no use.
const exitNotIsolated = 3
