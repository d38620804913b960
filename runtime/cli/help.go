package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// addHelp adds the command help to root. The command prints cobra's help; a word that is no command is wrong use.
func addHelp(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use:     "help [COMMAND]…",
		Short:   "Show what a command does and takes",
		Long:    "Shows what a command does and takes.",
		Example: Examples(root.Name(), "help install"),
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if cmd, err := commandAt(root, args); err == nil {
				for _, c := range listed(cmd) {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, err := commandAt(root, args)
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag() // as --help does
			return cmd.Help()
		},
	})
}

// commandAt returns the command below root that words name, or an error for the first word that is no command.
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
