// Package app is a program with every front there is: call, tools, mcp, jp-tool,
// install, doctor and completion over the tools it is given. It is what the main of
// convtools runs, and that of a program whose tools are all declared in specs:
//
//	func main() {
//		runner := commandline.New(generated.CommandLines())
//		app.Main(app.Program{
//			Name: "gittools", Version: "0.1.0",
//			Families: app.Declared(generated.Tools(), generated.NewHandlers(runner).Call, runner),
//			JPFiles:  jpfiles.Files(),
//		})
//	}
//
// It only puts together what the others are, and knows no tool by name.
package app

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install/installcli"
	"github.com/convtools/convtools/runtime/jptool"
	"github.com/convtools/convtools/runtime/mcpserver/mcpcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// Program is what a program consists of.
type Program struct {
	// Name is what it is called on command lines and where hosts register it: letters,
	// digits and hyphens. Title is its name for people; empty means Name.
	Name, Title, Version string
	// Short, Long and Example are what its help consists of, beside its commands. All
	// may be empty.
	Short, Long, Example string
	// DirUsage and ConversationUsage are as [toolset.Host] has them; empty for what is
	// true of every program.
	DirUsage, ConversationUsage string
	// Families returns its tools. It is called once.
	Families func(*toolset.Host) []toolset.Family
	// JPFiles are the files that make the tools known to JP; none where the program
	// has none for JP.
	JPFiles []contract.File
}

// Main runs a program with the command line of this process, and ends the process.
func Main(p Program) {
	host := NewHost()
	if len(os.Args) < 2 || os.Args[1] != "mcp" {
		collectLater()
	}
	os.Exit(p.Run(host, os.Args[1:]))
}

// NewHost returns what families take from this process.
func NewHost() *toolset.Host {
	host := &toolset.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Warned: new(sync.Map)}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		host.Terminal = true
		host.Width, host.Height, _ = term.GetSize(fd) // 0 means unknown
	}
	return host
}

// collectLater has the first garbage collection wait for a heap of 16 MB in place of 4: most
// commands end before it, and those that do not go on as usual behind it. It is nothing for a
// server, which would only hold more.
func collectLater() {
	const times = 4
	before := debug.SetGCPercent(100 * times)
	if before != 100 { // somebody chose another one
		debug.SetGCPercent(before)
		return
	}
	runtime.AddCleanup(new(*byte), func(percent int) { debug.SetGCPercent(percent) }, before)
}

// Run runs one command line, which a signal that asks for the end cancels, and
// returns the exit code. What costs time at start is only done for commands that need
// it: hosts start such programs for every tool call.
func (p Program) Run(host *toolset.Host, args []string) int {
	p.identify(host)
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") {
		return cli.Report(host.Stderr, program.PrintVersion(host))
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	registry, err := toolset.NewRegistry(p.Families(host)...)
	if err != nil {
		return cli.Report(host.Stderr, err)
	}
	defer registry.Close()
	if jptool.Run(ctx, host, registry, args) {
		return cli.ExitOK
	}
	return p.commandLine(host, registry).Run(ctx, args)
}

// CommandLine returns the command line for people.
func (p Program) CommandLine(host *toolset.Host) (*program.CommandLine, error) {
	p.identify(host)
	registry, err := toolset.NewRegistry(p.Families(host)...)
	if err != nil {
		return nil, err
	}
	return p.commandLine(host, registry), nil
}

// identify has a host say which program this is.
func (p Program) identify(host *toolset.Host) {
	host.Name, host.Title, host.Version, host.JPFiles = p.Name, cmp.Or(p.Title, p.Name), p.Version, p.JPFiles
	host.DirUsage, host.ConversationUsage = p.DirUsage, p.ConversationUsage
}

func (p Program) commandLine(host *toolset.Host, registry *toolset.Registry) *program.CommandLine {
	return &program.CommandLine{
		Host: host, Registry: registry,
		Short: cmp.Or(p.Short, "Tools for assistants"), Long: p.Long,
		Example: cmp.Or(p.Example, cli.Examples(p.Name, "install claude-code")),
		Commands: func() []*cobra.Command {
			return []*cobra.Command{
				doctor.Command(host, registry),
				installcli.Install(host, registry),
				installcli.Uninstall(host, registry),
				jptool.Command(host, registry),
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
