package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) knowledgeShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show TOPIC/SLUG",
		Short: "Print a subject as the assistant gets it",
		Long: `Prints a subject as the assistant gets it, hidden and learned ones too. The
topic is an id, or, as an argument of its own, a title. A pattern prints all
subjects that it stands for.`,
		Example: `  convtools knowledge show project/style
  convtools knowledge show "Project notes" style
  convtools knowledge show 'project/maintainers/**'`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeSubjectPath(cmd.Context(), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, subject, err := subjectArgs(cmd, args)
			if err != nil {
				return err
			}
			b, err := a.openKnowledge()
			if err != nil {
				return err
			}
			text, err := b.Show(cmd.Context(), topic, subject)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, text)
			return err
		},
		Args: cobra.ArbitraryArgs,
	}
}

func (a *app) knowledgePromptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prompt",
		Short: "Print the section for a system prompt",
		Long: `Prints the <knowledge> section for a system prompt: learned subjects in full,
and the topics that the learn tool offers. Where there is nothing to say, it
prints nothing. A host that puts the section into its prompt tells the tools
so with --prompt-injected, and they no longer offer what is in it.`,
		Example: `  convtools knowledge prompt
  convtools knowledge prompt -k 'project/style/**'
  claude --append-system-prompt "$(convtools knowledge prompt)"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.openKnowledge()
			if err != nil {
				return err
			}
			section, warnings, err := b.Section(cmd.Context())
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintf(a.stderr, "warning: %s\n", plainLine(w.String()))
			}
			if section == "" {
				if len(b.CompleteTopic("")) == 0 {
					a.sayHowToBegin(b)
				} else {
					fmt.Fprintln(a.stderr, "note: there is no section: no topic has a subject that is listed or learned")
				}
				return nil
			}
			_, err = fmt.Fprintln(a.stdout, section)
			return err
		},
	}
}
