package conversationcli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

// forkFlags is the command line of fork.
type forkFlags struct {
	changeFlags
	title               string
	hidden, resetLabels bool
	labels              []string
}

func (c *commands) forkCommand() *cobra.Command {
	var opts forkFlags
	cmd := &cobra.Command{
		Use:     "fork ID",
		Aliases: []string{"f"},
		Short:   "Copy a conversation, as a child of it, and print the new id",
		Long: `Copies a conversation, as a child of it, and prints the id of the copy. That has
the title, the labels and the pin of the other one, is not hidden and does not
expire.

` + targetsHelp,
		Example: `  convtools conversation fork jp-c17737387251
  convtools conversation fork . --hidden --title "Another way"`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.completeIDs,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.fork(cmd.Context(), cmd, &opts, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.title, "title", "t", "", "give it this `title`")
	flags.BoolVar(&opts.hidden, "hidden", false, "hide the copy from lists and searches")
	flags.StringArrayVar(&opts.labels, "label", nil, "give it the label `KEY` or KEY=VALUE; repeatable")
	flags.BoolVar(&opts.resetLabels, "reset-labels", false, "leave the labels of the other one away")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "only show what would be copied")
	flags.StringVar(&opts.wait, "wait", "", "wait up to this `time`, such as 30s, while another new conversation is made")
	return cmd
}

func (c *commands) fork(ctx context.Context, cmd *cobra.Command, opts *forkFlags, args []string) error {
	o := jp.ForkOptions{Hidden: opts.hidden, ResetLabels: opts.resetLabels, Labels: map[string]*string{}}
	if cmd.Flags().Changed("title") {
		o.Title = &opts.title
	}
	for _, label := range opts.labels {
		key, value, _ := strings.Cut(label, "=")
		if err := jp.CheckLabel(key); err != nil {
			return changeFailure(err)
		}
		o.Labels[key] = &value
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	list, err := c.named(ctx, cmd, source, args, "")
	if err != nil {
		return err
	}
	opts.yes = true // what is copied is not changed
	return c.make(ctx, source, change{
		flags: &opts.changeFlags, verb: "fork", done: "forked",
		each: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			id, err := w.Fork(ctx, l.ID, o)
			return outcome{id: id}, err
		},
	}, list)
}
