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
	cmd := &cobra.Command{
		Use:   "edit ID…",
		Short: "Change the title, the pin or the place of conversations",
		Long: `Changes the title, the pin, the expiry or the place of conversations, or hides
them: they are left out of lists and searches then, and can still be read.`,
		Example: `  convtools conversation edit jp-c17737387251 --title "Retry policy"
  convtools conversation edit . --hide`,
	}
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
	edit := func(ctx context.Context, w *jp.Writer, one []conversations.Listed) (outcome, error) {
		edited, err := w.Edit(ctx, one[0].ID, func(transcript.Conversation) jp.Change { return to })
		if err != nil {
			return outcome{}, err
		}
		one[0].Title = edited.After.Title
		isMoved := false
		if flags.Changed("local") {
			isMoved, err = w.SetLocal(ctx, one[0].ID, *local)
		}
		return outcome{isNothing: !edited.Changed && !isMoved}, err
	}
	return c.changing(cmd, &change{verb: "edit", done: "edited", nothing: "it is like that already", make: edit}, func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		if flags.Changed("title") && strings.TrimSpace(*title) == "" {
			return nil, misused("--no-title removes it", "--title cannot be blank")
		}
		to.Title = whereGiven(flags.Changed("title") || flags.Changed("no-title"), title)
		to.Pinned = whereGiven(flags.Changed("pin"), pin)
		to.Hidden = whereGiven(flags.Changed("hide") || flags.Changed("unhide"), hide)
		to.Expires = whereGiven(flags.Changed("tmp") || flags.Changed("no-tmp"), &expires)
		if to.Title == nil && to.Pinned == nil && to.Hidden == nil && to.Expires == nil && !flags.Changed("local") {
			return nil, misused("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
		}
		return c.named(ctx, args)
	}, "title no-title", "hide unhide", "tmp no-tmp")
}

// whereGiven returns the value of a flag, and nil where it was not given.
func whereGiven[T any](isGiven bool, value *T) *T {
	if !isGiven {
		return nil
	}
	return value
}

func (c *commands) labelCommand() *cobra.Command {
	add := c.labelling(&cobra.Command{
		Use:     "add KEY[=VALUE]…",
		Short:   "Add labels to conversations",
		Long:    "Adds labels to conversations, or changes their values.",
		Example: "  convtools conversation label add --id jp-c17737387251 area=feed decision",
		Args:    cobra.MinimumNArgs(1),
	}, "add labels to", func(label string) (string, *string) {
		key, value, _ := strings.Cut(label, "=")
		return key, &value
	})
	remove := c.labelling(&cobra.Command{
		Use:   "rm [KEY]…",
		Short: "Remove labels from conversations",
		Long: `Removes labels from conversations; without a KEY all of them, which makes a
conversation that is hidden visible, and a fork forget its parent.`,
		Example: "  convtools conversation label rm --id jp-c17737387251 decision",
	}, "remove labels from", func(key string) (string, *string) { return key, nil })
	return cli.Group(&cobra.Command{
		Use:     "label",
		Aliases: []string{"l"},
		Short:   "Add, remove or list the labels of conversations",
		Example: `  convtools conversation label add --id jp-c17737387251 area=feed decision
  convtools conversation label ls --id jp-c17737387251`,
	}, add, remove, c.labelListCommand())
}

// labelIDs defines the flag for the conversations that labels are about.
func (c *commands) labelIDs(cmd *cobra.Command) *[]string {
	ids := cmd.Flags().StringSliceP("id", "i", nil, "the conversation with this `ID`, or a word such as . for the active one; repeatable")
	complete(cmd, "id", c.completeIDs)
	return ids
}

// labelling completes a command that sets labels to what parse reads from its arguments, and
// removes those that are nil. Without arguments it removes all.
func (c *commands) labelling(cmd *cobra.Command, verb string, parse func(string) (key string, value *string)) *cobra.Command {
	labels := map[string]*string{}
	ch := &change{verb: verb, done: "labelled", nothing: "its labels are like that already"}
	ch.make = func(ctx context.Context, w *jp.Writer, one []conversations.Listed) (outcome, error) {
		edited, err := w.Edit(ctx, one[0].ID, func(now transcript.Conversation) jp.Change {
			to := jp.Change{Labels: maps.Clone(labels)}
			for key := range now.Labels {
				if len(labels) == 0 {
					to.Labels[key] = nil
				}
			}
			if value, ok := to.Labels["hidden"]; ok && value == nil { // also where only JP's metadata says so
				to.Hidden = new(bool)
			}
			return to
		})
		return outcome{isNothing: !edited.Changed}, err
	}
	ids := c.labelIDs(cmd)
	return c.changing(cmd, ch, func(ctx context.Context, args []string) ([]conversations.Listed, error) {
		for _, arg := range args {
			key, value := parse(arg)
			labels[key] = value
			if err := jp.CheckLabel(key); err != nil && value != nil {
				return nil, err
			}
		}
		return c.named(ctx, *ids)
	})
}

func (c *commands) labelListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the labels of conversations",
		Long:    "Lists the labels of conversations, a line each.",
		Example: "  convtools conversation label ls --id jp-c17737387251",
		Args:    cli.NoArgs,
	}
	ids := c.labelIDs(cmd)
	return c.command(cmd, func(ctx context.Context, _ []string) error {
		list, err := c.named(ctx, *ids)
		for i := range list {
			l, lines := &list[i], ""
			for _, label := range labelsOf(l) {
				lines += either(len(list) > 1, string(l.ID)+"  ", "") + label + "\n"
			}
			c.out.add(lines, about(l.ID, l.Title, "labels", l.Labels))
		}
		return err
	})
}
