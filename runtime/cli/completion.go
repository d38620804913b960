package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// shells are those that completion scripts are written for.
func shells() []string { return []string{"bash", "fish", "powershell", "zsh"} }

// CompletionCommand returns the command that prints completion scripts of a program.
func CompletionCommand(program string) *cobra.Command {
	bare := false
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that has a shell complete commands",
		Long: `Prints a script that has a shell complete commands and flags, and the names of
hosts, tools and conversations. SHELL is bash, fish, powershell or zsh.

To have it in every new shell, put the line of your shell below into ~/.bashrc
(the package bash-completion is needed), ~/.config/fish/config.fish, the file
$PROFILE names, or ~/.zshrc (behind compinit).`,
		Example: strings.ReplaceAll(`  source <(PROGRAM completion bash)
  PROGRAM completion fish | source
  PROGRAM completion powershell | Out-String | Invoke-Expression
  source <(PROGRAM completion zsh)`, "PROGRAM", program),
		Args:      OneArg("SHELL"),
		ValidArgs: shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, stdout := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(stdout, !bare)
			case "fish":
				return root.GenFishCompletion(stdout, !bare)
			case "powershell":
				if bare {
					return root.GenPowerShellCompletion(stdout)
				}
				return root.GenPowerShellCompletionWithDesc(stdout)
			case "zsh":
				if bare {
					return root.GenZshCompletionNoDesc(stdout)
				}
				return root.GenZshCompletion(stdout)
			}
			if meant := near.Name(args[0], shells()); meant != "" {
				return Usagef("no completion for %s; did you mean %s?", text.Quote(args[0]), meant)
			}
			return Usagef("no completion for %s; the shells are %s", text.Quote(args[0]), strings.Join(shells(), ", "))
		},
	}
	cmd.Flags().BoolVar(&bare, "no-descriptions", false, "complete without descriptions")
	return cmd
}

// UnquoteUsages takes the quotes that mark the name of a value in help from the
// descriptions of all flags, as shells are to show them.
func UnquoteUsages(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	}
	for _, below := range cmd.Commands() {
		UnquoteUsages(below)
	}
}
