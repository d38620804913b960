package conversationcli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// removal is the command line of rm.
type removal struct {
	*commands
	change
	span
	permanent, keepChildren bool
}

func (c *commands) removeCommand() *cobra.Command {
	r := removal{commands: c, change: change{verb: "remove", done: "removed", together: true, loss: "conversation restore brings back what is removed"}}
	r.make = r.remove
	cmd := &cobra.Command{
		Use:   "rm ID…",
		Short: "Remove conversations and what was forked from them",
		Long: `Removes conversations, and what was forked from them, to a trash that restore
brings them back from. It asks first; where nobody can be asked it needs --yes.`,
		Example: `  convtools conversation rm jp-c17737387251 --dry-run
  convtools conversation rm jp-c17737387251 --keep-children --yes`,
	}
	cmd.Flags().BoolVar(&r.permanent, "permanent", false, "delete for good, from the trash too")
	cmd.Flags().BoolVar(&r.keepChildren, "keep-children", false, "keep what was forked from them")
	c.addSpan(cmd, &r.span)
	return c.changing(cmd, &r.change, r.choose)
}

// choose finds the conversations to remove. What is to be deleted for good may be in the
// trash.
func (r *removal) choose(ctx context.Context, args []string) (list []conversations.Listed, err error) {
	all, err := r.all(ctx, conversations.Filter{Both: true, Hidden: true})
	if err != nil {
		return nil, err
	}
	if r.permanent {
		r.verb, r.done, r.loss = "delete", "deleted", "nothing brings back what is deleted"
		trash, _, err := r.trash(ctx)
		if err != nil {
			return nil, err
		}
		others := []string{}
		for _, arg := range args {
			removed, several := (*conversations.Listed)(nil), error(nil)
			if len(begun(all, arg)) == 0 {
				removed, several = r.one(trash, arg)
			}
			switch {
			case several != nil:
				return nil, several
			case removed != nil:
				list = append(list, *removed)
			default:
				others = append(others, arg)
			}
		}
		args = others
	}
	if len(args) > 0 || len(list) == 0 {
		found, err := r.chosen(ctx, args, r.span)
		if err != nil {
			return nil, err
		}
		list = append(found, list...)
	}
	for i := 0; i < len(list) && !r.keepChildren; i++ {
		for _, l := range all {
			if l.Parent == list[i].ID && indexOf(list, l.ID) < 0 {
				list = append(list, l)
			}
		}
	}
	return list, nil
}

// indexOf returns where a conversation is in a list, or -1.
func indexOf(list []conversations.Listed, id transcript.ID) int {
	return slices.IndexFunc(list, func(l conversations.Listed) bool { return l.ID == id })
}

func (r *removal) remove(ctx context.Context, w *jp.Writer, list []conversations.Listed) (outcome, error) {
	var ids []transcript.ID
	for _, l := range list {
		ids = append(ids, l.ID)
	}
	if r.permanent {
		return outcome{}, w.Delete(ctx, ids...)
	}
	return outcome{}, w.Remove(ctx, ids...)
}

// trash returns what was removed, and when.
func (c *commands) trash(ctx context.Context) (list []conversations.Listed, at []time.Time, err error) {
	if _, err := c.open(); err != nil {
		return nil, nil, err // what is excluded is not shown from the trash
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
	cmd := &cobra.Command{
		Use:   "restore [ID]…",
		Short: "Bring removed conversations back from the trash",
		Long: `Brings conversations back that rm removed; without an ID it lists them. Several
ask first; where nobody can be asked that needs --yes.`,
		Example: `  convtools conversation restore
  convtools conversation restore jp-c17737387251`,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			removed, _, _ := c.trash(cmd.Context()) // nothing is offered where it cannot be read
			return offered(removed, word)
		},
	}
	restore := &change{verb: "restore", done: "restored", make: restore}
	return c.changing(cmd, restore, func(ctx context.Context, args []string) (list []conversations.Listed, err error) {
		removed, at, err := c.trash(ctx)
		if len(args) == 0 && err == nil {
			c.listTrash(removed, at)
		}
		for _, arg := range args {
			var l conversations.Listed // with nothing for which it would have to be asked
			known, err := c.one(removed, arg)
			if known != nil {
				l.ID, l.Title = known.ID, known.Title
			} else if err == nil {
				l.ID, err = conversations.ParseID(arg)
			}
			if err != nil {
				return nil, err
			}
			list = append(list, l)
		}
		return list, err
	})
}

// restore brings a conversation back.
func restore(ctx context.Context, w *jp.Writer, one []conversations.Listed) (outcome, error) {
	err := w.Restore(ctx, one[0].ID)
	var missing *conversations.NotFoundError
	if errors.As(err, &missing) {
		err = failed("conversation restore lists what is in the trash", "conversation %s is not in the trash", one[0].ID)
	}
	return outcome{}, err
}

// listTrash writes what can be restored.
func (c *commands) listTrash(removed []conversations.Listed, at []time.Time) {
	short := c.short(removed)
	for i, l := range removed {
		o := about(l.ID, l.Title, "removed_at", at[i], "archived", l.Archived)
		line := short(l.ID) + "  removed " + c.age(at[i]) + "  " + shortTitle(l.Title)
		c.out.add(strings.TrimRight(line, " ")+"\n", o)
	}
	if len(removed) == 0 && !c.out.json {
		c.note("nothing is in the trash")
	}
}
