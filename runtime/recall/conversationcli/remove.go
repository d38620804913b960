package conversationcli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) removeCommand() *cobra.Command {
	cmd := c.newCommand("rm ID…", "", "Remove conversations and what was forked from them",
		`Moves conversations, and what was forked from them, to a trash, from which
restore brings them back. It always asks first.`,
		"conversation rm jp-c17737387251 --dry-run", "conversation rm jp-c17737387251 --keep-children --yes")
	permanent := cmd.Flags().Bool("permanent", false, "delete for good")
	keepChildren := cmd.Flags().Bool("keep-children", false, "keep what was forked from them")
	var when span
	c.addSpan(cmd, &when)
	ch := &change{verb: "remove", done: "removed", warning: "conversation restore brings back what is removed", all: (*jp.Writer).Remove}
	ch.choose = func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		if *permanent {
			ch.verb, ch.done, ch.warning, ch.all = "delete", "deleted", "nothing brings back what is deleted", (*jp.Writer).Delete
		}
		list, err := c.chosen(ctx, args, when)
		if err != nil || *keepChildren {
			return list, err
		}
		return c.withChildren(ctx, list)
	}
	return c.changing(cmd, ch)
}

// withChildren returns conversations and what was forked from them.
func (c *commands) withChildren(ctx context.Context, list []conversations.Listed) ([]conversations.Listed, error) {
	all, err := c.all(ctx, conversations.Filter{Both: true, Hidden: true})
	for i := 0; i < len(list); i++ {
		for _, l := range all {
			if l.Parent == list[i].ID && indexOf(list, l.ID) < 0 {
				list = append(list, l)
			}
		}
	}
	return list, err
}

// trash returns the conversations that were removed, and when.
func (c *commands) trash(ctx context.Context) (list []conversations.Listed, at []time.Time, err error) {
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
		at = append(at, r.At)
	}
	return list, at, err
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
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			return outcome{}, w.Restore(ctx, l.ID)
		},
	})
}

// fromTrash returns the conversations in the trash that arguments name; without arguments it lists
// all of the trash.
func (c *commands) fromTrash(ctx context.Context, args []string) (list []conversations.Listed, err error) {
	removed, at, err := c.trash(ctx)
	if len(args) == 0 && err == nil {
		c.listTrash(removed, at)
	}
	for _, arg := range args {
		l, err := c.one(removed, arg)
		if err == nil && l == nil {
			var id transcript.ID
			if id, err = conversations.ParseID(arg); err == nil {
				err = failed("conversation restore lists what is in the trash", "conversation %s is not in the trash", id)
			}
		}
		if err != nil {
			return nil, err
		}
		l.PinnedAt = time.Time{} // a pin is no reason to ask
		list = append(list, *l)
	}
	return list, err
}

// listTrash writes the conversations that can be restored.
func (c *commands) listTrash(removed []conversations.Listed, at []time.Time) {
	short := c.short(removed)
	for i, l := range removed {
		line := short(l.ID) + "  removed " + c.age(at[i]) + "  " + shortTitle(l.Title)
		c.out.add(strings.TrimRight(line, " ")+"\n", about(l.ID, l.Title, "removed_at", at[i], "archived", l.Archived))
	}
	if len(removed) == 0 && !c.out.json {
		c.note("nothing is in the trash")
	}
}
