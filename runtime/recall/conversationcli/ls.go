package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
)

// lsOptions is the command line of ls.
type lsOptions struct {
	conversations.ListQuery
	sort       string
	tree, full bool
}

func (c *commands) lsCommand() *cobra.Command {
	o := lsOptions{sort: "activity"}
	cmd := &cobra.Command{
		Use:     "ls [ID]…",
		Aliases: []string{"list"},
		Short:   "List conversations, the one with the newest activity first",
		Long: `Lists conversations, the one with the newest activity first; with IDs, only
those, live or archived.

With --tree, what was forked from a conversation stands below it, and --limit
and --offset count the conversations at the top.

` + targetsHelp + `

Flags that are repeatable also take several values between commas, except for
--label.`,
		Example: `  convtools conversation ls --limit 10
  convtools conversation ls --title-contains retry --archived --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.IDs = args
			return c.ls(cmd, &o)
		},
	}
	flags := cmd.Flags()
	sorts := []string{"activity", "created", "updated", "id", "expires", "messages", "local"}
	oneOf(cmd, &o.sort, "sort", "", "sort by this `key`: "+strings.Join(sorts, ", "), sorts...)
	flags.Func("limit", "show at most `N` conversations; 0 shows all", number(&o.Limit, 0, noLimit))
	flags.Func("offset", "leave out the first `N` conversations", number(&o.Offset, 0, "use 0 for the head of the list, or a positive number"))
	flags.StringVar(&o.TitleContains, "title-contains", "", "only titles that contain this `text`, in any case")
	flags.BoolVar(&o.UserOnly, "local", false, "only conversations that are in the user's own store and not in the workspace")
	flags.BoolVar(&o.tree, "tree", false, "show what was forked from a conversation below it")
	flags.BoolVar(&o.full, "full", false, "show full times and titles in text output")
	flags.BoolVar(&o.Sizes, "sizes", false, "count turns, requests, readable events and characters too, in JSON output")
	c.addFilterFlags(cmd, &o.Filter, &o.Ascending)
	c.addSummaryFlag(cmd)
	cli.Rare(flags, "ascending", "descending", "exclude-id", "hidden", "local", "offset", "sizes", "source", "summary")
	return cmd
}

func (c *commands) ls(cmd *cobra.Command, o *lsOptions) error {
	if o.Sizes && !c.out.format.json {
		return usageError("add --format=json", "--sizes is about JSON output")
	}
	if err := cmp.Or(excluded(cmd.Flags(), "ascending descending"), c.resolve(cmd.Context(), &o.Filter, "")); err != nil {
		return err
	}
	o.Sort = conversations.SortNamed(o.sort)
	q := o.ListQuery
	if o.tree { // a tree has places for those that are hidden, and is cut at the top
		q.Hidden, q.Limit, q.Offset = true, 0, 0
	}
	listing, err := c.list(cmd.Context(), q)
	left := c.warnOf(listing.Aside.Problems, len(o.IDs) > 0)
	if err != nil {
		return err
	}
	for _, l := range listing.Conversations {
		if l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
	}
	var places []treePlace
	if o.tree {
		places = growTree(&listing, o.Hidden || len(o.IDs) > 0, o.Offset, o.Limit)
	}
	lines := c.listLines(cmd.Context(), &listing, places, o)
	for i := range listing.Conversations {
		l := &listing.Conversations[i]
		object := listedObject(l)
		if l.Parent != "" || o.tree {
			object = append(object, "parent_id", orNull(l.Parent))
		}
		if c.allProjects {
			object = append(object, "dir", orNull(l.Dir))
		}
		if o.tree {
			object = append(object, "depth", places[i].depth)
		}
		c.out.add(lines[i], object)
	}
	if c.summary {
		c.out.add("", object{"summary", object{"total", listing.Total, "skipped", left, "excluded", listing.Aside.Excluded}})
	}
	if !c.out.format.json {
		c.explainList(&listing, places, o)
	}
	return nil
}

// listedObject is what a listing has of a conversation.
func listedObject(l *conversations.Listed) object {
	o := about(l.ID, l.Title,
		"events_count", l.Events, "created_at", l.CreatedAt, "last_event_at", l.LastEventAt,
		"archived_at", l.ArchivedAt, "expires_at", l.ExpiresAt, "last_activated_at", l.LastActivatedAt,
		"pinned_at", l.PinnedAt, "hidden", l.Hidden, "local", l.Locality)
	o = append(o, given("source", l.Source)...)
	o = append(o, "labels", l.Labels, "error", l.Damage)
	if size := l.Size; size != nil {
		o = append(o, "turns", size.Turns, "requests", size.Requests, "numbered_events", size.Numbered, "chars", size.Chars)
	}
	return o
}

// listLines are the lines of a list for people, a head with the first of them.
func (c *commands) listLines(ctx context.Context, listing *conversations.Listing, places []treePlace, o *lsOptions) []string {
	switch {
	case c.out.format.json || len(listing.Conversations) == 0:
		return make([]string, len(listing.Conversations))
	case o.tree:
		return c.treeLines(ctx, listing.Conversations, places, o.full)
	}
	return c.tableLines(ctx, listing.Conversations, o)
}

// tableLines are aligned columns, with titles cut to the width of the terminal unless
// they are wanted in full. Where hidden ones may be among them a column says which are.
func (c *commands) tableLines(ctx context.Context, list []conversations.Listed, o *lsOptions) []string {
	rows := [][]string{{"ID", "EVENTS", "ACTIVITY", "FLAGS"}}
	column := func(is bool, head string, cell func(*conversations.Listed) string) {
		if !is {
			return
		}
		rows[0] = append(rows[0], head)
		for i := range list {
			rows[i+1] = append(rows[i+1], cell(&list[i]))
		}
	}
	for i := range list {
		l := &list[i]
		rows = append(rows, []string{string(l.ID), eventsCell(l), c.when(l.ActiveAt(), o.full), c.flags(l)})
	}
	column(o.Hidden, "HIDDEN", func(l *conversations.Listed) string { return map[bool]string{true: "Y", false: "N"}[l.Hidden] })
	column(c.allProjects, "PROJECT", func(l *conversations.Listed) string { return c.projectCell(l.Dir) })
	lines := align(rows, 1)
	width := c.room(o.full, text.Width(lines[0]))
	for i := range list {
		id := string(list[i].ID)
		line := strings.TrimRight(lines[i+1]+text.Truncate(text.Cell(list[i].Title), width), " ")
		lines[i+1] = c.linked(ctx, list[i].ID) + strings.TrimPrefix(line, id) + "\n"
	}
	lines[1] = c.out.format.style(styleDim, lines[0]+"TITLE") + "\n" + lines[1]
	return lines[1:]
}

// flags names what is special about a conversation.
func (c *commands) flags(l *conversations.Listed) string {
	isExpired := !l.ExpiresAt.After(c.host.Now())
	var flags []string
	for _, f := range []struct {
		is   bool
		name string
	}{
		{!l.PinnedAt.IsZero(), "pinned"},
		{l.Archived, "archived"},
		{l.Hidden, "hidden"},
		{l.UserOnly, "local"},
		{!l.ExpiresAt.IsZero() && !isExpired, "expires"},
		{!l.ExpiresAt.IsZero() && isExpired, "expired"},
		{l.Damage != nil, "damaged"},
	} {
		if f.is {
			flags = append(flags, f.name)
		}
	}
	return cmp.Or(strings.Join(flags, ","), "-")
}

// maxProjectWidth is how many columns of a directory are shown.
const maxProjectWidth = 40

// projectCell writes the directory that a conversation was held in: its end, which
// differs most.
func (c *commands) projectCell(dir string) string {
	if dir == "" {
		return "?"
	}
	cell := []rune(c.shortPath(dir))
	if len(cell) > maxProjectWidth {
		cell = append([]rune("…"), cell[len(cell)-maxProjectWidth+1:]...)
	}
	return string(cell)
}

// kindOf is what people call the conversations that a filter is about.
func kindOf(f *conversations.Filter) string {
	switch {
	case len(f.IDs) > 0:
		return "named"
	case f.Archived:
		return "archived"
	}
	return "live"
}

// explainList says what a list does not show.
func (c *commands) explainList(listing *conversations.Listing, places []treePlace, o *lsOptions) {
	shown, total := len(listing.Conversations), listing.Total
	for _, place := range places {
		if place.depth > 0 {
			shown-- // it is counted with the one at the top
		}
	}
	switch left := total - o.Offset - shown; {
	case shown == 0 && total > 0:
		c.note("offset %d is past the end: there are %d conversations", o.Offset, total)
	case shown == 0:
		kind := kindOf(&o.Filter)
		what := fmt.Sprintf("no %s conversations", kind)
		if o.TitleContains != "" {
			what += fmt.Sprintf(" with %q in the title", o.TitleContains)
		}
		for i, label := range o.Labels {
			what += map[bool]string{true: " with label ", false: " and "}[i == 0] + label.Key
			if label.Value != nil {
				what += "=" + *label.Value
			}
		}
		c.note("%s", what)
		if kind == "live" {
			c.note("hint: --archived lists archived conversations")
		}
	case left > 0:
		c.note("%d more: use --offset=%d, or --limit=0 for all", left, o.Offset+shown)
	}
	if hidden := listing.Aside.Hidden; hidden > 0 {
		c.note("%d hidden: --hidden lists them too", hidden)
	}
}
