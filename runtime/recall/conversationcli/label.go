package conversationcli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) labelCommand() *cobra.Command {
	add := &cobra.Command{
		Use:     "add KEY[=VALUE]…",
		Short:   "Add labels to conversations",
		Long:    "Adds labels to conversations, or changes their values.\n\n" + changeHelp,
		Example: "  convtools conversation label add --id jp-c17737387251 area=feed decision",
	}
	remove := &cobra.Command{
		Use:   "rm [KEY]…",
		Short: "Remove labels from conversations",
		Long: `Removes labels from conversations; without a KEY all of them, which makes a
conversation that is hidden visible, and a fork forget its parent.

` + changeHelp,
		Example: "  convtools conversation label rm --id jp-c17737387251 decision",
	}
	return cli.Group(&cobra.Command{
		Use:     "label",
		Aliases: []string{"l"},
		Short:   "Add, remove or list the labels of conversations",
		Long:    "Adds, removes or lists the labels of conversations.",
		Example: `  convtools conversation label add --id jp-c17737387251 area=feed decision
  convtools conversation label ls --id jp-c17737387251`,
	}, c.labelling(add, "add labels to", addLabels), c.labelling(remove, "remove labels from", removeLabels), c.labelListCommand())
}

// labelIDs defines the flag for the conversations that labels are about.
func (c *commands) labelIDs(cmd *cobra.Command, ids *[]string) {
	cmd.Flags().StringSliceVarP(ids, "id", "i", nil, "the conversation with this `ID`, or a word such as . for the active one; repeatable")
	c.completeFlags(cmd, nil)
}

// labelChange is how the labels of a conversation are changed.
type labelChange func(transcript.Conversation) jp.Change

// addLabels reads the labels to add.
func addLabels(cmd *cobra.Command, args []string) (labelChange, error) {
	if len(args) == 0 {
		return nil, usageError("write KEY or KEY=VALUE", "%s needs a label", cmd.CommandPath())
	}
	labels, err := parseLabels(args)
	return func(transcript.Conversation) jp.Change { return jp.Change{Labels: maps.Clone(labels)} }, err
}

// parseLabels reads labels as KEY or KEY=VALUE.
func parseLabels(words []string) (map[string]*string, error) {
	labels := map[string]*string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if err := jp.CheckLabel(key); err != nil {
			return nil, changeFailure(err)
		}
		labels[key] = &value
	}
	return labels, nil
}

// removeLabels has the labels with some keys removed, or all.
func removeLabels(_ *cobra.Command, keys []string) (labelChange, error) {
	return func(conversation transcript.Conversation) jp.Change {
		change := jp.Change{Labels: map[string]*string{}}
		remove := keys
		if len(remove) == 0 {
			remove = slices.Collect(maps.Keys(conversation.Labels))
		}
		for _, key := range remove {
			change.Labels[key] = nil
			if key == "hidden" { // also where only JP's metadata says so
				change.Hidden = new(bool)
			}
		}
		return change
	}, nil
}

// labelling completes a command that changes labels.
func (c *commands) labelling(cmd *cobra.Command, verb string, parse func(*cobra.Command, []string) (labelChange, error)) *cobra.Command {
	var opts changeFlags
	var ids []string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		labels, err := parse(cmd, args)
		if err != nil {
			return err
		}
		list, err := c.named(cmd, ids, "--id")
		if err != nil {
			return err
		}
		return c.make(cmd.Context(), change{
			flags: &opts, verb: verb, done: "labelled",
			would: func(l *conversations.Listed) string {
				return strings.Join(slices.Sorted(maps.Keys(labels(l.Conversation).Labels)), ", ")
			},
			each: func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
				edited, err := w.Edit(ctx, l.ID, labels)
				if err == nil && !edited.Changed {
					return outcome{nothing: "its labels are like that already"}, nil
				}
				return outcome{edited: edited}, err
			},
		}, list)
	}
	c.labelIDs(cmd, &ids)
	opts.addFlags(cmd)
	return cmd
}

func (c *commands) labelListCommand() *cobra.Command {
	var ids []string
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the labels of conversations",
		Long:    "Lists the labels of conversations, a line each.",
		Example: "  convtools conversation label ls --id jp-c17737387251",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listLabels(cmd, ids)
		},
	}
	c.labelIDs(cmd, &ids)
	return cmd
}

func (c *commands) listLabels(cmd *cobra.Command, ids []string) error {
	out, err := c.results()
	if err != nil {
		return err
	}
	list, err := c.named(cmd, ids, "--id")
	if err != nil {
		return err
	}
	for i := range list {
		l := &list[i]
		var lines strings.Builder
		for _, label := range labelsOf(l) {
			if len(list) > 1 {
				label = string(l.ID) + "  " + label
			}
			lines.WriteString(text.Line(label) + "\n")
		}
		out.add(lines.String(), about(l.ID, l.Title, "labels", labelObject(l.Labels)))
	}
	return out.close()
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
