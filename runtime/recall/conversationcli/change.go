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

// changeHelp describes the question in the help of the commands that change conversations.
const changeHelp = `What is about several conversations, the active one or a pinned one asks first;
where nobody can be asked it needs --yes.`

// change is a command that changes conversations.
type change struct {
	verb, done string // such as "archive" and "archived"
	nothing    string // why a conversation was not changed
	warning    string // shown before; a change with a warning always asks
	yes        bool   // it does not ask
	dryRun     bool
	wait       time.Duration

	choose func(ctx context.Context, args []string) ([]conversations.Listed, error)
	// one changes one conversation. With all, all of them are changed or none.
	one func(context.Context, *jp.Writer, *conversations.Listed) (outcome, error)
	all func(*jp.Writer, context.Context, ...transcript.ID) error
}

// outcome is the effect of a change on one conversation.
type outcome struct {
	id        transcript.ID // of a new conversation
	isNothing bool          // there was nothing to change
}

// changing completes a command that changes conversations.
func (c *commands) changing(cmd *cobra.Command, ch *change, groups ...string) *cobra.Command {
	flags := cmd.Flags()
	flags.BoolVar(&ch.dryRun, "dry-run", false, "only show what would be changed")
	flags.DurationVar(&ch.wait, "wait", 0, "wait up to this `time`, such as 30s, while a conversation is locked")
	if !ch.yes {
		flags.BoolVarP(&ch.yes, "yes", "y", false, "change without asking")
		addHelp(cmd, changeHelp)
	}
	return c.command(cmd, func(ctx context.Context, args []string) error {
		list, err := ch.choose(ctx, args)
		if err != nil || len(list) == 0 {
			return err
		}
		return c.change(ctx, ch, list)
	}, groups...)
}

// change changes conversations, after a person has agreed.
func (c *commands) change(ctx context.Context, ch *change, list []conversations.Listed) error {
	workspace, err := c.workspace()
	switch {
	case err != nil:
		return err
	case ch.dryRun:
		c.report("would "+ch.verb, "", list...)
		return nil
	}
	if err := c.agree(ctx, ch, list); err != nil {
		return err
	}
	w := workspace.Writer(jp.WriterOptions{Now: c.host.Now, Wait: ch.wait})
	if ch.all != nil {
		var ids []transcript.ID
		for _, l := range list {
			ids = append(ids, l.ID)
		}
		if err := ch.all(w, ctx, ids...); err != nil {
			return err
		}
		c.report(ch.done, "", list...)
		return nil
	}
	var failed error
	for i := range list {
		made, err := ch.one(ctx, w, &list[i])
		switch {
		case err != nil && (len(list) == 1 || ctx.Err() != nil):
			return err
		case err != nil: // the others are changed
			failed = cli.ErrFailed
			cli.Report(c.host.Stderr, explained(err))
		case made.isNothing && !c.out.json:
			c.note("%s: %s", list[i].ID, ch.nothing)
		default:
			c.report(either(made.isNothing, "unchanged", ch.done), made.id, list[i])
		}
	}
	return failed
}

// report writes what was done to conversations, or would be, or the id of a new one.
func (c *commands) report(action string, made transcript.ID, list ...conversations.Listed) {
	for _, l := range list {
		line := either(made == "", acted(action, l), string(made))
		c.out.add(line+"\n", about(l.ID, l.Title, "action", action).with("new_id", made))
	}
}

func acted(action string, l conversations.Listed) string {
	return strings.TrimRight(action+" "+string(l.ID)+"  "+shortTitle(l.Title), " ")
}

// agree asks a person to agree to a dangerous change.
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
	if len(reasons) == 0 && ch.warning == "" {
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
	if ch.warning != "" {
		c.note("%s", ch.warning)
	}
	return cli.Ask(ctx, c.host.Stdin, c.host.Stderr, "Make this change?")
}

func (c *commands) archiveCommand() *cobra.Command {
	var when span
	cmd := c.newCommand("archive ID…", "a", "Move conversations to the archive",
		`Moves conversations to the archive: ls --archived lists them, unarchive brings
them back.`,
		"conversation archive jp-c17737387251", "conversation archive --inactive-since=8w --dry-run")
	c.addSpan(cmd, &when)
	c.addTime(cmd, "inactive-since", "those not activated since `TIME`", func(t iso8601.Span) { when.inactive = t.First })
	return c.moving(cmd, &when, (*jp.Writer).Archive, &change{verb: "archive", done: "archived", nothing: "it is archived already"})
}

func (c *commands) unarchiveCommand() *cobra.Command {
	cmd := c.newCommand("unarchive ID…", "ua", "Bring conversations back from the archive", "", "conversation unarchive jp-c17737387251")
	return c.moving(cmd, &span{}, (*jp.Writer).Unarchive, &change{verb: "unarchive", done: "unarchived", nothing: "it is not archived"})
}

// moving completes a command that moves conversations of a span.
func (c *commands) moving(cmd *cobra.Command, when *span, move func(*jp.Writer, context.Context, transcript.ID) (bool, error), ch *change) *cobra.Command {
	ch.one = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		isMoved, err := move(w, ctx, l.ID)
		return outcome{isNothing: !isMoved}, err
	}
	ch.choose = func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		return c.chosen(ctx, args, *when)
	}
	return c.changing(cmd, ch)
}

func (c *commands) forkCommand() *cobra.Command {
	cmd := c.newCommand("fork ID", "f", "Copy a conversation, as a child of it, and print the new id",
		`Copies a conversation, as a child of it, and prints the id of the copy. The copy
has the title, the labels, the pin and the configuration of the other one, and
all of its turns or some. It is not hidden and does not expire.`,
		"conversation fork jp-c17737387251", `conversation fork . --hidden --title "Another way"`, "conversation fork . --first=2 --last")
	o := jp.ForkOptions{Labels: map[string]*string{}}
	var turns counts
	flags := cmd.Flags()
	turns.addCounts(flags, "l", "f")
	flags.BoolVarP(&o.Turns.None, "no-turns", "N", false, "copy no turns, only the configuration")
	c.addTime(cmd, "from", "only turns begun at `TIME` or later: 2026-01-01, or an age such as 3h", func(t iso8601.Span) { o.Turns.From = t.First })
	c.addTime(cmd, "until", "only turns begun before `TIME`", func(t iso8601.Span) { o.Turns.Until = t.First })
	title := flags.StringP("title", "t", "", "give it this `title`")
	flags.BoolVar(&o.Hidden, "hidden", false, "hide the copy from lists and searches")
	addLabel(cmd, "give it the label", func(key, value string, _ bool) { o.Labels[key] = &value })
	flags.BoolVar(&o.ResetLabels, "reset-labels", false, "leave the labels of the other one away")
	return c.changing(cmd, &change{
		yes: true, verb: "fork", done: "forked",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			o.Title = whereGiven(flags.Changed("title"), title)
			args = turns.others(flags, args)
			o.Turns.First, o.Turns.Last = turns.first, turns.last
			return c.named(ctx, args)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			id, err := w.Fork(ctx, l.ID, o)
			return outcome{id: id}, err
		},
	}, "no-turns first", "no-turns last", "no-turns from", "no-turns until")
}
