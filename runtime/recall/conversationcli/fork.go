package conversationcli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) forkCommand() *cobra.Command {
	o := jp.ForkOptions{Labels: map[string]*string{}}
	ch := change{yes: true, verb: "fork", done: "forked"} // what is copied is not changed
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		id, err := w.Fork(ctx, l.ID, o)
		if err == nil && !(o.Turns.From.IsZero() && o.Turns.Until.IsZero()) {
			c.noteEmpty(ctx, id, l.ID)
		}
		return outcome{id: id}, err
	}
	var turns turnFlags
	cmd := &cobra.Command{
		Use:     "fork ID",
		Aliases: []string{"f"},
		Short:   "Copy a conversation, as a child of it, and print the new id",
		Long: `Copies a conversation, as a child of it, and prints the id of the copy. That has
the title, the labels and the pin of the other one, is not hidden and does not
expire. It may have some turns alone, and has the configuration in any case.

` + targetsHelp,
		Example: `  convtools conversation fork jp-c17737387251
  convtools conversation fork . --hidden --title "Another way"
  convtools conversation fork . --first=2 --last`,
		ValidArgsFunction: turns.completing(c.completeIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := turns.arguments(cmd.Flags(), args)
			if err != nil {
				return err
			}
			o.Turns.First, o.Turns.Last = turns.first, turns.last
			if err := excluded(cmd.Flags(), "no-turns first", "no-turns last", "no-turns from", "no-turns until"); err != nil {
				return err
			}
			list, err := c.named(cmd, args, "")
			if err != nil {
				return err
			}
			return c.make(cmd.Context(), &ch, list)
		},
	}
	flags := cmd.Flags()
	turns.addCounts(flags, "l", "f")
	flags.BoolVarP(&o.Turns.None, "no-turns", "N", false, "copy no turns, only the configuration")
	flags.Func("from", "only turns begun at `TIME` or later: 2026-01-01, or an age such as 3h", c.moment(&o.Turns.From))
	flags.Func("until", "only turns begun before `TIME`", c.moment(&o.Turns.Until))
	flags.FuncP("title", "t", "give it this `title`", func(title string) error {
		o.Title = &title
		return nil
	})
	flags.BoolVar(&o.Hidden, "hidden", false, "hide the copy from lists and searches")
	flags.Func("label", "give it the label `KEY` or KEY=VALUE; repeatable", func(text string) error {
		return parseLabel(o.Labels, text)
	})
	flags.BoolVar(&o.ResetLabels, "reset-labels", false, "leave the labels of the other one away")
	flags.BoolVar(&ch.dryRun, "dry-run", false, "only show what would be copied")
	flags.Func("wait", "wait up to this `time`, such as 30s, while another new conversation is made", ch.parseWait)
	cli.Rare(flags, "from", "reset-labels", "until", "wait")
	return cmd
}

// noteEmpty says so where a fork has no turns although its source may have some: no turn
// began in the time that was asked for.
func (c *commands) noteEmpty(ctx context.Context, fork, of transcript.ID) {
	source, err := c.open()
	if err != nil {
		return
	}
	reading, err := source.Read(ctx, conversations.ReadQuery{ID: string(fork)})
	if err == nil && reading.Turns == 0 && reading.Damage == nil {
		c.note("%s: no turn of %s began in that time, so the fork is empty", fork, of)
	}
}
