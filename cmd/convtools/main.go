// Command convtools gives an assistant its conversations and what its project
// knows: over MCP, as local tools of JP, through convtools call, and as a command
// line for people.
//
// This package only puts together what the others are: families.go is the list of
// tool families, and main starts the front that the command line asks for.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install/installcli"
	"github.com/convtools/convtools/runtime/jptool"
	"github.com/convtools/convtools/runtime/mcpserver/mcpcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// version is the version of this tree.
const version = "0.1.0"

func main() {
	host := &toolset.Host{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, Version: version,
	}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		host.Terminal = true
		host.Width, _, _ = term.GetSize(fd) // 0 means unknown
	}
	os.Exit(run(host, os.Args[1:]))
}

// run runs one command line and returns the exit code. What costs time at start
// is only done for commands that need it: hosts start this program for every tool
// call.
func run(host *toolset.Host, args []string) int {
	if len(args) == 1 && args[0] == "version" {
		return cli.Report(host.Stderr, program.PrintVersion(host.Stdout, host.Version))
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	return serve(ctx, host, families(host), args)
}

// serve has the front that a command line asks for serve families.
func serve(ctx context.Context, host *toolset.Host, families []toolset.Family, args []string) int {
	registry, err := toolset.NewRegistry(families...)
	if err != nil {
		return cli.Report(host.Stderr, err)
	}
	if jptool.Run(ctx, host, registry, args) {
		return cli.ExitOK
	}
	return commandLine(host, registry).Run(ctx, args)
}

// commandLine is the command line for people.
func commandLine(host *toolset.Host, registry *toolset.Registry) *program.CommandLine {
	return &program.CommandLine{
		Host: host, Registry: registry,
		Short:   "Conversations and knowledge for assistants",
		Long:    "Gives assistants their past conversations and what their project knows.",
		Example: "  convtools install claude-code",
		Commands: func() []*cobra.Command {
			return []*cobra.Command{
				doctor.Command(host, registry),
				installcli.Install(host, registry),
				installcli.Uninstall(host, registry),
				jptool.Command(registry),
				mcpcli.Command(host, registry),
			}
		},
	}
}

// endingSignals are those that ask a process to end. They cancel what runs, so
// that it stops the programs it has started: those have sessions of their own,
// and get no signal. SIGHUP, of a terminal that is closed, stays ignored for a
// process that was told to ignore it, as with nohup.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
