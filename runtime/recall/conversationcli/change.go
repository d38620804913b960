package conversationcli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	// yes is that it does not ask, as it never does where it leaves everything as it is.
	yes, dryRun bool
	wait        time.Duration
	// verb and done name the change: "archive", "archived".
	verb, done string
	// dangerous is what to know before it is made; it asks whatever it is about then.
	dangerous string
	// reasons are why it asks, beside those that any change has.
	reasons []string
	// nothing is why nothing was to be done where it has no effect.
	nothing string
	// together makes the change to all, or to none of them; each to one of them. Either
	// may be nil.
	together func(context.Context, *jp.Writer) error
	each     func(context.Context, *jp.Writer, *conversations.Listed) (outcome, error)
}

// outcome is what a change did.
type outcome struct {
	id        transcript.ID // where it is not that of the conversation: of a new one
	isNothing bool          // nothing was to be done
}

// make makes a change to conversations, once the person who has to be asked has agreed.
func (c *commands) make(ctx context.Context, ch *change, list []conversations.Listed) error {
	workspace, err := c.workspace()
	switch {
	case err != nil:
		return err
	case ch.dryRun:
		for i := range list {
			c.acted("would "+ch.verb, &list[i], "")
		}
		return nil
	}
	if err := c.agree(ctx, ch, list); err != nil {
		return err
	}
	w := workspace.Writer(jp.WriterOptions{Now: c.host.Now, Wait: ch.wait})
	if ch.together != nil {
		if err := ch.together(ctx, w); err != nil {
			return err
		}
	}
	var failed error
	for i := range list {
		var result outcome
		if ch.each != nil {
			result, err = ch.each(ctx, w, &list[i])
		}
		switch {
		case err != nil && (len(list) == 1 || ctx.Err() != nil):
			return err
		case err != nil: // the others go on
			failed = cli.ErrFailed
			cli.Report(c.host.Stderr, explained(err))
		case result.isNothing && !c.out.format.json:
			c.note("%s: %s", list[i].ID, ch.nothing)
		default:
			c.acted(either(result.isNothing, "unchanged", ch.done), &list[i], result.id)
		}
	}
	return failed
}

// acted writes what was done to a conversation, or would be; of a new one its id.
func (c *commands) acted(action string, l *conversations.Listed, made transcript.ID) {
	line := either(made != "", string(made), actedLine(action, l))
	c.out.add(line+"\n", append(about(l.ID, l.Title, "action", action), given("new_id", string(made))...))
}

func actedLine(action string, l *conversations.Listed) string {
	return strings.TrimRight(fmt.Sprintf("%s %s  %s", action, l.ID, shortTitle(l.Title)), " ")
}

// agree asks whether to make a change that is dangerous.
func (c *commands) agree(ctx context.Context, ch *change, list []conversations.Listed) error {
	if ch.yes || len(list) == 0 {
		return nil
	}
	reasons := c.dangers(ctx, ch, list)
	if len(reasons) == 0 && ch.dangerous == "" {
		return nil
	}
	for i := range list[:min(len(list), maxListed)] {
		c.note("%s", actedLine(ch.verb, &list[i]))
	}
	if more := len(list) - maxListed; more > 0 {
		c.note("… and %d more", more)
	}
	if len(reasons) > 0 {
		c.note("this needs a yes: %s", strings.Join(reasons, ", "))
	}
	if ch.dangerous != "" {
		c.note("%s", ch.dangerous)
	}
	return cli.Ask(ctx, c.host.Stdin, c.host.Stderr, "Make this change?")
}

// dangers are why a change asks.
func (c *commands) dangers(ctx context.Context, ch *change, list []conversations.Listed) []string {
	var reasons []string
	one := "it"
	if len(list) > 1 {
		one, reasons = "one", []string{fmt.Sprintf("%d conversations", len(list))}
	}
	reasons = append(reasons, ch.reasons...)
	active, err := c.activated(ctx)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	if slices.ContainsFunc(list, func(l conversations.Listed) bool { return len(active) > 0 && l.ID == active[0].ID }) {
		reasons = append(reasons, one+" is active")
	}
	if slices.ContainsFunc(list, func(l conversations.Listed) bool { return !l.PinnedAt.IsZero() }) {
		reasons = append(reasons, one+" is pinned")
	}
	return reasons
}

// changing completes a command that changes conversations: those that choose returns,
// or, where it is nil, those that the arguments name.
func (c *commands) changing(cmd *cobra.Command, ch *change, choose func(*cobra.Command, []string) ([]conversations.Listed, error)) *cobra.Command {
	flags := cmd.Flags()
	flags.BoolVarP(&ch.yes, "yes", "y", ch.yes, "change without asking")
	flags.BoolVar(&ch.dryRun, "dry-run", false, "only show what would be changed")
	flags.Func("wait", "wait up to this `time`, such as 30s, while a conversation is locked", func(text string) error {
		var ok bool
		if ch.wait, ok = parseAge(text); !ok {
			return cannotBe(text, "use a time such as 30s or 5m")
		}
		return nil
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := choose(cmd, args)
		if err != nil {
			return err
		}
		return c.make(cmd.Context(), ch, list)
	}
	return c.ready(cmd)
}

func (c *commands) archiveCommand() *cobra.Command {
	var when span
	cmd := c.moveCommand(&cobra.Command{
		Use:     "archive ID…",
		Aliases: []string{"a"},
		Short:   "Move conversations to the archive",
		Long: `Moves conversations to the archive: ls --archived lists them, unarchive brings
them back.`,
		Example: "  convtools conversation archive jp-c17737387251\n  convtools conversation archive --inactive-since=8w --dry-run",
	}, &when, change{verb: "archive", done: "archived", nothing: "it is archived already"}, (*jp.Writer).Archive)
	c.addSpan(cmd, &when)
	cmd.Flags().Func("inactive-since", "those not activated since `TIME`", c.moment(&when.inactive))
	return cmd
}

func (c *commands) unarchiveCommand() *cobra.Command {
	return c.moveCommand(&cobra.Command{
		Use:     "unarchive ID…",
		Aliases: []string{"ua"},
		Short:   "Bring conversations back from the archive",
		Long:    "Brings conversations back from the archive.",
		Example: "  convtools conversation unarchive jp-c17737387251",
	}, &span{}, change{verb: "unarchive", done: "unarchived", nothing: "it is not archived"}, (*jp.Writer).Unarchive)
}

// moveCommand completes a command that moves conversations.
func (c *commands) moveCommand(cmd *cobra.Command, when *span, ch change, move func(*jp.Writer, context.Context, transcript.ID) (bool, error)) *cobra.Command {
	cmd.Long += "\n\n" + targetsHelp + "\n\n" + changeHelp
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		isMoved, err := move(w, ctx, l.ID)
		return outcome{isNothing: !isMoved}, err
	}
	return c.changing(cmd, &ch, func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
		return c.chosen(cmd, args, when)
	})
}

func (c *commands) forkCommand() *cobra.Command {
	o := jp.ForkOptions{Labels: map[string]*string{}}
	ch := change{yes: true, verb: "fork", done: "forked"}
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		id, err := w.Fork(ctx, l.ID, o)
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
	c.changing(cmd, &ch, func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
		args = turns.arguments(flags, args)
		if err := excluded(flags, "no-turns first", "no-turns last", "no-turns from", "no-turns until"); err != nil {
			return nil, err
		}
		o.Turns.First, o.Turns.Last = turns.first, turns.last
		return c.named(cmd, args, "")
	})
	_ = flags.MarkHidden("yes") // fails only for a flag that is not there
	return cmd
}
