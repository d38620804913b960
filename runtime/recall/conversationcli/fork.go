package conversationcli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// forkFlags is the command line of fork.
type forkFlags struct {
	changeFlags
	title               string
	hidden, resetLabels bool
	labels              []string
	turns               turnOptions // --first and --last
	from, until         string
	noTurns             bool
}

func (c *commands) forkCommand() *cobra.Command {
	var opts forkFlags
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
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return opts.turns.complete(cmd, args, word, c.completeIDs)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := opts.turns.takeCounts(args)
			if err != nil {
				return err
			}
			return c.fork(cmd, &opts, args)
		},
	}
	flags := cmd.Flags()
	opts.turns.addCounts(flags, "l", "f")
	flags.BoolVarP(&opts.noTurns, "no-turns", "N", false, "copy no turns, only the configuration")
	flags.StringVar(&opts.from, "from", "", "only turns begun at `TIME` or later: 2026-01-01, or an age such as 3h")
	flags.StringVar(&opts.until, "until", "", "only turns begun before `TIME`")
	flags.StringVarP(&opts.title, "title", "t", "", "give it this `title`")
	flags.BoolVar(&opts.hidden, "hidden", false, "hide the copy from lists and searches")
	flags.StringArrayVar(&opts.labels, "label", nil, "give it the label `KEY` or KEY=VALUE; repeatable")
	flags.BoolVar(&opts.resetLabels, "reset-labels", false, "leave the labels of the other one away")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "only show what would be copied")
	flags.StringVar(&opts.wait, "wait", "", "wait up to this `time`, such as 30s, while another new conversation is made")
	cli.Rare(flags, "from", "reset-labels", "until", "wait")
	return cmd
}

func (c *commands) fork(cmd *cobra.Command, opts *forkFlags, args []string) error {
	o := jp.ForkOptions{Hidden: opts.hidden, ResetLabels: opts.resetLabels}
	if cmd.Flags().Changed("title") {
		o.Title = &opts.title
	}
	var err error
	if o.Labels, err = parseLabels(opts.labels); err != nil {
		return err
	}
	if o.Turns, err = opts.cut(cmd.Flags(), c.host.Now()); err != nil {
		return err
	}
	list, err := c.named(cmd, args, "")
	if err != nil {
		return err
	}
	opts.yes = true // what is copied is not changed
	return c.make(cmd.Context(), change{
		flags: &opts.changeFlags, verb: "fork", done: "forked",
		each: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			id, err := w.Fork(ctx, l.ID, o)
			if err == nil && !(o.Turns.From.IsZero() && o.Turns.Until.IsZero()) {
				c.noteEmpty(ctx, id, l.ID)
			}
			return outcome{id: id}, err
		},
	}, list)
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

// cut returns the turns that the flags ask for.
func (o *forkFlags) cut(flags *pflag.FlagSet, now time.Time) (jp.Cut, error) {
	cut := jp.Cut{None: o.noTurns}
	chosen := ""
	for _, name := range []string{"first", "last", "from", "until"} {
		if flags.Changed(name) {
			chosen = name
		}
	}
	if cut.None && chosen != "" {
		return cut, usageError("give only one of them", "--no-turns and --%s exclude each other", chosen)
	}
	if err := o.turns.checkCounts(); err != nil {
		return cut, err
	}
	if flags.Changed("first") {
		cut.First = &o.turns.first
	}
	if flags.Changed("last") {
		cut.Last = &o.turns.last
	}
	var err error
	if cut.From, err = parseMoment("from", o.from, now); err != nil {
		return cut, err
	}
	cut.Until, err = parseMoment("until", o.until, now)
	return cut, err
}
