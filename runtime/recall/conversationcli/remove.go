package conversationcli

import (
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

// removeFlags is the command line of rm.
type removeFlags struct {
	changeFlags
	when                    span
	permanent, keepChildren bool
}

func (c *commands) removeCommand() *cobra.Command {
	var opts removeFlags
	cmd := &cobra.Command{
		Use:   "rm ID…",
		Short: "Remove conversations and what was forked from them",
		Long: `Removes conversations, and what was forked from them, to a trash that restore
brings them back from. It asks first; where nobody can be asked it needs --yes.

` + targetsHelp,
		Example: `  convtools conversation rm jp-c17737387251 --dry-run
  convtools conversation rm jp-c17737387251 --keep-children --yes`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.remove(cmd.Context(), cmd, &opts, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.permanent, "permanent", false, "delete for good, from the trash too")
	flags.BoolVar(&opts.keepChildren, "keep-children", false, "keep what was forked from them, as children of their parents")
	opts.addFlags(cmd)
	opts.when.addFlags(cmd, false)
	return cmd
}

func (c *commands) remove(ctx context.Context, cmd *cobra.Command, opts *removeFlags, args []string) error {
	list, err := c.toRemove(ctx, cmd, opts, args)
	if err != nil {
		return err
	}
	all, err := c.everything(ctx)
	if err != nil {
		return err
	}
	ch := change{flags: &opts.changeFlags, verb: "remove", done: "removed", dangerous: "conversation restore brings back what is removed"}
	if opts.permanent {
		ch.verb, ch.done, ch.dangerous = "delete", "deleted", "nothing brings back what is deleted"
	}
	removed := map[transcript.ID]bool{}
	for i := range list {
		removed[list[i].ID] = true
	}
	descendants := below(all, list)
	var lifted []conversations.Listed
	switch {
	case opts.keepChildren:
		lifted = slices.DeleteFunc(descendants, func(l conversations.Listed) bool { return !removed[l.Parent] })
	case len(descendants) > 0:
		ch.reasons = []string{fmt.Sprintf("%d of them forked from what was named", len(descendants))}
		list = append(list, descendants...)
	}
	parents := map[transcript.ID]transcript.ID{}
	for i := range all {
		parents[all[i].ID] = all[i].Parent
	}
	ch.together = func(ctx context.Context, w *jp.Writer, some []conversations.Listed) error {
		var edits []jp.Edited
		for _, l := range lifted {
			edited, err := lift(ctx, w, l.ID, removed, parents)
			if err != nil {
				return err
			}
			edits = append(edits, edited)
		}
		lifted = nil // before the first are removed
		if err := w.Keep(ctx, edits...); err != nil {
			return err
		}
		var ids []transcript.ID
		for i := range some {
			ids = append(ids, some[i].ID)
		}
		if opts.permanent {
			return w.Delete(ctx, ids...)
		}
		return w.Remove(ctx, ids...)
	}
	return c.make(ctx, ch, list)
}

// lift makes a conversation a child of the nearest conversation above it that is
// not removed.
func lift(ctx context.Context, w *jp.Writer, id transcript.ID, removed map[transcript.ID]bool, parents map[transcript.ID]transcript.ID) (jp.Edited, error) {
	parent := parents[id]
	for range len(removed) { // a circle ends too
		if !removed[parent] {
			break
		}
		parent = parents[parent]
	}
	if removed[parent] || parent == id {
		parent = ""
	}
	return w.Edit(ctx, id, func(transcript.Conversation) jp.Change { return jp.Change{Parent: &parent} })
}

// toRemove finds the conversations to remove. What is to be deleted for good may
// be in the trash.
func (c *commands) toRemove(ctx context.Context, cmd *cobra.Command, opts *removeFlags, args []string) ([]conversations.Listed, error) {
	list, err := c.chosen(cmd, args, opts.when)
	if err == nil || !opts.permanent {
		return list, err
	}
	ids, parseErr := c.targets(ctx, args, "")
	removed, trashErr := c.trash(ctx)
	if parseErr != nil || trashErr != nil {
		return nil, err
	}
	for _, id := range ids {
		if found, listErr := c.all(ctx, conversations.Filter{IDs: []string{id}}); listErr == nil {
			list = append(list, found...)
		} else if r := inTrash(removed, transcript.ID(id)); r != nil {
			list = append(list, conversations.Listed{Conversation: r.Conversation})
		} else {
			return nil, err
		}
	}
	return list, nil
}

// inTrash returns a conversation of the trash; nil where it is not there.
func inTrash(removed []jp.Removed, id transcript.ID) *jp.Removed {
	i := slices.IndexFunc(removed, func(r jp.Removed) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return &removed[i]
}

func (c *commands) trash(ctx context.Context) ([]jp.Removed, error) {
	if _, err := c.open(); err != nil {
		return nil, err // what is excluded is not shown from the trash
	}
	w, err := c.workspace()
	if err != nil {
		return nil, sourceFailure(err, nil)
	}
	return w.Trash(ctx)
}

func (c *commands) restoreCommand() *cobra.Command {
	var opts changeFlags
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
			return offered(list, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.restore(cmd.Context(), &opts, args) },
	}
	opts.addFlags(cmd)
	return cmd
}

func (c *commands) restore(ctx context.Context, opts *changeFlags, args []string) error {
	removed, err := c.trash(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return c.listTrash(removed)
	}
	ids, err := c.parseIDs(args, "")
	if err != nil {
		return err
	}
	var list []conversations.Listed
	for _, id := range ids {
		l := conversations.Listed{Conversation: transcript.Conversation{ID: transcript.ID(id)}}
		if r := inTrash(removed, l.ID); r != nil {
			l.Conversation = r.Conversation
		}
		list = append(list, l)
	}
	return c.make(ctx, change{
		flags: opts, verb: "restore", done: "restored", harmless: true,
		each: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			err := w.Restore(ctx, l.ID)
			var missing *conversations.NotFoundError
			if errors.As(err, &missing) {
				hint := "conversation restore lists what is in the trash"
				if len(missing.Nearest) > 0 {
					hint = "nearest ids in the trash: " + joinBounded(missing.Nearest, ", ")
				}
				return outcome{}, failedHint(hint, "conversation %s is not in the trash", l.ID)
			}
			return outcome{}, err
		},
	}, list)
}

// listTrash writes what can be restored.
func (c *commands) listTrash(removed []jp.Removed) error {
	out, err := c.results()
	if err != nil {
		return err
	}
	for _, r := range removed {
		line := fmt.Sprintf("%s  removed %s  %s", r.ID, c.when(r.At, false), shortTitle(r.Title))
		out.add(strings.TrimRight(line, " ")+"\n", about(r.ID, r.Title, "removed_at", r.At, "archived", r.Archived))
	}
	if len(removed) == 0 && !out.format.json {
		c.note("nothing is in the trash")
	}
	return out.close()
}
