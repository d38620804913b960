package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/install"
)

// shells are those that completion scripts are written for.
func shells() []string { return []string{"bash", "fish", "powershell", "zsh"} }

func (a *app) completionCommand() *cobra.Command {
	bare := false
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that has a shell complete commands",
		Long: `Prints a script that has a shell complete commands and flags, and the names of
hosts, tools and conversations. SHELL is bash, fish, powershell or zsh.

To have it in every new shell, put the line of your shell below into ~/.bashrc
(the package bash-completion is needed), ~/.config/fish/config.fish, the file
$PROFILE names, or ~/.zshrc (behind compinit).`,
		Example: `  source <(convtools completion bash)
  convtools completion fish | source
  convtools completion powershell | Out-String | Invoke-Expression
  source <(convtools completion zsh)`,
		Args:      oneArg("SHELL"),
		ValidArgs: shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, !bare)
			case "fish":
				return root.GenFishCompletion(a.stdout, !bare)
			case "powershell":
				if bare {
					return root.GenPowerShellCompletion(a.stdout)
				}
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			case "zsh":
				if bare {
					return root.GenZshCompletionNoDesc(a.stdout)
				}
				return root.GenZshCompletion(a.stdout)
			}
			if near := contract.Nearest(args[0], shells()); near != "" {
				return &usageError{err: fmt.Errorf("no completion for %s; did you mean %s?", contract.Quote(args[0]), near)}
			}
			return &usageError{err: fmt.Errorf("no completion for %s; the shells are %s", contract.Quote(args[0]), strings.Join(shells(), ", "))}
		},
	}
	cmd.Flags().BoolVar(&bare, "no-descriptions", false, "complete without descriptions")
	return cmd
}

func completeHosts(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, h := range install.Hosts() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(h.Name, h.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeScopes completes the scopes that the host knows, or all before one is
// named.
func completeScopes(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	scopes := []install.Scope{install.User, install.Project}
	if len(args) > 0 {
		if host, ok := install.Lookup(args[0]); ok {
			scopes = host.Scopes
		}
	}
	var names []cobra.Completion
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// unquoteForShells has shells get descriptions of flags without the quotes that
// mark the name of a value in help.
func unquoteForShells(root *cobra.Command) {
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Name() == cobra.ShellCompRequestCmd {
			unquoteUsages(root)
		}
		return before(cmd, args)
	}
}

func unquoteUsages(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	}
	for _, below := range cmd.Commands() {
		unquoteUsages(below)
	}
}

// completesTools has the shell complete the names of tools, and then the names
// and values of a tool's arguments.
func (a *app) completesTools(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && args[0] == learnName() && strings.Contains(word, "=") {
			return a.completeLearn(cmd.Context(), args[1:], word)
		}
		if len(args) > 0 {
			return completeArgument(args[0], word)
		}
		var names []cobra.Completion
		for _, tool := range generated.Tools() {
			names = append(names, cobra.CompletionWithDesc(tool.Name, tool.Summary))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func completeArgument(name, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var schema struct {
		Properties map[string]struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	tool, ok := generated.Lookup(name)
	if !ok || json.Unmarshal([]byte(tool.InputSchema), &schema) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	if key, _, ok := strings.Cut(word, "="); ok {
		values := schema.Properties[key].Enum
		if schema.Properties[key].Type == "boolean" {
			values = []string{"true", "false"}
		}
		for _, value := range values {
			words = append(words, key+"="+value)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	for key := range schema.Properties {
		words = append(words, key+"=")
	}
	slices.Sort(words)
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
