package knowledgecli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/knowledge"
)

func (c *commands) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show TOPIC/SLUG",
		Short: "Print a subject as the assistant gets it",
		Long: `Prints a subject as the assistant gets it, hidden and learned ones too. The
topic is an id, or, as an argument of its own, a title. A pattern prints all
subjects that it stands for.`,
		Example: `  convtools knowledge show project/style
  convtools knowledge show "Project notes" style
  convtools knowledge show 'project/maintainers/**'`,
		ValidArgsFunction: c.complete((*knowledge.Base).CompletePath),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, subject, err := subjectArgs(cmd, args)
			if err != nil {
				return err
			}
			b, err := c.open()
			if err != nil {
				return err
			}
			text, err := b.Learn(cmd.Context(), topic, []string{subject}, nil)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.host.Stdout, text)
			return err
		},
		Args: cobra.ArbitraryArgs,
	}
}
