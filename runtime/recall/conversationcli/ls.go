package conversationcli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
)

// lsOptions is the command line of ls.
type lsOptions struct {
	conversations.ListQuery
	sort                string
	tree, full, summary bool
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.ls(cmd, &o, args) },
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
	addFilter(cmd, &o.Filter)
	flags.BoolVar(&o.summary, "summary", false, "append an element with totals to JSON output")
	return cmd
}

func (c *commands) ls(cmd *cobra.Command, o *lsOptions, args []string) error {
	if o.summary && !c.out.format.json {
		return usageError("add --format=json", "--summary is an element of JSON output")
	}
	var err, err2 error
	o.IDs, err = c.targets(cmd.Context(), args, "")
	o.Ascending, err2 = ascending(cmd.Flags())
	if err := cmp.Or(err2, err); err != nil {
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
	places := make([]treePlace, len(listing.Conversations))
	for i := range places {
		l := &listing.Conversations[i]
		if places[i].Listed = l; l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
	}
	if o.tree {
		isHidden := func(l *conversations.Listed) bool { return l.Hidden && !o.Hidden && len(o.IDs) == 0 }
		places, listing.Total, listing.Aside.Hidden = tree(listing.Conversations, isHidden, o.Offset, o.Limit)
	}
	lines := c.listLines(places, o)
	shown := 0
	for i, p := range places {
		object := listedObject(p.Listed)
		if p.Parent != "" || o.tree {
			object = append(object, "parent_id", orNull(p.Parent))
		}
		if c.allProjects {
			object = append(object, "dir", orNull(p.Dir))
		}
		if o.tree {
			object = append(object, "depth", p.depth)
		}
		if p.depth == 0 {
			shown++ // a conversation below another one is counted with that
		}
		c.out.add(lines[i], object)
	}
	if o.summary {
		c.out.add("", object{"summary", object{"total", listing.Total, "skipped", left, "excluded", listing.Aside.Excluded}})
	}
	if !c.out.format.json {
		c.explainList(&listing, shown, o)
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
	return append(o, "labels", l.Labels, "error", l.Damage)
}

// listLines are aligned columns, with titles cut to the width of the terminal unless they are
// wanted in full. Where hidden ones may be among them a column says which are.
func (c *commands) listLines(list []treePlace, o *lsOptions) []string {
	rows := [][]string{filled("ID", "EVENTS", "ACTIVITY", "FLAGS", either(o.Hidden, "HIDDEN", ""), either(c.allProjects, "PROJECT", ""))}
	for _, l := range list {
		rows = append(rows, filled(
			l.lead+string(l.ID), eventsCell(l.Listed), c.when(l.ActiveAt(), o.full), c.flags(l.Listed),
			either(o.Hidden, either(l.Hidden, "Y", "N"), ""), either(c.allProjects, c.projectCell(l.Dir), ""),
		))
	}
	lines := align(rows, 1)
	head, width := c.out.format.style(styleDim, lines[0]+"TITLE")+"\n", c.room(o.full, text.Width(lines[0]))
	for i, l := range list {
		lines[i+1] = head + strings.TrimRight(lines[i+1]+text.Truncate(text.Cell(l.Title), width), " ") + "\n"
		head = ""
	}
	return lines[1:]
}

// flags names what is special about a conversation.
func (c *commands) flags(l *conversations.Listed) string {
	expires, isExpired := !l.ExpiresAt.IsZero(), !l.ExpiresAt.After(c.host.Now())
	flags := filled(
		either(l.PinnedAt.IsZero(), "", "pinned"), either(l.Archived, "archived", ""), either(l.Hidden, "hidden", ""),
		either(l.UserOnly, "local", ""), either(expires, either(isExpired, "expired", "expires"), ""),
		either(l.Damage != nil, "damaged", ""),
	)
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

// explainList says what a list does not show.
func (c *commands) explainList(listing *conversations.Listing, shown int, o *lsOptions) {
	total := listing.Total
	switch left := total - o.Offset - shown; {
	case shown == 0 && total > 0:
		c.note("offset %d is past the end: there are %d conversations", o.Offset, total)
	case shown == 0:
		c.note("no %s conversations%s", kindOf(&o.Filter), either(o.TitleContains != "", fmt.Sprintf(" with %q in the title", o.TitleContains), ""))
		if !o.Archived && len(o.IDs) == 0 {
			c.note("hint: --archived lists archived conversations")
		}
	case left > 0:
		c.note("%d more: use --offset=%d, or --limit=0 for all", left, o.Offset+shown)
	}
	if hidden := listing.Aside.Hidden; hidden > 0 {
		c.note("%d hidden: --hidden lists them too", hidden)
	}
}
