package cli

import (
	"fmt"
	"io"
	"slices"
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
hosts, tools and conversations. SHELL is bash, fish, powershell or zsh. All but
fish complete what is in the title of a conversation to its id; in the list that
fish shows, Ctrl+S searches the titles.

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
			if slices.Contains(shells(), args[0]) {
				script, err := completionScript(cmd.Root(), args[0], bare)
				if err != nil {
					return err
				}
				_, err = io.WriteString(cmd.OutOrStdout(), script)
				return err
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

// completionScript returns the script for a shell. The scripts are cobra's, but for
// one thing: cobra drops what does not begin with the word that is completed, also
// where the program chose what to offer, as it does the conversations that have the
// word in their titles. What comes in an order of its own was chosen so.
func completionScript(root *cobra.Command, shell string, bare bool) (string, error) {
	var script strings.Builder
	var err error
	var changes []string
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, !bare)
		ordered := fmt.Sprintf("(( directive & %d ))", cobra.ShellCompDirectiveKeepOrder)
		changes = []string{
			`[[ $comp == "$cur"* ]] || continue`,
			`[[ $comp == "$cur"* ]] || ` + ordered + ` || continue`,
			`compgen -W "${completions[*]}" -- "${cur}")`,
			`compgen -W "${completions[*]}" -- "$(` + ordered + ` || printf '%s' "${cur}")")`,
			// Bash puts what all begin with in place of the word: something else among them
			// keeps the word.
			"_handle_special_char \"$cur\" =\n",
			"_handle_special_char \"$cur\" =\n" +
				"    if (( ${#COMPREPLY[*]} > 1 )) && [[ ${COMPREPLY[0]} != \"$cur\"* && $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then\n" +
				"        COMPREPLY+=(\" \")\n" +
				"    fi\n",
		}
	case "fish":
		err = root.GenFishCompletion(&script, !bare)
	case "powershell":
		generate := root.GenPowerShellCompletionWithDesc
		if bare {
			generate = root.GenPowerShellCompletion
		}
		err = generate(&script)
		changes = []string{
			`$_.Name -like "$WordToComplete*"`,
			`($_.Name -like "$WordToComplete*") -or (($Directive -band $ShellCompDirectiveKeepOrder) -ne 0)`,
		}
	case "zsh":
		generate := root.GenZshCompletion
		if bare {
			generate = root.GenZshCompletionNoDesc
		}
		err = generate(&script)
		changes = []string{
			`keepOrder="-V"`, `keepOrder="-V"; chosen="-U"`,
			`noSpace keepOrder`, `noSpace keepOrder chosen`,
			`completions $flagPrefix $noSpace;`, `completions $flagPrefix $noSpace $chosen;`,
			// As in bash: several are listed, and the word stays.
			"_describe found some completions\"\n",
			"_describe found some completions\"\n" +
				"            if [ -n \"$chosen\" ] && (( ${#completions} > 1 )) && [[ ${completions[1]} != \"${lastParam##*=}\"* ]]; then\n" +
				"                compstate[insert]=\"\"\n" +
				"                compstate[list]=\"list force\"\n" +
				"            fi\n",
		}
	}
	if err != nil {
		return "", fmt.Errorf("writing the script: %w", err)
	}
	text := script.String()
	for ; len(changes) > 0; changes = changes[2:] {
		if !strings.Contains(text, changes[0]) {
			return "", fmt.Errorf("the script for %s is not as expected: it has no %q", shell, changes[0])
		}
		text = strings.ReplaceAll(text, changes[0], changes[1])
	}
	return text, nil
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
