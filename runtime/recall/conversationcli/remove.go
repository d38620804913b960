package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// removal is the command line of rm.
type removal struct {
	change
	span
	permanent, keepChildren bool
}

func (c *commands) removeCommand() *cobra.Command {
	r := removal{change: change{verb: "remove", done: "removed", dangerous: "conversation restore brings back what is removed"}}
	cmd := &cobra.Command{
		Use:   "rm ID…",
		Short: "Remove conversations and what was forked from them",
		Long: `Removes conversations, and what was forked from them, to a trash that restore
brings them back from. It asks first; where nobody can be asked it needs --yes.

` + targetsHelp,
		Example: `  convtools conversation rm jp-c17737387251 --dry-run
  convtools conversation rm jp-c17737387251 --keep-children --yes`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.permanent, "permanent", false, "delete for good, from the trash too")
	flags.BoolVar(&r.keepChildren, "keep-children", false, "keep what was forked from them")
	c.addSpan(cmd, &r.span)
	return c.changing(cmd, &r.change, func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
		return c.toRemove(cmd, &r, args)
	})
}

// toRemove finds the conversations to remove, and prepares that. What is to be deleted for
// good may be in the trash.
func (c *commands) toRemove(cmd *cobra.Command, r *removal, args []string) ([]conversations.Listed, error) {
	all, err := c.everything(cmd.Context())
	if err != nil {
		return nil, err
	}
	var list []conversations.Listed
	if r.permanent {
		r.verb, r.done, r.dangerous = "delete", "deleted", "nothing brings back what is deleted"
		if args, list, err = c.inTrash(cmd.Context(), args, all); err != nil {
			return nil, err
		}
		all = append(all, list...) // they may have children
	}
	if len(args) > 0 || len(list) == 0 {
		found, err := c.chosen(cmd, args, &r.span)
		if err != nil {
			return nil, err
		}
		list = append(found, list...)
	}
	removed := map[transcript.ID]bool{}
	for i := range list {
		removed[list[i].ID] = true
	}
	if below := below(all, removed); len(below) > 0 && !r.keepChildren {
		r.reasons = []string{fmt.Sprintf("%d of them forked from what was named", len(below))}
		list = append(list, below...)
	}
	r.together = func(ctx context.Context, w *jp.Writer) error {
		var ids []transcript.ID
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		if r.permanent {
			return w.Delete(ctx, ids...)
		}
		return w.Remove(ctx, ids...)
	}
	return list, nil
}

// below returns the conversations below those that are removed.
func below(all []conversations.Listed, removed map[transcript.ID]bool) (found []conversations.Listed) {
	parents := parentsOf(all)
	for _, l := range all {
		if !removed[l.ID] && above(l.ID, parents, removed) != "" {
			found = append(found, l)
		}
	}
	return found
}

// inTrash returns the conversations that arguments name which are in the trash and nowhere
// else, and the arguments for others.
func (c *commands) inTrash(ctx context.Context, args []string, all []conversations.Listed) (others []string, found []conversations.Listed, err error) {
	trash, err := c.trash(ctx)
	for _, arg := range args {
		id, _ := conversations.ParseID(arg) // what is none is not there
		is := func(l conversations.Listed) bool { return l.ID == id }
		if i := slices.IndexFunc(trash, func(r jp.Removed) bool { return r.ID == id }); i < 0 || slices.ContainsFunc(all, is) {
			others = append(others, arg)
		} else {
			found = append(found, conversations.Listed{Conversation: trash[i].Conversation})
		}
	}
	return others, found, err
}

func (c *commands) trash(ctx context.Context) ([]jp.Removed, error) {
	if _, err := c.open(); err != nil {
		return nil, err // what is excluded is not shown from the trash
	}
	w, err := c.workspace()
	if err != nil {
		return nil, err
	}
	return w.Trash(ctx)
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
			removed, _ := c.trash(cmd.Context()) // nothing is offered where it cannot be read
			var list []conversations.Listed
			for _, r := range removed {
				list = append(list, conversations.Listed{Conversation: r.Conversation})
			}
			return offered(list, word)
		},
	}
	ch := change{verb: "restore", done: "restored", each: restore}
	return c.changing(cmd, &ch, func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
		removed, err := c.trash(cmd.Context())
		if err == nil && len(args) == 0 {
			c.listTrash(removed)
		}
		ids, wrong := c.parseIDs(args, "")
		var list []conversations.Listed
		for _, id := range ids {
			restored := conversations.Listed{Conversation: transcript.Conversation{ID: transcript.ID(id)}}
			if i := slices.IndexFunc(removed, func(r jp.Removed) bool { return string(r.ID) == id }); i >= 0 {
				restored.Title = removed[i].Title
			}
			list = append(list, restored)
		}
		return list, cmp.Or(err, wrong)
	})
}

// restore brings a conversation back.
func restore(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
	err := w.Restore(ctx, l.ID)
	var missing *conversations.NotFoundError
	if errors.As(err, &missing) {
		err = failedHint("conversation restore lists what is in the trash", "conversation %s is not in the trash", l.ID)
	}
	return outcome{}, err
}

// listTrash writes what can be restored.
func (c *commands) listTrash(removed []jp.Removed) {
	for _, r := range removed {
		line := fmt.Sprintf("%s  removed %s  %s", r.ID, c.when(r.At, false), shortTitle(r.Title))
		c.out.add(strings.TrimRight(line, " ")+"\n", about(r.ID, r.Title, "removed_at", r.At, "archived", r.Archived))
	}
	if len(removed) == 0 && !c.out.format.json {
		c.note("nothing is in the trash")
	}
}
