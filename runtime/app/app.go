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
// It connects the other packages, and knows no tool by name.
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

// Program describes a program.
type Program struct {
	// Name is the program's name at hosts: letters, digits and hyphens. Title is its name for people, or empty.
	Name, Title, Version string
	// Short, Long and Example are the help of the program. Each may be empty.
	Short, Long, Example string
	// DirUsage and ConversationUsage are as in [toolset.Host].
	DirUsage, ConversationUsage string
	// Families returns its tools. It is called once.
	Families func(*toolset.Host) []toolset.Family
	// JPFiles are the files that define the tools for JP, or none.
	JPFiles []contract.File
}

// Main runs a program with the command line of this process, and exits.
func Main(p Program) {
	host := NewHost()
	if isServer := len(os.Args) > 1 && os.Args[1] == "mcp"; !isServer {
		collectLater() // most commands then end without a garbage collection; a server would only hold more memory
	}
	os.Exit(p.Run(host, os.Args[1:]))
}

// NewHost returns the host that describes this process.
func NewHost() *toolset.Host {
	host := &toolset.Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Warned: new(sync.Map)}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		host.Terminal = true
		host.Width, host.Height, _ = term.GetSize(fd) // 0 means unknown
	}
	return host
}

// collectLater lets the heap grow to 16 MB before the first garbage collection; the usual limit is 4 MB. Most commands
// end with a smaller heap. From the first collection on, all is as usual. If GOGC is set, collectLater does nothing.
func collectLater() {
	const times = 4
	before := debug.SetGCPercent(100 * times)
	if isSet := before != 100; isSet { // by the variable GOGC
		debug.SetGCPercent(before)
		return
	}
	// Nothing refers to the new pointer: the first collection frees it and then runs the function.
	runtime.AddCleanup(new(*byte), func(percent int) { debug.SetGCPercent(percent) }, before)
}

// Run runs one command line and returns the exit code. A signal that asks the process to end cancels the command. Run
// builds only what the command needs: hosts start the program for every call.
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

// identify writes the names and texts of the program into a host.
func (p Program) identify(host *toolset.Host) {
	host.Name, host.Title, host.Version, host.JPFiles = p.Name, cmp.Or(p.Title, p.Name), p.Version, p.JPFiles
	host.DirUsage, host.ConversationUsage = p.DirUsage, p.ConversationUsage
}

// commandLine returns the command line of the program, with the commands that every such program has.
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

// endingSignals returns the signals that cancel a command. A canceled command stops the programs that it has started:
// they are in sessions of their own and do not get the signal. SIGHUP stays ignored if it was, as with nohup.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
