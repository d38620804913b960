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
	return cli.Group(&cobra.Command{
		Use:     "label",
		Aliases: []string{"l"},
		Short:   "Add, remove or list the labels of conversations",
		Long:    "Adds, removes or lists the labels of conversations.",
		Example: `  convtools conversation label add --id jp-c17737387251 area=feed decision
  convtools conversation label ls --id jp-c17737387251`,
	}, c.labelAddCommand(), c.labelRemoveCommand(), c.labelListCommand())
}

// labelIDs defines the flag for the conversations that labels are about.
func (c *commands) labelIDs(cmd *cobra.Command, ids *[]string) {
	cmd.Flags().StringSliceVarP(ids, "id", "i", nil, "the conversation with this `ID`, or a word such as . for the active one; repeatable")
	c.completeFlags(cmd, nil)
}

func (c *commands) labelAddCommand() *cobra.Command {
	var opts changeFlags
	var ids []string
	cmd := &cobra.Command{
		Use:     "add KEY[=VALUE]…",
		Short:   "Add labels to conversations",
		Long:    "Adds labels to conversations, or changes their values.\n\n" + changeHelp,
		Example: "  convtools conversation label add --id jp-c17737387251 area=feed decision",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("write KEY or KEY=VALUE", "%s needs a label", cmd.CommandPath())
			}
			labels := map[string]*string{}
			for _, arg := range args {
				key, value, _ := strings.Cut(arg, "=")
				if err := jp.CheckLabel(key); err != nil {
					return changeFailure(err)
				}
				labels[key] = &value
			}
			return c.label(cmd, &opts, ids, "add labels to", labels, nil)
		},
	}
	c.labelIDs(cmd, &ids)
	opts.addFlags(cmd)
	return cmd
}

func (c *commands) labelRemoveCommand() *cobra.Command {
	var opts changeFlags
	var ids []string
	cmd := &cobra.Command{
		Use:   "rm [KEY]…",
		Short: "Remove labels from conversations",
		Long: `Removes labels from conversations; without a KEY all of them, which makes a
conversation that is hidden visible, and a fork forget its parent.

` + changeHelp,
		Example: "  convtools conversation label rm --id jp-c17737387251 decision",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.label(cmd, &opts, ids, "remove labels from", nil, func(now map[string]string) []string {
				if len(args) > 0 {
					return args
				}
				return slices.Sorted(maps.Keys(now))
			})
		},
	}
	c.labelIDs(cmd, &ids)
	opts.addFlags(cmd)
	return cmd
}

// label adds labels, or removes those that remove names.
func (c *commands) label(cmd *cobra.Command, opts *changeFlags, ids []string, verb string, add map[string]*string, remove func(map[string]string) []string) error {
	source, err := c.open()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	list, err := c.named(ctx, cmd, source, ids, "--id")
	if err != nil {
		return err
	}
	done := "labelled"
	labels := func(conversation transcript.Conversation) jp.Change {
		change := jp.Change{Labels: maps.Clone(add)}
		if remove == nil {
			return change
		}
		change.Labels = map[string]*string{}
		for _, key := range remove(conversation.Labels) {
			change.Labels[key] = nil
			if key == "hidden" { // also where only JP's metadata says so
				change.Hidden = new(bool)
			}
		}
		return change
	}
	return c.make(ctx, source, change{
		flags: opts, verb: verb, done: done,
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
			f, err := c.resolveFormat()
			if err != nil {
				return err
			}
			source, err := c.open()
			if err != nil {
				return err
			}
			list, err := c.named(cmd.Context(), cmd, source, ids, "--id")
			if err != nil {
				return err
			}
			return c.listLabels(f, list)
		},
	}
	c.labelIDs(cmd, &ids)
	return cmd
}

func (c *commands) listLabels(f format, list []conversations.Listed) error {
	out := c.newResults(f)
	for i := range list {
		l := &list[i]
		var lines strings.Builder
		for _, label := range labelsOf(l) {
			if len(list) > 1 {
				label = string(l.ID) + "  " + label
			}
			lines.WriteString(text.Line(label) + "\n")
		}
		err := out.add(lines.String(), func(r *record) {
			r.about(string(l.ID), l.Title)
			r.labels(l.Labels)
		})
		if err != nil {
			return err
		}
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
