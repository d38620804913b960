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
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
)

func (c *commands) showCommand() *cobra.Command {
	cmd := c.newCommand("show [ID]…", "s", "Show what is known of conversations",
		`Shows what is known of conversations beside what was said. Without an ID it is
the active one, or the one that was activated last.`,
		"conversation show jp-c17737387251", "conversation show +pinned --format=json")
	return c.reading(cmd, func(ctx context.Context, args []string) error {
		ids, err := c.idsOrRecent(ctx, args)
		if err != nil {
			return err
		}
		found, err := c.list(ctx, conversations.ListQuery{Filter: conversations.Filter{IDs: ids}, Sort: conversations.ByID, Ascending: true, Sizes: true})
		for i := range found.Conversations {
			l := &found.Conversations[i]
			var turns *int // nil if unknown
			if l.Size != nil {
				turns = &l.Size.Turns
			}
			c.out.add(either(i > 0, "\n", "")+c.shown(l, turns), append(listed(l), "parent_id", orNull(l.Parent), "turns", turns))
		}
		return err
	})
}

// shown describes a conversation for people.
func (c *commands) shown(l *conversations.Listed, turns *int) string {
	title := strings.TrimSpace(string(l.ID) + "  " + text.Cell(l.Title))
	lines := c.out.style(styleDim, title) + "\n"
	line := func(name, value string) {
		if value != "" {
			lines += fmt.Sprintf("  %-14s %s\n", name, value)
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			line(name, t.UTC().Format(fullTime)+" ("+c.age(t)+")")
		}
	}
	line("events", eventsCell(l))
	if turns != nil {
		line("turns", strconv.Itoa(*turns))
	}
	at("created", l.CreatedAt)
	at("last event", l.LastEventAt)
	at("last activated", l.LastActivatedAt)
	at("pinned", l.PinnedAt)
	at("archived", l.ArchivedAt)
	at("expires", l.ExpiresAt)
	line("archived", either(l.Archived && l.ArchivedAt.IsZero(), "yes", ""))
	line("hidden", either(l.Hidden, "yes", ""))
	kept := map[string]string{"Y": "the user's store", "N": "the project and the user's store", "ext": "the project"}
	line("kept in", kept[l.Locality])
	line("forked from", string(l.Parent))
	for _, label := range labelsOf(l) {
		line("label", label)
	}
	return lines
}

// labelsOf returns the labels of a conversation as label add takes them.
func labelsOf(l *conversations.Listed) []string {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		value := l.Labels[key]
		labels = append(labels, text.Line(key+either(value == "", "", "="+value)))
	}
	return labels
}

func (c *commands) pathCommand() *cobra.Command {
	cmd := c.newCommand("path [ID]…", "", "Print where conversations are on disk",
		`Prints the directories of conversations, or the paths of their files. If there
is a copy in the project and one in the user's store, it is the newer one.`,
		"conversation path jp-c17737387251", "conversation path . --events")
	var files []string
	for name, file := range map[string]string{"events": jp.EventsFile, "metadata": jp.MetadataFile, "base-config": jp.BaseConfigFile} {
		cmd.Flags().BoolFunc(name, "print the path of "+file, func(string) error {
			files = append(files, file)
			return nil
		})
	}
	return c.command(cmd, func(ctx context.Context, args []string) error {
		if len(files) == 0 {
			files = []string{"."}
		}
		ids, err := c.idsOrRecent(ctx, args)
		if err != nil {
			return err
		}
		w, err := c.workspace()
		if err != nil {
			return err
		}
		for _, arg := range ids {
			id, err := conversations.ParseID(arg)
			for _, file := range files {
				path := ""
				if err == nil {
					path, err = w.Path(ctx, id, file)
				}
				if err != nil {
					return err
				}
				c.out.add(text.Line(path)+"\n", object{"id", id, "path", path})
			}
		}
		return nil
	})
}
