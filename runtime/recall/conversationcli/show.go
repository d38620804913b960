package conversationcli

import (
	"context"
	"errors"
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
	out, err := c.results()
	if err != nil {
		return err
	}
	ids, err := c.targetsOrActive(ctx, args)
	if err != nil {
		return err
	}
	listing, err := c.list(ctx, conversations.ListQuery{Filter: conversations.Filter{IDs: ids}, Sort: conversations.ByID, Ascending: true})
	c.warnOf(listing.Aside.Problems, true)
	if err != nil {
		return err
	}
	links := c.links(ctx, out.format)
	defer links.close()
	for i := range listing.Conversations {
		l := &listing.Conversations[i]
		turns, err := c.turnsOf(ctx, l)
		if err != nil {
			return err
		}
		var counted any
		if turns >= 0 {
			counted = turns
		}
		out.add(c.shown(out.format, l, links, turns, i > 0), append(listedObject(l), "parent_id", orNull(l.Parent), "turns", counted))
	}
	return out.close()
}

// turnsOf counts the turns of a conversation; -1 where they cannot be read.
func (c *commands) turnsOf(ctx context.Context, l *conversations.Listed) (int, error) {
	source, err := c.open()
	if err != nil {
		return 0, err
	}
	r, err := source.Read(ctx, conversations.ReadQuery{ID: string(l.ID)})
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		c.warn("%s: its turns cannot be counted: %v", l.ID, err)
		return -1, nil
	}
	if r.Damage != nil {
		c.warn("%s: events.json is damaged, what stands before the damage is counted: %v", l.ID, r.Damage.Err)
	}
	return r.Turns, nil
}

// shown is what people are shown of a conversation; more is set behind the first.
func (c *commands) shown(f format, l *conversations.Listed, links links, turns int, more bool) string {
	var b strings.Builder
	if more {
		b.WriteString("\n")
	}
	title := strings.TrimSpace(fmt.Sprintf("%s  %s", links.id(l.ID), text.Cell(l.Title)))
	b.WriteString(f.style(styleDim, title) + "\n")
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-14s %s\n", name, text.Line(value))
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			line(name, c.when(t, true)+" ("+c.relative(t)+")")
		}
	}
	line("events", eventsCell(l))
	if turns >= 0 {
		line("turns", fmt.Sprint(turns))
	}
	at("created", l.CreatedAt)
	at("last event", l.LastEventAt)
	at("last activated", l.LastActivatedAt)
	at("pinned", l.PinnedAt)
	at("archived", l.ArchivedAt)
	at("expires", l.ExpiresAt)
	if l.Archived && l.ArchivedAt.IsZero() {
		line("archived", "yes")
	}
	if l.Hidden {
		line("hidden", "yes")
	}
	line("kept in", map[string]string{"Y": "the user's store", "N": "the project and the user's store", "ext": "the project"}[l.Locality])
	if l.Parent != "" {
		fmt.Fprintf(&b, "  %-14s %s\n", "forked from", links.id(l.Parent))
	}
	for _, label := range labelsOf(l) {
		line("label", label)
	}
	return b.String()
}

// relative writes how far a time is from now.
func (c *commands) relative(t time.Time) string {
	if t.After(c.host.Now().Add(time.Minute)) {
		// The calendar is the same in both directions.
		return "in " + strings.TrimSuffix(age(c.host.Now().UTC(), t.UTC()), " ago")
	}
	return age(t.UTC(), c.host.Now().UTC())
}

func (c *commands) pathCommand() *cobra.Command {
	var events, metadata, config bool
	cmd := &cobra.Command{
		Use:   "path [ID]…",
		Short: "Print where conversations are on disk",
		Long: `Prints the directories of conversations, or the paths of their files. Where
there is a copy in the project and one in the user's store, it is the one that
counts: the newer one.

` + targetsHelp,
		Example: "  convtools conversation path jp-c17737387251\n  convtools conversation path . --events",
		RunE: func(cmd *cobra.Command, args []string) error {
			var files []jp.File
			for _, f := range []struct {
				given bool
				file  jp.File
			}{{events, jp.EventsFile}, {metadata, jp.MetadataFile}, {config, jp.BaseConfigFile}} {
				if f.given {
					files = append(files, f.file)
				}
			}
			if len(files) == 0 {
				files = []jp.File{jp.Directory}
			}
			return c.paths(cmd.Context(), args, files)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&events, "events", false, "print the path of events.json")
	flags.BoolVar(&metadata, "metadata", false, "print the path of metadata.json")
	flags.BoolVar(&config, "base-config", false, "print the path of base_config.json")
	return cmd
}

func (c *commands) paths(ctx context.Context, args []string, files []jp.File) error {
	out, err := c.results()
	if err != nil {
		return err
	}
	ids, err := c.targetsOrActive(ctx, args)
	if err != nil {
		return err
	}
	w, err := c.workspace()
	if err != nil {
		return sourceFailure(err, ids)
	}
	for _, id := range ids {
		for _, file := range files {
			path, err := w.Path(ctx, transcript.ID(id), file)
			var missing *conversations.NotFoundError
			if errors.As(err, &missing) {
				return notFound(missing)
			}
			if err != nil {
				return err
			}
			line := text.Line(path)
			if c.linking(out.format) {
				line = link(path, line)
			}
			out.add(line+"\n", object{"id", id, "path", path})
		}
	}
	return out.close()
}
