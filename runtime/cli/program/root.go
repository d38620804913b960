// Package program is the command line for people: the root command, the commands call, tools and version, and the
// commands of families and of other fronts.
//
// It never knows a family, a tool or a host by name.
package program

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
)

// CommandLine is the command line over a registry of families.
type CommandLine struct {
	Host     *toolset.Host
	Registry *toolset.Registry
	// Short, Long and Example are the help of the root command.
	Short, Long, Example string
	// Commands returns the commands of other fronts.
	Commands func() []*cobra.Command
}

// Run runs one command line and returns the exit code. For call, which scripts run often, it builds no other command.
func (p *CommandLine) Run(ctx context.Context, args []string) int {
	var root *cobra.Command
	if len(args) > 0 && args[0] == "call" {
		root = p.bare()
		root.AddCommand(p.callCommand())
	} else {
		root = p.Root()
	}
	root.SetArgs(args)
	return cli.Execute(ctx, root)
}

// Root returns the root command with all other commands below it.
func (p *CommandLine) Root() *cobra.Command {
	root := p.bare()
	p.declareFlags(root)
	root.AddCommand(p.callCommand(), p.toolsCommand(), p.versionCommand(), cli.ManCommand(p.Host.Name, p.Host.Version), cli.CompletionCommand(p.Host.Name))
	root.AddCommand(p.Registry.Commands()...)
	root.AddCommand(p.Commands()...)
	return root
}

// bare returns the root command without subcommands.
func (p *CommandLine) bare() *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:     p.Host.Name,
		Short:   p.Short,
		Long:    p.Long,
		Example: p.Example,
	})
	root.SetOut(p.Host.Stdout)
	root.SetErr(p.Host.Stderr)
	cli.Setup(root, p.Registry.Names())
	p.Host.AddFlags(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Name() == cobra.ShellCompRequestCmd {
			cli.UnquoteUsages(root)
		}
		return p.checkConversationID()
	}
	return root
}

// checkConversationID returns an error if --conversation-id is given and is no id. The flag names the calling
// conversation, which results leave out: with a wrong id they would include it.
func (p *CommandLine) checkConversationID() error {
	if p.Host.ConversationID == "" {
		return nil
	}
	if err := p.Registry.CheckConversationID(p.Host.ConversationID); err != nil {
		return cli.Usagef("--conversation-id: %w", err)
	}
	return nil
}

// declareFlags adds the flags of all tool families to the root command, without showing them. The parser needs to know
// whether a flag before the name of a command takes a value. Without a command, the root refuses such a flag.
func (p *CommandLine) declareFlags(root *cobra.Command) {
	runRoot := root.RunE
	for _, f := range p.Registry.Flags() {
		f.AddTo(root.Flags())
		root.Flags().Lookup(f.Name).Hidden = true
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		for _, f := range p.Registry.Flags() {
			if cmd.Flags().Changed(f.Name) {
				return cli.Usagef("unknown flag: --%s", f.Name)
			}
		}
		return runRoot(cmd, args)
	}
}
