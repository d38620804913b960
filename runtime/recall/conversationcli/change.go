package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// changeHelp describes the question in the help of the commands that change conversations.
const changeHelp = `A change of several conversations, the active one or a pinned one asks first;
if there is no terminal to ask on, it needs --yes.`

// change is a command that changes conversations.
type change struct {
	verb, done string // such as "archive" and "archived"; without done, one prints the result
	nothing    string // what to say of a conversation that needs no change
	warning    string // shown before; a change with a warning always asks
	yes        bool   // it does not ask
	dryRun     bool
	wait       time.Duration // for the lock of a conversation

	choose func(ctx context.Context, args []string) ([]conversations.Listed, error)
	// one changes one conversation, and reports whether there was something to change.
	one func(context.Context, *jp.Writer, *conversations.Listed) (bool, error)
}

// changing completes a command that makes a change, and adds the flags that all such commands have. A group is a list
// of flag names, separated by spaces; of its flags at most one may be given.
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

// change changes the conversations of a list, after a person has agreed, and writes what was done. If one of several
// cannot be changed, it reports the error and goes on. With dryRun it only writes what it would do.
func (c *commands) change(ctx context.Context, ch *change, list []conversations.Listed) error {
	workspace, err := c.workspace()
	if err == nil && !ch.dryRun {
		err = c.agree(ctx, ch, list)
	}
	if err != nil {
		return err
	}
	w := workspace.Writer(jp.WriterOptions{Now: c.host.Now, Wait: ch.wait})
	for i := range list {
		l := &list[i]
		if ch.dryRun {
			c.report("would "+ch.verb, l)
			continue
		}
		isChanged, errOne := ch.one(ctx, w, l)
		switch canGoOn := len(list) > 1 && ctx.Err() == nil; {
		case errOne != nil && !canGoOn:
			return errOne
		case errOne != nil:
			cli.Report(c.host.Stderr, explained(errOne))
			err = cli.ErrFailed
		case ch.done == "": // ch.one has written the result
		case !isChanged && !c.out.json:
			c.note("%s: %s", l.ID, ch.nothing)
		default:
			c.report(either(isChanged, ch.done, "unchanged"), l)
		}
	}
	return err
}

// report writes what was done to a conversation, or would be.
func (c *commands) report(action string, l *conversations.Listed) {
	c.out.add(acted(action, l)+"\n", about(l.ID, l.Title, "action", action))
}

// acted returns a line for an action on a conversation: the action, the id and the title.
func acted(action string, l *conversations.Listed) string {
	return strings.TrimRight(action+" "+string(l.ID)+"  "+shortTitle(l.Title), " ")
}

// agree asks a person to agree to a change: if the change has a warning, or if it is a change of several conversations,
// of the active one, or of a pinned one. It returns an error if the person does not agree, or cannot be asked.
func (c *commands) agree(ctx context.Context, ch *change, list []conversations.Listed) error {
	active, err := c.active(ctx)
	if err != nil {
		c.warn("which conversation is active is not known: %v", err)
	}
	isActive := func(l conversations.Listed) bool { return l.ID == active }
	isPinned := func(l conversations.Listed) bool { return !l.PinnedAt.IsZero() }
	subject := either(len(list) > 1, "one", "it") // of the reasons
	reasons := strings.Join(filled(
		either(len(list) > 1, plural(len(list), "conversation"), ""),
		either(slices.ContainsFunc(list, isActive), subject+" is active", ""),
		either(slices.ContainsFunc(list, isPinned), subject+" is pinned", ""),
	), ", ")
	if ch.yes || reasons == "" && ch.warning == "" {
		return nil
	}
	for i := range list[:min(len(list), maxNamed)] {
		c.note("%s", acted(ch.verb, &list[i]))
	}
	for _, line := range filled(
		either(len(list) > maxNamed, fmt.Sprintf("… and %d more", len(list)-maxNamed), ""),
		either(reasons == "", "", "this needs a yes: "+reasons), ch.warning,
	) {
		c.note("%s", line)
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
	return c.archiving(cmd, &when, true, "it is archived already")
}

func (c *commands) unarchiveCommand() *cobra.Command {
	cmd := c.newCommand("unarchive ID…", "ua", "Bring conversations back from the archive", "", "conversation unarchive jp-c17737387251")
	return c.archiving(cmd, &span{}, false, "it is not archived")
}

// archiving completes a command that moves conversations to the archive, or if archived is false out of it. nothing is the
// note for a conversation that need not be moved.
func (c *commands) archiving(cmd *cobra.Command, when *span, archived bool, nothing string) *cobra.Command {
	return c.changing(cmd, &change{
		verb: cmd.Name(), done: cmd.Name() + "d", nothing: nothing,
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			return c.chosen(ctx, args, *when)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
			return w.SetArchived(ctx, l.ID, archived)
		},
	})
}

