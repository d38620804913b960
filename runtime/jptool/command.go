package jptool

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
)

// name is the word of this front on a command line.
const name = "jp-tool"

// commandLine is a parsed command line.
type commandLine struct {
	host  toolset.Host // Dir and ConversationID alone
	flags []setting    // of families, in their order
	args  []string
}

// setting is a flag of a family with a value.
type setting struct {
	set   func(string) error
	value string
}

// parse parses a command line of jp-tool: flags of the host and of the families, the word jp-tool, and arguments. It
// returns false for any other command line. The flags are recorded in line, for [commandLine.apply].
func parse(registry *toolset.Registry, args []string) (line commandLine, ok bool) {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SetInterspersed(false) // what follows jp-tool is never parsed as a flag
	flags.SetOutput(io.Discard)
	line.host.AddFlags(flags)
	for _, f := range registry.Flags() {
		set := f.Set
		f.Set = func(value string) error {
			line.flags = append(line.flags, setting{set, value})
			return nil
		}
		f.AddTo(flags)
	}
	if err := flags.Parse(args); err != nil || flags.Arg(0) != name {
		return commandLine{}, false
	}
	line.args = flags.Args()[1:]
	return line, true
}

// apply sets the recorded flags, in host and in the families. The error is that of a family's flag.
func (l commandLine) apply(host *toolset.Host) error {
	host.Dir, host.ConversationID = l.host.Dir, l.host.ConversationID
	for _, f := range l.flags {
		if err := f.set(f.value); err != nil {
			return fmt.Errorf("reading the flags before %s: %w", name, err)
		}
	}
	return nil
}

// commandLineOf returns the command line for a tool definition of JP.
func commandLineOf(program string) string { return program + " " + name + " {{context}} {{tool}}" }

// asksForHelp reports whether a person asks for help: --help or -h is the only argument, and JP always sends two.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// Command returns the command that documents jp-tool. Calls are answered by [Run].
func Command(host *toolset.Host, registry *toolset.Registry) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name + " CONTEXT TOOL",
		Short: "Answer one tool call of JP",
		Long: `Answers one tool call in JP's protocol for local tools: CONTEXT and TOOL are
JSON objects, and one JSON outcome is printed, whatever they hold. The exit code
is always 0. ` + host.Name + ` install jp writes tool definitions that say:

  command = "` + commandLineOf(host.Name) + `"

Before ` + name + ` can stand ` + strings.Join(flagWords(registry), ", ") + ".",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && asksForHelp(args[len(args)-1:]) {
				return cmd.Help()
			}
			return cli.Usagef("only %s can stand before %s", strings.Join(flagWords(registry), ", "), name)
		},
	}
	if examples := registry.Examples(); len(examples) > 0 {
		tool, _, _ := strings.Cut(examples[0], " ")
		cmd.Example = cli.Examples(host.Name, fmt.Sprintf(`%s '{"root": "."}' '{"name": %q}'`, name, tool))
	}
	return cmd
}

// flagWords returns the flags that may come before jp-tool.
func flagWords(registry *toolset.Registry) []string {
	words := []string{"-w", "--conversation-id"}
	for _, f := range registry.Flags() {
		words = append(words, f.Word())
	}
	return words
}
