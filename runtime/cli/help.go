package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The screen that the help of every command fits, in characters.
const (
	helpWidth  = 80
	helpHeight = 24
)

// addHelp gives a command, and those below it, help that fits a screen, and a
// help command that shows all of it.
func addHelp(root *cobra.Command) {
	all := false
	help := &cobra.Command{
		Use:   "help [COMMAND]…",
		Short: "Show what a command does and takes",
		Long: `Shows what a command does and takes. It is kept to a screen; --all shows
everything, as the manual page does.`,
		Example: Examples(root.Name(), "help install", "help --all install"),
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeCommands(root, args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, err := commandAt(root, args)
			if err != nil {
				return err
			}
			if all {
				_, err = io.WriteString(cmd.OutOrStdout(), fullHelp(cmd))
				return err
			}
			return cmd.Help()
		},
	}
	help.Flags().BoolVar(&all, "all", false, "show all flags and the whole description")
	root.SetHelpCommand(help)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = io.WriteString(cmd.OutOrStdout(), screenHelp(cmd)) // there is nobody to tell
	})
}

// commandAt finds the command that words name, such as "conversation grep".
func commandAt(root *cobra.Command, words []string) (*cobra.Command, error) {
	cmd := root
	for _, word := range words {
		below := cmd.Commands()
		i := slices.IndexFunc(below, func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		if i < 0 {
			return nil, unknownCommand(cmd, word)
		}
		cmd = below[i]
	}
	return cmd, nil
}

func completeCommands(root *cobra.Command, words []string) []cobra.Completion {
	cmd, err := commandAt(root, words)
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, c := range listed(cmd) {
		names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
	}
	return names
}

// helpText is what the help of a command consists of.
type helpText struct {
	cmd         *cobra.Command
	description []string       // paragraphs
	flags       *pflag.FlagSet // without those of every command
	more        bool           // something is left out
	all         bool           // the flags of every command are explained too
}

// screenHelp is the help of a command on one screen. Where not everything fits,
// it leaves out first the flags and commands that few people need, then paragraphs from the
// end of the description.
func screenHelp(cmd *cobra.Command) string {
	own, _ := flagsOf(cmd)
	h := helpText{cmd: cmd, description: paragraphs(cmd), flags: own}
	if text := h.String(); fits(text) {
		return text
	}
	h.more = true
	h.flags = chosenFlags(own, func(f *pflag.Flag) bool { return f.Annotations[rareFlag] == nil })
	for !fits(h.String()) && len(h.description) > 1 {
		h.description = h.description[:len(h.description)-1]
	}
	return h.String()
}

// fullHelp is everything there is to say about a command.
func fullHelp(cmd *cobra.Command) string {
	own, _ := flagsOf(cmd)
	return helpText{cmd: cmd, description: paragraphs(cmd), flags: own, all: true}.String()
}

func fits(text string) bool { return strings.Count(text, "\n") <= helpHeight }

func (h helpText) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s", strings.Join(h.description, "\n\n"), synopsis(h.cmd))
	if len(h.cmd.Aliases) > 0 {
		fmt.Fprintf(&b, " (also: %s)", strings.Join(h.cmd.Aliases, ", "))
	}
	b.WriteByte('\n')
	if h.cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(h.cmd.Example, "\n"))
	}
	if below := listed(h.cmd); len(below) > 0 {
		b.WriteString("\nCommands:\n")
		for _, c := range below {
			if h.more && c.Annotations[rareFlag] != "" {
				continue
			}
			fmt.Fprintf(&b, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
	b.WriteByte('\n')
	if h.flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "Flags:\n%s", usages(h.flags))
	}
	if h.more {
		_, path, _ := strings.Cut(h.cmd.CommandPath(), " ")
		fmt.Fprintln(&b, strings.TrimSpace("All flags and details: "+h.cmd.Root().Name()+" help --all "+path))
	}
	_, global := flagsOf(h.cmd)
	switch {
	case !h.cmd.HasParent(): // they are its own
	case h.all:
		fmt.Fprintf(&b, "\nFlags of every command:\n%s", usages(global))
	default:
		fmt.Fprintf(&b, "Of every command: %s\n", flagNames(global))
	}
	return b.String()
}

// synopsis is how a command is called.
func synopsis(cmd *cobra.Command) string {
	switch {
	case !cmd.HasParent():
		return cmd.Name() + " COMMAND, and for more about one: " + cmd.Name() + " help COMMAND"
	case cmd.HasAvailableSubCommands() && cmd.Use == cmd.Name(): // it takes nothing else
		return cmd.CommandPath() + " COMMAND"
	default:
		own, _ := flagsOf(cmd)
		line := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if own.HasAvailableFlags() {
			line += " [flags]"
		}
		return line
	}
}

// flagsOf returns the flags of a command, those that it shares with the commands
// beside it included, and the flags that every command has, which are the root's
// own. Everybody knows -h.
func flagsOf(cmd *cobra.Command) (own, global *pflag.FlagSet) {
	_ = cmd.InheritedFlags() // merges them into Flags
	global = cmd.Root().PersistentFlags()
	return chosenFlags(cmd.Flags(), func(f *pflag.Flag) bool {
		return f.Name != "help" && !f.Hidden && (!cmd.HasParent() || global.Lookup(f.Name) == nil)
	}), global
}

func chosenFlags(from *pflag.FlagSet, chosen func(*pflag.Flag) bool) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	from.VisitAll(func(f *pflag.Flag) {
		if chosen(f) {
			set.AddFlag(f)
		}
	})
	return set
}

// flagNames is a line that names flags.
func flagNames(flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, flagName(f)) })
	return strings.Join(names, "; ")
}

// flagName is how a flag is written, such as "-w, --workspace DIR".
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch value, _ := pflag.UnquoteUsage(f); {
	case value == "":
	case f.NoOptDefVal != "":
		name += "[=" + value + "]"
	default:
		name += " " + value
	}
	return name
}

func usages(flags *pflag.FlagSet) string {
	return strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), " \n") + "\n"
}

// paragraphs takes the description of a command apart.
func paragraphs(cmd *cobra.Command) []string {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n\n")
}

// Fill breaks a paragraph into lines that fit the screen.
func Fill(paragraph string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(paragraph) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > helpWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}
