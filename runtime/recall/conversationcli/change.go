package conversationcli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// changeHelp is what the help of commands that change conversations says of asking.
const changeHelp = `What is about several conversations, the active one or a pinned one asks first;
where nobody can be asked it needs --yes.`

// change is a change of conversations.
type change struct {
	yes, dryRun bool
	wait        time.Duration
	verb, done  string // such as "archive" and "archived"
	nothing     string // why it had no effect on a conversation
	loss        string // what to know before it is made, for one that asks in any case
	// together has it made to all conversations or to none; else make gets one at a time.
	together bool
	make     func(context.Context, *jp.Writer, []conversations.Listed) (outcome, error)
}

// outcome is what a change did.
type outcome struct {
	id        transcript.ID // of a conversation that was made
	isNothing bool          // nothing was to be done
}

// choose returns the conversations that arguments name.
type choose func(ctx context.Context, args []string) ([]conversations.Listed, error)

// changing completes a command that changes conversations.
func (c *commands) changing(cmd *cobra.Command, ch *change, choose choose, groups ...string) *cobra.Command {
	flags := cmd.Flags()
	flags.BoolVar(&ch.dryRun, "dry-run", false, "only show what would be changed")
	flags.DurationVar(&ch.wait, "wait", 0, "wait up to this `time`, such as 30s, while a conversation is locked")
	if !ch.yes {
		flags.BoolVarP(&ch.yes, "yes", "y", false, "change without asking")
		cmd.Long += "\n\n" + changeHelp
	}
	return c.command(cmd, func(ctx context.Context, args []string) error {
		list, err := choose(ctx, args)
		if err != nil || len(list) == 0 {
			return err
		}
		return c.change(ctx, ch, list)
	}, groups...)
}

// change makes a change to conversations, once the person who has to be asked has agreed.
func (c *commands) change(ctx context.Context, ch *change, list []conversations.Listed) error {
	workspace, err := c.workspace()
	if err != nil {
		return err
	}
	if ch.dryRun {
		c.report("would "+ch.verb, list, "")
		return nil
	}
	if err := c.agree(ctx, ch, list); err != nil {
		return err
	}
	w := workspace.Writer(jp.WriterOptions{Now: c.host.Now, Wait: ch.wait})
	size := 1
	if ch.together {
		size = len(list)
	}
	var failed error
	for batch := range slices.Chunk(list, size) {
		made, err := ch.make(ctx, w, batch)
		switch {
		case err != nil && (size == len(list) || ctx.Err() != nil):
			return err
		case err != nil: // the others go on
			failed = cli.ErrFailed
			cli.Report(c.host.Stderr, explained(err))
		case made.isNothing && !c.out.json:
			c.note("%s: %s", batch[0].ID, ch.nothing)
		default:
			c.report(either(made.isNothing, "unchanged", ch.done), batch, made.id)
		}
	}
	return failed
}

// report writes what was done to conversations, or would be; of a new one its id.
func (c *commands) report(action string, list []conversations.Listed, made transcript.ID) {
	for _, l := range list {
		line := either(made == "", acted(action, l), string(made))
		c.out.add(line+"\n", about(l.ID, l.Title, "action", action).with("new_id", made))
	}
}

func acted(action string, l conversations.Listed) string {
	return strings.TrimRight(action+" "+string(l.ID)+"  "+shortTitle(l.Title), " ")
}

// agree asks whether to make a change that is dangerous.
func (c *commands) agree(ctx context.Context, ch *change, list []conversations.Listed) error {
	if ch.yes {
		return nil
	}
	active, err := c.activated(ctx)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	isActive := func(l conversations.Listed) bool { return len(active) > 0 && l.ID == active[0].ID }
	isPinned := func(l conversations.Listed) bool { return !l.PinnedAt.IsZero() }
	one := either(len(list) > 1, "one", "it")
	reasons := filled(
		either(len(list) > 1, plural(len(list), "conversation"), ""),
		either(slices.ContainsFunc(list, isActive), one+" is active", ""),
		either(slices.ContainsFunc(list, isPinned), one+" is pinned", ""),
	)
	if len(reasons) == 0 && ch.loss == "" {
		return nil
	}
	for _, l := range list[:min(len(list), maxNamed)] {
		c.note("%s", acted(ch.verb, l))
	}
	if more := len(list) - maxNamed; more > 0 {
		c.note("… and %d more", more)
	}
	if len(reasons) > 0 {
		c.note("this needs a yes: %s", strings.Join(reasons, ", "))
	}
	if ch.loss != "" {
		c.note("%s", ch.loss)
	}
	return cli.Ask(ctx, c.host.Stdin, c.host.Stderr, "Make this change?")
}

