package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// CompletionCommand returns the command that prints cobra's completion scripts for a program.
func CompletionCommand(program string) *cobra.Command {
	noDescriptions := false
	shells := []string{"bash", "fish", "powershell", "zsh"}
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that has a shell complete commands",
		Long: `Prints a script that has a shell complete commands and flags, and the names of
hosts, tools and conversations. SHELL is bash, fish, powershell or zsh.

To have it in every new shell, put the line of your shell below into ~/.bashrc,
~/.config/fish/config.fish, the file $PROFILE names, or ~/.zshrc (after
compinit).`,
		Example: strings.ReplaceAll(`  source <(PROGRAM completion bash)
  PROGRAM completion fish | source
  PROGRAM completion powershell | Out-String | Invoke-Expression
  source <(PROGRAM completion zsh)`, "PROGRAM", program),
		Args:      OneArg("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch shell := args[0]; {
			case shell == "bash":
				if _, err := io.WriteString(out, bashWords); err != nil {
					return err
				}
				return root.GenBashCompletionV2(out, !noDescriptions)
			case shell == "fish":
				return root.GenFishCompletion(out, !noDescriptions)
			case shell == "powershell" && noDescriptions:
				return root.GenPowerShellCompletion(out)
			case shell == "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			case shell == "zsh" && noDescriptions:
				return root.GenZshCompletionNoDesc(out)
			case shell == "zsh":
				return root.GenZshCompletion(out)
			}
			if meant := near.Name(args[0], shells); meant != "" {
				return Usagef("no completion for %s; did you mean %s?", text.Quote(args[0]), meant)
			}
			return Usagef("no completion for %s; the shells are %s", text.Quote(args[0]), strings.Join(shells, ", "))
		},
	}
	cmd.Flags().BoolVar(&noDescriptions, "no-descriptions", false, "complete without descriptions")
	return cmd
}

// bashWords defines a function of the package bash-completion that cobra's script calls, for a bash without that
// package. Words end at spaces, not at = and :.
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
        [[ ${COMP_LINE:COMP_POINT-1:1} == " " ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]} prev=${words[cword - 1]}
    }
fi
`

// UnquoteUsages removes the quotes around the names of values from the usage of all flags, for completions.
func UnquoteUsages(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	}
	for _, below := range cmd.Commands() {
		UnquoteUsages(below)
	}
}
