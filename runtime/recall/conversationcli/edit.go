package conversationcli

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) editCommand() *cobra.Command {
	cmd := c.newCommand("edit ID…", "", "Change the title, the pin or the place of conversations",
		`Changes the title, the pin, the expiry or the place of conversations, or hides
them: lists and searches leave them out, and they can still be read.`,
		`conversation edit jp-c17737387251 --title "Retry policy"`, "conversation edit . --hide")
	flags := cmd.Flags()
	title := flags.String("title", "", "give it this `title`")
	flags.Bool("no-title", false, "remove its title")
	pin := flags.Bool("pin", false, "pin it; =false takes that back")
	hide := flags.Bool("hide", false, "hide it from lists and searches")
	flags.Bool("unhide", false, "show it again")
	var expires time.Time
	flags.Func("tmp", "have JP delete it after a `time`: write --tmp=2d, --tmp=1h or --tmp=now", func(given string) error {
		after, err := parseAge(either(given == "now", "0s", given))
		expires = c.host.Now().Add(after)
		return err
	})
	flags.Lookup("tmp").NoOptDefVal = "now"
	flags.Bool("no-tmp", false, "keep it")
	local := flags.Bool("local", false, "keep it out of the project; =false takes that back")
	var to jp.Change
	return c.changing(cmd, &change{
		verb: "edit", done: "edited", nothing: "it is like that already",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			to.Title = whereGiven(flags.Changed("title") || flags.Changed("no-title"), title)
			to.Pinned = whereGiven(flags.Changed("pin"), pin)
			to.Hidden = whereGiven(flags.Changed("hide") || flags.Changed("unhide"), hide)
			to.Expires = whereGiven(flags.Changed("tmp") || flags.Changed("no-tmp"), &expires)
			switch {
			case flags.Changed("title") && strings.TrimSpace(*title) == "":
				return nil, misused("--no-title removes it", "--title cannot be blank")
			case to.Title == nil && to.Pinned == nil && to.Hidden == nil && to.Expires == nil && !flags.Changed("local"):
				return nil, misused("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
			}
			return c.named(ctx, args)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			edited, err := w.Edit(ctx, l.ID, func(transcript.Conversation) jp.Change { return to })
			isMoved := false
			if err == nil && flags.Changed("local") {
				isMoved, err = w.SetLocal(ctx, l.ID, *local)
			}
			l.Title = edited.After.Title
			return outcome{isNothing: !edited.Changed && !isMoved}, err
		},
	}, "title no-title", "hide unhide", "tmp no-tmp")
}

// whereGiven returns the value of a flag, or nil if the flag was not given.
func whereGiven[T any](isGiven bool, value *T) *T {
	if !isGiven {
		return nil
	}
	return value
}

func (c *commands) labelCommand() *cobra.Command {
	add := c.newCommand("add KEY[=VALUE]…", "", "Add labels to conversations, or change their values", "",
		"conversation label add --id jp-c17737387251 area=feed decision")
	add.Args = cobra.MinimumNArgs(1)
	remove := c.newCommand("rm [KEY]…", "", "Remove labels from conversations",
		`Removes labels from conversations; without a KEY all of them. Then a hidden
conversation is shown again, and a fork no longer has a parent.`,
		"conversation label rm --id jp-c17737387251 decision")
	list := c.newCommand("ls", "list", "List the labels of conversations, one a line", "", "conversation label ls --id jp-c17737387251")
	list.Args = cli.NoArgs
	ids := c.addIDs(list)
	return cli.Group(c.newCommand("label", "l", "Add, remove or list the labels of conversations", "", "conversation label ls --id jp-c17737387251"),
		c.labelling(add, true), c.labelling(remove, false),
		c.command(list, func(ctx context.Context, _ []string) error { return c.listLabels(ctx, *ids) }))
}

// addIDs defines the flag for the conversations that have labels.
func (c *commands) addIDs(cmd *cobra.Command) *[]string {
	ids := cmd.Flags().StringSliceP("id", "i", nil, "the conversation with this `ID`, or a word such as . for the active one; repeatable")
	complete(cmd, "id", c.completeIDs)
	return ids
}

// labelling completes a command that adds the labels in its arguments to conversations, or removes
// labels.
func (c *commands) labelling(cmd *cobra.Command, isAdding bool) *cobra.Command {
	ids := c.addIDs(cmd)
	labels := map[string]*string{} // nil for one to remove
	return c.changing(cmd, &change{
		verb: either(isAdding, "add labels to", "remove labels from"), done: "labelled", nothing: "its labels are like that already",
		choose: func(ctx context.Context, args []string) ([]conversations.Listed, error) {
			for _, label := range args {
				if !isAdding {
					labels[label] = nil
					continue
				}
				key, value, _ := strings.Cut(label, "=")
				labels[key] = &value
				if err := jp.CheckLabel(key); err != nil {
					return nil, err
				}
			}
			return c.named(ctx, *ids)
		},
		one: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
			edited, err := w.Edit(ctx, l.ID, func(now transcript.Conversation) jp.Change { return relabelled(now, labels) })
			return outcome{isNothing: !edited.Changed}, err
		},
	})
}

// relabelled returns the change that sets labels, or removes all if there are none. A
// conversation whose label hidden is removed is shown again, also if only JP's metadata hides it.
func relabelled(now transcript.Conversation, labels map[string]*string) jp.Change {
	to := jp.Change{Labels: maps.Clone(labels)}
	for key := range now.Labels {
		if len(labels) == 0 {
			to.Labels[key] = nil
		}
	}
	if value, ok := to.Labels["hidden"]; ok && value == nil {
		to.Hidden = new(bool)
	}
	return to
}

func (c *commands) listLabels(ctx context.Context, ids []string) error {
	list, err := c.named(ctx, ids)
	for _, l := range list {
		lines := ""
		for _, label := range labelsOf(&l) {
			lines += either(len(list) > 1, string(l.ID)+"  ", "") + label + "\n"
		}
		c.out.add(lines, about(l.ID, l.Title, "labels", l.Labels))
	}
	return err
}
