package conversationcli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show [ID]…",
		Aliases: []string{"s"},
		Short:   "Show what is known of conversations",
		Long: `Shows what is known of conversations beside what was said. Without an ID it is
the one that is active, else the one that was activated last.

` + targetsHelp,
		Example: "  convtools conversation show jp-c17737387251\n  convtools conversation show +pinned --format=json",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.showAll(cmd.Context(), args) },
	}
}

func (c *commands) showAll(ctx context.Context, args []string) error {
	ids, err := c.targetsOrActive(ctx, args)
	if err != nil {
		return err
	}
	listing, err := c.list(ctx, conversations.ListQuery{Filter: conversations.Filter{IDs: ids}, Sort: conversations.ByID, Ascending: true, Sizes: true})
	c.warnOf(listing.Aside.Problems, true)
	if err != nil {
		return err
	}
	for i := range listing.Conversations {
		l := &listing.Conversations[i]
		var turns *int // nil where they are not known
		if l.Size != nil {
			turns = &l.Size.Turns
		}
		if l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
		c.out.add(either(i > 0, "\n", "")+c.shown(l, turns), append(listedObject(l), "parent_id", orNull(l.Parent), "turns", turns))
	}
	return nil
}

// shown is what people are shown of a conversation.
func (c *commands) shown(l *conversations.Listed, turns *int) string {
	var b strings.Builder
	title := strings.TrimSpace(fmt.Sprintf("%s  %s", string(l.ID), text.Cell(l.Title)))
	b.WriteString(c.out.format.style(styleDim, title) + "\n")
	line := func(is bool, name, value string) {
		if is {
			fmt.Fprintf(&b, "  %-14s %s\n", name, value)
		}
	}
	at := func(name string, t time.Time) {
		line(!t.IsZero(), name, c.when(t, true)+" ("+c.relative(t)+")")
	}
	line(true, "events", eventsCell(l))
	if turns != nil {
		line(true, "turns", fmt.Sprint(*turns))
	}
	at("created", l.CreatedAt)
	at("last event", l.LastEventAt)
	at("last activated", l.LastActivatedAt)
	at("pinned", l.PinnedAt)
	at("archived", l.ArchivedAt)
	at("expires", l.ExpiresAt)
	line(l.Archived && l.ArchivedAt.IsZero(), "archived", "yes")
	line(l.Hidden, "hidden", "yes")
	kept := map[string]string{"Y": "the user's store", "N": "the project and the user's store", "ext": "the project"}[l.Locality]
	line(kept != "", "kept in", kept)
	line(l.Parent != "", "forked from", string(l.Parent))
	for _, label := range labelsOf(l) {
		line(true, "label", text.Line(label))
	}
	return b.String()
}

// relative writes how far a time is from now.
func (c *commands) relative(t time.Time) string {
	now := c.host.Now()
	if t.After(now.Add(time.Minute)) { // the calendar is the same in both directions
		return "in " + strings.TrimSuffix(age(now.UTC(), t.UTC()), " ago")
	}
	return age(t.UTC(), now.UTC())
}

func (c *commands) pathCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path [ID]…",
		Short: "Print where conversations are on disk",
		Long: `Prints the directories of conversations, or the paths of their files. Where
there is a copy in the project and one in the user's store, it is the one that
counts: the newer one.

` + targetsHelp,
		Example: "  convtools conversation path jp-c17737387251\n  convtools conversation path . --events",
	}
	flags := cmd.Flags()
	names := []string{"events", "metadata", "base-config"}
	files := []string{jp.EventsFile, jp.MetadataFile, jp.BaseConfigFile}
	for i, name := range names {
		flags.Bool(name, false, "print the path of "+files[i])
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var wanted []string
		for i, name := range names {
			if flags.Changed(name) {
				wanted = append(wanted, files[i])
			}
		}
		if len(wanted) == 0 {
			wanted = []string{"."}
		}
		return c.paths(cmd.Context(), args, wanted)
	}
	return cmd
}

func (c *commands) paths(ctx context.Context, args []string, files []string) error {
	ids, err := c.targetsOrActive(ctx, args)
	if err != nil {
		return err
	}
	w, err := c.workspace()
	if err != nil {
		return err
	}
	for _, id := range ids {
		for _, file := range files {
			path, err := w.Path(ctx, transcript.ID(id), file)
			if err != nil {
				return err
			}
			c.out.add(text.Line(path)+"\n", object{"id", id, "path", path})
		}
	}
	return nil
}