func (c *commands) forkCommand() *cobra.Command {
	cmd := c.newCommand("fork ID", "f", "Copy a conversation, as a child of it, and print the new id",
		`Copies a conversation, as a child of it, and prints the id of the copy. The copy
has the title, the labels, the pin and the configuration of the other one, and
all of its turns or some. It is not hidden and does not expire.`,
		"conversation fork jp-c17737387251", `conversation fork . --hidden --title "Another way"`, "conversation fork . --first=2 --last")
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
	return c.changing(cmd, &change{
		yes: true, verb: "fork",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			args = turns.takeCounts(flags, args)
			o.Turns.First, o.Turns.Last = turns.first, turns.last
			return c.named(ctx, args)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
			id, err := w.Fork(ctx, l.ID, o)
			if err == nil {
				c.out.add(string(id)+"\n", about(l.ID, l.Title, "action", "forked", "new_id", id))
			}
			return true, err
		},
	}, "no-turns first", "no-turns last", "no-turns from", "no-turns until")
}

func (c *commands) editCommand() *cobra.Command {
	cmd := c.newCommand("edit ID…", "", "Change the title, the pin or the place of conversations",
		`Changes the title, the pin, the expiry or the place of conversations, or hides
them: lists and searches leave them out, and they can still be read.`,
		`conversation edit jp-c17737387251 --title "Retry policy"`, "conversation edit . --hide")
	var to jp.Change
	var local *bool
	flags := cmd.Flags()
	flags.Func("title", "give it this `title`", func(title string) error {
		to.Title = &title
		if strings.TrimSpace(title) == "" {
			return cli.Hint(errors.New("blank"), "--no-title removes it")
		}
		return nil
	})
	addSwitch(flags, "no-title", "remove its title", func(bool) { to.Title = new(string) })
	addSwitch(flags, "pin", "pin it; =false takes that back", func(is bool) { to.Pinned = &is })
	addSwitch(flags, "hide", "hide it from lists and searches", func(is bool) { to.Hidden = &is })
	addSwitch(flags, "unhide", "show it again", func(bool) { to.Hidden = new(bool) })
	flags.Func("tmp", "have JP delete it after a `time`: write --tmp=2d, --tmp=1h or --tmp=now", func(given string) error {
		after, err := parseAge(either(given == "now", "0s", given))
		to.Expires = new(c.host.Now().Add(after))
		return err
	})
	flags.Lookup("tmp").NoOptDefVal = "now"
	addSwitch(flags, "no-tmp", "keep it", func(bool) { to.Expires = new(time.Time) })
	addSwitch(flags, "local", "keep it out of the project; =false takes that back", func(is bool) { local = &is })
	return c.changing(cmd, &change{
		verb: "edit", done: "edited", nothing: "it is like that already",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			if cmp.Or(to.Pinned, to.Hidden, local) == nil && to.Title == nil && to.Expires == nil {
				return nil, misused("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
			}
			return c.named(ctx, args)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
			edited, err := w.Edit(ctx, l.ID, func(transcript.Conversation) jp.Change { return to })
			isMoved := false
			if err == nil && local != nil {
				isMoved, err = w.SetLocal(ctx, l.ID, *local)
			}
			l.Title = edited.Title
			return edited.Changed || isMoved, err
		},
	}, "title no-title", "hide unhide", "tmp no-tmp")
}

// addSwitch defines a flag that is true or false. It calls set with its value if the flag is given.
func addSwitch(flags *pflag.FlagSet, name, usage string, set func(bool)) {
	flags.BoolFunc(name, usage, func(given string) error {
		is, err := strconv.ParseBool(given)
		set(is)
		return err
	})
}

func (c *commands) labelCommand() *cobra.Command {
	add := c.newCommand("add KEY[=VALUE]…", "", "Add labels to conversations, or change their values", "",
		"conversation label add --id jp-c17737387251 area=feed decision")
	add.Args = cobra.MinimumNArgs(1)
	remove := c.newCommand("rm [KEY]…", "", "Remove labels from conversations",
		`Removes labels from conversations; without a KEY all of them. Then a hidden
conversation is shown again, and a fork no longer has a parent.`,
		"conversation label rm --id jp-c17737387251 decision")
	return cli.Group(c.newCommand("label", "l", "Add labels to conversations, or remove them", "", "conversation label add --id jp-c17737387251 decision"),
		c.labelling(add, true), c.labelling(remove, false))
}

// labelling completes a command that adds the labels in its arguments to conversations, or removes these labels from
// them if isAdding is false.
func (c *commands) labelling(cmd *cobra.Command, isAdding bool) *cobra.Command {
	ids := cmd.Flags().StringSliceP("id", "i", nil, "the conversation with this `ID`, or . for the active one; repeatable")
	complete(cmd, "id", c.completeIDs)
	labels := map[string]*string{} // the values by key; nil for a label to remove
	return c.changing(cmd, &change{
		verb: either(isAdding, "add labels to", "remove labels from"), done: "labelled", nothing: "its labels are like that already",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			for _, label := range args {
				key, value, _ := strings.Cut(label, "=")
				labels[key] = nil
				if isAdding {
					labels[key] = &value
				}
				if err := jp.CheckLabel(key); err != nil {
					return nil, err
				}
			}
			return c.named(ctx, *ids)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
			edited, err := w.Edit(ctx, l.ID, func(now transcript.Conversation) jp.Change { return relabelled(now, labels) })
			return edited.Changed, err
		},
	})
}