func (c *commands) archiveCommand() *cobra.Command {
	var when span
	cmd := &cobra.Command{
		Use:     "archive ID…",
		Aliases: []string{"a"},
		Short:   "Move conversations to the archive",
		Long: `Moves conversations to the archive: ls --archived lists them, unarchive brings
them back.`,
		Example: "  convtools conversation archive jp-c17737387251\n  convtools conversation archive --inactive-since=8w --dry-run",
	}
	c.addSpan(cmd, &when)
	c.addTime(cmd, "inactive-since", "those not activated since `TIME`", func(t iso8601.Span) { when.inactive = t.First })
	return c.moving(cmd, &when, true, &change{verb: "archive", done: "archived", nothing: "it is archived already"})
}

func (c *commands) unarchiveCommand() *cobra.Command {
	return c.moving(&cobra.Command{
		Use:     "unarchive ID…",
		Aliases: []string{"ua"},
		Short:   "Bring conversations back from the archive",
		Long:    "Brings conversations back from the archive.",
		Example: "  convtools conversation unarchive jp-c17737387251",
	}, &span{}, false, &change{verb: "unarchive", done: "unarchived", nothing: "it is not archived"})
}

// moving completes a command that moves conversations to the archive or back.
func (c *commands) moving(cmd *cobra.Command, when *span, archived bool, ch *change) *cobra.Command {
	ch.make = func(ctx context.Context, w *jp.Writer, one []conversations.Listed) (outcome, error) {
		isMoved, err := w.SetArchived(ctx, one[0].ID, archived)
		return outcome{isNothing: !isMoved}, err
	}
	return c.changing(cmd, ch, func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		return c.chosen(ctx, args, *when)
	})
}

func (c *commands) forkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "fork ID",
		Aliases: []string{"f"},
		Short:   "Copy a conversation, as a child of it, and print the new id",
		Long: `Copies a conversation, as a child of it, and prints the id of the copy. That has
the title, the labels and the pin of the other one, is not hidden and does not
expire. It may have some turns alone, and has the configuration in any case.`,
		Example: `  convtools conversation fork jp-c17737387251
  convtools conversation fork . --hidden --title "Another way"
  convtools conversation fork . --first=2 --last`,
	}
	o := jp.ForkOptions{Change: jp.Change{Hidden: new(bool), Labels: map[string]*string{}}}
	var turns counts
	flags := cmd.Flags()
	turns.addCounts(flags, "l", "f")
	flags.BoolVarP(&o.Turns.None, "no-turns", "N", false, "copy no turns, only the configuration")
	c.addTime(cmd, "from", "only turns begun at `TIME` or later: 2026-01-01, or an age such as 3h", func(t iso8601.Span) { o.Turns.From = t.First })
	c.addTime(cmd, "until", "only turns begun before `TIME`", func(t iso8601.Span) { o.Turns.Until = t.First })
	flags.FuncP("title", "t", "give it this `title`", func(title string) error {
		o.Title = &title
		return nil
	})
	flags.BoolVar(o.Hidden, "hidden", false, "hide the copy from lists and searches")
	addLabel(cmd, "give it the label", func(key, value string, _ bool) { o.Labels[key] = &value })
	flags.BoolVar(&o.ResetLabels, "reset-labels", false, "leave the labels of the other one away")
	fork := func(ctx context.Context, w *jp.Writer, one []conversations.Listed) (outcome, error) {
		id, err := w.Fork(ctx, one[0].ID, o)
		return outcome{id: id}, err
	}
	return c.changing(cmd, &change{yes: true, verb: "fork", done: "forked", make: fork}, func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		args = turns.others(flags, args)
		o.Turns.First, o.Turns.Last = turns.first, turns.last
		return c.named(ctx, args)
	}, "no-turns first", "no-turns last", "no-turns from", "no-turns until")
}
