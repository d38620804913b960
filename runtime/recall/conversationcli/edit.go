package conversationcli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

// editing is what edit was asked for; nil stands for what is to stay as it is.
type editing struct {
	title         *string
	hidden        *bool
	pinned, local func(now bool) bool
	expires       func(now time.Time) time.Time
}

// Values of flags that were given without one, in the words in which the help has what
// can be given.
const (
	trueOrFalse = "true|false"
	anyTime     = "time"
)

// toggle parses true, false or nothing, for the other of what something is.
func toggle(to *func(bool) bool) func(string) error {
	return func(text string) error {
		value, err := strconv.ParseBool(text)
		if text == trueOrFalse {
			*to = func(now bool) bool { return !now }
			return nil
		}
		if err != nil {
			return &valueError{fmt.Sprintf("must be true or false, not %q", text), ""}
		}
		*to = func(bool) bool { return value }
		return nil
	}
}

// expire parses the value of --tmp, which counts from now.
func (e *editing) expire(now func() time.Time) func(string) error {
	return func(text string) error {
		age, ok := parseAge(text)
		if !ok && text != "now" && text != anyTime {
			return cannotBe(text, "write --tmp=2d, --tmp=1h or --tmp=now")
		}
		e.expires = func(at time.Time) time.Time {
			if text == anyTime && !at.IsZero() {
				return time.Time{}
			}
			return now().Add(age)
		}
		return nil
	}
}

// change is what is to be changed of a conversation.
func (e *editing) change(now transcript.Conversation) jp.Change {
	to := jp.Change{Title: e.title, Hidden: e.hidden}
	if e.pinned != nil {
		to.Pinned = new(e.pinned(!now.PinnedAt.IsZero()))
	}
	if e.expires != nil {
		if at := e.expires(now.ExpiresAt); !at.Equal(now.ExpiresAt) {
			to.Expires = &at
		}
	}
	return to
}

func (c *commands) editCommand() *cobra.Command {
	var e editing
	cmd := &cobra.Command{
		Use:   "edit ID…",
		Short: "Change the title, the pin or the place of conversations",
		Long: `Changes the title, the pin, the expiry or the place of conversations, or hides
them: they are left out of lists and searches then, and can still be read.

` + targetsHelp + "\n\n" + changeHelp,
		Example: `  convtools conversation edit jp-c17737387251 --title "Retry policy"
  convtools conversation edit . --hide`,
	}
	flags := cmd.Flags()
	flags.Func("title", "give it this `title`", func(title string) error {
		if e.title = &title; strings.TrimSpace(title) == "" {
			return &valueError{"cannot be blank", "--no-title removes it"}
		}
		return nil
	})
	noTitle := flags.Bool("no-title", false, "remove its title")
	hide := flags.Bool("hide", false, "hide it from lists and searches")
	unhide := flags.Bool("unhide", false, "show it again")
	noTmp := flags.Bool("no-tmp", false, "keep it")
	flags.Func("pin", "pin it, or not; bare: the other of what it is``", toggle(&e.pinned))
	flags.Func("tmp", "have JP delete it after a time such as 2d, or now; bare: now, or keep it if it expires``", e.expire(c.host.Now))
	flags.Func("local", "keep it out of the project, or not; bare: the other of what it is``", toggle(&e.local))
	for name, bare := range map[string]string{"pin": trueOrFalse, "tmp": anyTime, "local": trueOrFalse} {
		flags.Lookup(name).NoOptDefVal = bare
	}
	c.changing(cmd, &change{verb: "edit", done: "edited", nothing: "it is like that already", each: e.edit},
		func(cmd *cobra.Command, args []string) ([]conversations.Listed, error) {
			if err := excluded(flags, "title no-title", "hide unhide", "tmp no-tmp"); err != nil {
				return nil, err
			}
			if *noTitle {
				e.title = new(string)
			}
			if *hide || *unhide {
				e.hidden = hide
			}
			if *noTmp {
				e.expires = func(time.Time) time.Time { return time.Time{} }
			}
			if e.title == nil && e.hidden == nil && e.pinned == nil && e.local == nil && e.expires == nil {
				return nil, usageError("--title, --pin, --hide, --tmp and --local change something; --help lists all", "edit was not told what to change")
			}
			return c.named(cmd, args, "")
		})
	return cmd
}

// edit edits a conversation, and gives l the title that it has then.
func (e *editing) edit(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
	edited, err := w.Edit(ctx, l.ID, e.change)
	if err != nil {
		return outcome{}, err
	}
	l.Title = edited.After.Title
	was, is := false, false
	if e.local != nil {
		was, is, err = w.SetLocal(ctx, l.ID, e.local)
	}
	return outcome{isNothing: !edited.Changed && was == is}, err
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
