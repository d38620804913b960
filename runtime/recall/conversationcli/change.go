package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
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
	// verb and done name the change: "archive", "archived".
	verb, done string
	// dangerous is what to know before it is made; it asks whatever it is about then.
	dangerous string
	// reasons are why it asks, beside those that any change has.
	reasons []string
	// harmless reports whether it may be about the active one, or a pinned one.
	harmless bool
	// would describes what it would do to one, as the end of a line; nil for nothing
	// but the verb.
	would func(*conversations.Listed) string
	// together makes the change to all, or to none of them; each to one of them. Either
	// may be nil.
	together func(context.Context, *jp.Writer) error
	each     func(context.Context, *jp.Writer, *conversations.Listed) (outcome, error)
}

// outcome is what a change did.
type outcome struct {
	id      transcript.ID // where it is not that of the conversation: of a new one
	nothing string        // why nothing was to be done; empty where something was
	edited  jp.Edited     // where its metadata was changed
}

// addFlags defines the flags of all commands that change conversations.
func (ch *change) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&ch.yes, "yes", "y", false, "change without asking")
	flags.BoolVar(&ch.dryRun, "dry-run", false, "only show what would be changed")
	flags.Func("wait", "wait up to this `time`, such as 30s, while a conversation is locked", ch.parseWait)
}

// parseWait parses the value of --wait.
func (ch *change) parseWait(text string) error {
	var ok bool
	if ch.wait, ok = parseAge(text); !ok {
		return cannotBe(text, "use a time such as 30s or 5m")
	}
	return nil
}

// make makes a change to conversations, once the person who has to be asked has agreed.
func (c *commands) make(ctx context.Context, ch *change, list []conversations.Listed) error {
	workspace, err := c.workspace()
	if err != nil {
		return err
	}
	if ch.dryRun {
		c.rehearse(ch, list)
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
	var edits []jp.Edited
	var failed error
	for i := range list {
		var result outcome
		if ch.each != nil {
			result, err = ch.each(ctx, w, &list[i])
		}
		switch {
		case err == nil:
			edits = append(edits, result.edited)
			c.report(ch, &list[i], result)
		case len(list) == 1 || ctx.Err() != nil:
			return err
		default: // the others go on
			failed = cli.ErrFailed
			cli.Report(c.host.Stderr, explained(err))
		}
	}
	err = w.Keep(ctx, edits...)
	return cmp.Or(err, failed)
}

// report writes what was done to a conversation.
func (c *commands) report(ch *change, l *conversations.Listed, result outcome) {
	action, line := ch.done, acted(ch.done, l)+"\n"
	switch {
	case result.nothing != "":
		action, line = "unchanged", ""
		if !c.out.format.json {
			c.note("%s: %s", l.ID, result.nothing)
		}
	case result.id != "":
		line = string(result.id) + "\n"
	}
	c.out.add(line, append(about(l.ID, l.Title, "action", action), given("new_id", string(result.id))...))
}

// acted is a line about what is done to a conversation.
func acted(action string, l *conversations.Listed) string {
	return strings.TrimRight(fmt.Sprintf("%s %s  %s", action, l.ID, shortTitle(l.Title)), " ")
}

// rehearse writes what would be done.
func (c *commands) rehearse(ch *change, list []conversations.Listed) {
	action := "would " + ch.verb
	for i := range list {
		line, how := acted(action, &list[i]), ""
		if ch.would != nil {
			how = ch.would(&list[i])
			line = strings.TrimRight(line+": "+text.Line(how), ": ")
		}
		c.out.add(line+"\n", about(list[i].ID, list[i].Title, "action", action, "change", orNull(how)))
	}
}

// agree asks whether to make a change that is dangerous.
func (c *commands) agree(ctx context.Context, ch *change, list []conversations.Listed) error {
	reasons := c.dangers(ctx, ch, list)
	if ch.yes || len(reasons) == 0 && (ch.dangerous == "" || len(list) == 0) {
		return nil
	}
	for i := range list[:min(len(list), maxListed)] {
		c.note("%s", acted(ch.verb, &list[i]))
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
	if ch.harmless || ch.yes {
		return reasons
	}
	active, err := c.active(ctx)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	if slices.ContainsFunc(list, func(l conversations.Listed) bool { return l.ID == active }) {
		reasons = append(reasons, one+" is active")
	}
	if slices.ContainsFunc(list, func(l conversations.Listed) bool { return !l.PinnedAt.IsZero() }) {
		reasons = append(reasons, one+" is pinned")
	}
	return reasons
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
	}, &when, change{verb: "archive", done: "archived"}, (*jp.Writer).Archive, "it is archived already")
	c.addSpanFlags(cmd, &when)
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
	}, &span{}, change{verb: "unarchive", done: "unarchived"}, (*jp.Writer).Unarchive, "it is not archived")
}

// moveCommand completes a command that moves conversations.
func (c *commands) moveCommand(cmd *cobra.Command, when *span, ch change, move func(*jp.Writer, context.Context, transcript.ID) (bool, error), nothing string) *cobra.Command {
	cmd.Long += "\n\n" + targetsHelp + "\n\n" + changeHelp
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		moved, err := move(w, ctx, l.ID)
		if err == nil && !moved {
			return outcome{nothing: nothing}, nil
		}
		return outcome{}, err
	}
	ch.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := c.chosen(cmd, args, *when)
		if err != nil {
			return err
		}
		return c.make(cmd.Context(), &ch, list)
	}
	return cmd
}
