package conversationcli

import (
	"context"
	"maps"
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

func (c *commands) editCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID…",
		Short: "Change the title, the pin or the place of conversations",
		Long: `Changes the title, the pin, the expiry or the place of conversations, or hides
them: they are left out of lists and searches then, and can still be read.

` + targetsHelp + "\n\n" + changeHelp,
		Example: `  convtools conversation edit jp-c17737387251 --title "Retry policy"
  convtools conversation edit . --hide`,
	}
	var expires time.Duration
	flags := cmd.Flags()
	title := flags.String("title", "", "give it this `title`")
	flags.Bool("no-title", false, "remove its title")
	pin := flags.Bool("pin", false, "pin it; =false takes that back")
	hide := flags.Bool("hide", false, "hide it from lists and searches")
	flags.Bool("unhide", false, "show it again")
	flags.Func("tmp", "have JP delete it after a `time` such as 2d; bare: now", func(text string) error {
		var ok bool
		if expires, ok = parseAge(text); !ok && text != "now" {
			return cannotBe(text, "write --tmp=2d, --tmp=1h or --tmp=now")
		}
		return nil
	})
	flags.Lookup("tmp").NoOptDefVal = "now"
	flags.Bool("no-tmp", false, "keep it")
	local := flags.Bool("local", false, "keep it out of the project; =false takes that back")
	var to jp.Change
	edit := func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		edited, err := w.Edit(ctx, l.ID, func(transcript.Conversation) jp.Change { return to })
		if err != nil {
			return outcome{}, err
		}
		l.Title = edited.After.Title
		moved := false
		if flags.Changed("local") {
			moved, err = w.SetLocal(ctx, l.ID, *local)
		}
		return outcome{isNothing: !edited.Changed && !moved}, err
	}
	return c.changing(cmd, &change{verb: "edit", done: "edited", nothing: "it is like that already", each: edit},
		func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
			if err := excluded(flags, "title no-title", "hide unhide", "tmp no-tmp"); err != nil {
				return nil, err
			}
			isTitled := flags.Changed("title")
			if isTitled && strings.TrimSpace(*title) == "" {
				return nil, usageError("--no-title removes it", "--title cannot be blank")
			}
			if isTitled || flags.Changed("no-title") {
				to.Title = title
			}
			if flags.Changed("pin") {
				to.Pinned = pin
			}
			if flags.Changed("hide") || flags.Changed("unhide") {
				to.Hidden = hide
			}
			if flags.Changed("no-tmp") {
				to.Expires = new(time.Time)
			}
			if flags.Changed("tmp") {
				to.Expires = new(c.host.Now().Add(expires))
			}
			if to.Title == nil && to.Pinned == nil && to.Hidden == nil && to.Expires == nil && !flags.Changed("local") {
				return nil, usageError("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
			}
			return c.named(cmd, args, "")
		})
}

func (c *commands) labelCommand() *cobra.Command {
	add := c.labelling(&cobra.Command{
		Use:     "add KEY[=VALUE]…",
		Short:   "Add labels to conversations",
		Long:    "Adds labels to conversations, or changes their values.\n\n" + changeHelp,
		Example: "  convtools conversation label add --id jp-c17737387251 area=feed decision",
	}, "add labels to", parseLabel)
	remove := c.labelling(&cobra.Command{
		Use:   "rm [KEY]…",
		Short: "Remove labels from conversations",
		Long: `Removes labels from conversations; without a KEY all of them, which makes a
conversation that is hidden visible, and a fork forget its parent.

` + changeHelp,
		Example: "  convtools conversation label rm --id jp-c17737387251 decision",
	}, "remove labels from", func(to map[string]*string, key string) error {
		to[key] = nil
		return nil
	})
	return cli.Group(&cobra.Command{
		Use:     "label",
		Aliases: []string{"l"},
		Short:   "Add, remove or list the labels of conversations",
		Long:    "Adds, removes or lists the labels of conversations.",
		Example: `  convtools conversation label add --id jp-c17737387251 area=feed decision
  convtools conversation label ls --id jp-c17737387251`,
	}, add, remove, c.ready(c.labelListCommand()))
}

// parseLabel parses a label as KEY or KEY=VALUE.
func parseLabel(to map[string]*string, text string) error {
	key, value, _ := strings.Cut(text, "=")
	to[key] = &value
	return jp.CheckLabel(key)
}

// labelIDs defines the flag for the conversations that labels are about.
func (c *commands) labelIDs(cmd *cobra.Command) *[]string {
	ids := cmd.Flags().StringSliceP("id", "i", nil, "the conversation with this `ID`, or a word such as . for the active one; repeatable")
	complete(cmd, c.completeIDs, "id")
	return ids
}

// labelling completes a command that changes labels. parse reads an argument; without
// one all labels are removed.
func (c *commands) labelling(cmd *cobra.Command, verb string, parse func(to map[string]*string, text string) error) *cobra.Command {
	given := map[string]*string{}
	labels := func(now transcript.Conversation) jp.Change {
		to := jp.Change{Labels: maps.Clone(given)}
		for key := range now.Labels {
			if len(given) == 0 {
				to.Labels[key] = nil
			}
		}
		if value, ok := to.Labels["hidden"]; ok && value == nil { // also where only JP's metadata says so
			to.Hidden = new(bool)
		}
		return to
	}
	ch := change{verb: verb, done: "labelled", nothing: "its labels are like that already"}
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		edited, err := w.Edit(ctx, l.ID, labels)
		return outcome{isNothing: !edited.Changed}, err
	}
	ids := c.labelIDs(cmd)
	return c.changing(cmd, &ch, func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
		if len(args) == 0 && cmd.Name() == "add" {
			return nil, usageError("write KEY or KEY=VALUE", "%s needs a label", cmd.CommandPath())
		}
		for _, arg := range args {
			if err := parse(given, arg); err != nil {
				return nil, err
			}
		}
		return c.named(cmd, *ids, "--id")
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
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := c.named(cmd, *ids, "--id")
		if err != nil {
			return err
		}
		for i := range list {
			var lines strings.Builder
			for _, label := range labelsOf(&list[i]) {
				if len(list) > 1 {
					label = string(list[i].ID) + "  " + label
				}
				lines.WriteString(text.Line(label) + "\n")
			}
			c.out.add(lines.String(), about(list[i].ID, list[i].Title, "labels", list[i].Labels))
		}
		return nil
	}
	return cmd
}

// labelsOf writes the labels of a conversation as label add takes them.
func labelsOf(l *conversations.Listed) []string {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		if value := l.Labels[key]; value != "" {
			key += "=" + value
		}
		labels = append(labels, key)
	}
	return labels
}