// relabelled returns the change that sets labels to their values, and removes labels whose value is nil. labels must
// not be nil; if it is empty, the change removes all labels that the conversation has now. A change that removes the
// label hidden also resets the field hidden in JP's metadata.
func relabelled(now transcript.Conversation, labels map[string]*string) jp.Change {
	to := jp.Change{Labels: maps.Clone(labels)}
	if len(labels) == 0 {
		for key := range now.Labels {
			to.Labels[key] = nil
		}
	}
	if value, ok := to.Labels["hidden"]; ok && value == nil {
		to.Hidden = new(bool) // false
	}
	return to
}

func (c *commands) removeCommand() *cobra.Command {
	cmd := c.newCommand("rm ID…", "", "Remove conversations and what was forked from them",
		`Moves conversations, and what was forked from them, to a trash, from which
restore brings them back. It always asks first.`,
		"conversation rm jp-c17737387251 --dry-run", "conversation rm jp-c17737387251 --keep-children --yes")
	permanent := cmd.Flags().Bool("permanent", false, "delete for good")
	keepChildren := cmd.Flags().Bool("keep-children", false, "keep what was forked from them")
	var when span
	c.addSpan(cmd, &when)
	ch := &change{verb: "remove", done: "removed", warning: "conversation restore brings back what is removed"}
	ch.one = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
		if *permanent {
			return true, w.Delete(ctx, l.ID)
		}
		return true, w.Remove(ctx, l.ID)
	}
	ch.choose = func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		if *permanent {
			ch.verb, ch.done, ch.warning = "delete", "deleted", "nothing brings back what is deleted"
		}
		list, err := c.chosen(ctx, args, when)
		if err != nil || *keepChildren {
			return list, err
		}
		return c.withChildren(ctx, list)
	}
	return c.changing(cmd, ch)
}

// withChildren returns conversations, and after them what was forked from them and from their forks.
func (c *commands) withChildren(ctx context.Context, list []conversations.Listed) ([]conversations.Listed, error) {
	all, err := c.all(ctx, conversations.Filter{Both: true, Hidden: true})
	for i := 0; i < len(list); i++ { // the list grows
		for _, l := range all {
			if l.Parent == list[i].ID && indexOf(list, l.ID) < 0 {
				list = append(list, l)
			}
		}
	}
	return list, err
}

// trash returns the conversations that were removed, and the time at which each was.
func (c *commands) trash(ctx context.Context) (list []conversations.Listed, removedAt []time.Time, err error) {
	if _, err := c.open(); err != nil {
		return nil, nil, err // it fails for an excluded project
	}
	w, err := c.workspace()
	if err != nil {
		return nil, nil, err
	}
	removed, err := w.Trash(ctx)
	for _, r := range removed {
		list = append(list, conversations.Listed{Conversation: r.Conversation})
		removedAt = append(removedAt, r.At)
	}
	return list, removedAt, err
}

func (c *commands) restoreCommand() *cobra.Command {
	cmd := c.newCommand("restore [ID]…", "", "Bring removed conversations back from the trash",
		"Brings conversations back that rm removed; without an ID it lists them.",
		"conversation restore", "conversation restore jp-c17737387251")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		removed, _, _ := c.trash(cmd.Context()) // nothing is offered if it cannot be read
		return offered(removed, word)
	}
	return c.changing(cmd, &change{
		verb: "restore", done: "restored",
		choose: c.fromTrash,
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (bool, error) {
			return true, w.Restore(ctx, l.ID)
		},
	})
}

// fromTrash returns the conversations in the trash that arguments name. It returns an error for one that is not there.
// Without arguments it writes what is in the trash, and returns no conversation.
func (c *commands) fromTrash(ctx context.Context, args []string) (list []conversations.Listed, err error) {
	removed, removedAt, err := c.trash(ctx)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		l, err := c.one(removed, arg)
		if err == nil && l == nil {
			id, _ := conversations.ParseID(arg)
			err = failed("conversation restore lists what is in the trash", "conversation %s is not in the trash", cmp.Or(string(id), arg))
		}
		if err != nil {
			return nil, err
		}
		l.PinnedAt = time.Time{} // so that agree does not ask the user before a pinned one is restored
		list = append(list, *l)
	}
	if len(args) == 0 {
		c.listTrash(removed, removedAt)
	}
	return list, nil
}

// listTrash writes the conversations that can be restored.
func (c *commands) listTrash(removed []conversations.Listed, removedAt []time.Time) {
	short := c.shortIDs(removed)
	for i, l := range removed {
		line := short(l.ID) + "  removed " + c.age(removedAt[i]) + "  " + shortTitle(l.Title)
		c.out.add(strings.TrimRight(line, " ")+"\n", about(l.ID, l.Title, "removed_at", removedAt[i], "archived", l.Archived))
	}
	if len(removed) == 0 && !c.out.json {
		c.note("nothing is in the trash")
	}
}
