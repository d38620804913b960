package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
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
		isHidden := func(l *conversations.Listed) bool { return l.Hidden && !o.Hidden && len(o.IDs) == 0 }
		places, listing.Total, listing.Aside.Hidden = tree(listing.Conversations, isHidden, o.Offset, o.Limit)
	} else {
		for i := range listing.Conversations {
			places = append(places, treePlace{Listed: &listing.Conversations[i]})
		}
	}
	shown, lines := 0, make([]string, len(places))
	switch {
	case c.out.format.json || len(places) == 0:
	case o.tree:
		lines = c.treeLines(cmd.Context(), places, o.full)
	default:
		lines = c.tableLines(cmd.Context(), places, o)
	}
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
	if c.summary {
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
	o = append(o, "labels", l.Labels, "error", l.Damage)
	if size := l.Size; size != nil {
		o = append(o, "turns", size.Turns, "requests", size.Requests, "numbered_events", size.Numbered, "chars", size.Chars)
	}
	return o
}

// tableLines are aligned columns, with titles cut to the width of the terminal unless
// they are wanted in full. Where hidden ones may be among them a column says which are.
func (c *commands) tableLines(ctx context.Context, list []treePlace, o *lsOptions) []string {
	rows := [][]string{{"ID", "EVENTS", "ACTIVITY", "FLAGS"}}
	if o.Hidden {
		rows[0] = append(rows[0], "HIDDEN")
	}
	if c.allProjects {
		rows[0] = append(rows[0], "PROJECT")
	}
	for _, l := range list {
		row := []string{string(l.ID), eventsCell(l.Listed), c.when(l.ActiveAt(), o.full), c.flags(l.Listed)}
		if o.Hidden {
			row = append(row, either(l.Hidden, "Y", "N"))
		}
		if c.allProjects {
			row = append(row, c.projectCell(l.Dir))
		}
		rows = append(rows, row)
	}
	lines := align(rows, 1)
	head, width := c.out.format.style(styleDim, lines[0]+"TITLE")+"\n", c.room(o.full, text.Width(lines[0]))
	for i, l := range list {
		line := strings.TrimRight(lines[i+1]+text.Truncate(text.Cell(l.Title), width), " ")
		lines[i+1] = head + c.linked(ctx, l.ID) + strings.TrimPrefix(line, string(l.ID)) + "\n"
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
func (c *commands) explainList(listing *conversations.Listing, shown int, o *lsOptions) {
	total := listing.Total
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
			what += either(i == 0, " with label ", " and ") + label.Key
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

// treePlace is the place of a conversation in a tree.
type treePlace struct {
	*conversations.Listed
	parent  transcript.ID // above it in the tree; empty at the top
	depth   int
	way     []string // what is drawn before it: of the last maxIndent levels
	unshown int      // hidden children, where it has no other ones
}

// tree puts conversations in the order of a tree, in which siblings keep theirs, and
// leaves those away that are hidden, which are counted. A conversation whose parent is
// hidden is below the nearest one above that is not, or at the top. Of conversations that
// are each other's parents the one listed first is at the top. offset and limit are for
// those at the top, which are counted too; a limit of 0 is none.
func tree(all []conversations.Listed, isHidden func(*conversations.Listed) bool, offset, limit int) (places []treePlace, tops, hidden int) {
	const top = -1
	shown := func(i int) bool { return i == top || !isHidden(&all[i]) }
	at := map[transcript.ID]int{}
	for i := range all {
		at[all[i].ID] = i
	}
	parents := make([]int, len(all))
	children, unshown := map[int][]int{}, map[int]int{}
	for i := range all {
		parents[i] = top
		if parent, ok := at[all[i].Parent]; ok {
			parents[i] = parent
		}
		if !shown(i) {
			hidden++
			unshown[parents[i]]++
		}
	}
	cutCircles(parents, shown)
	for i := range all {
		above := parents[i]
		for !shown(above) {
			above = parents[above]
		}
		if shown(i) {
			children[above] = append(children[above], i)
		}
	}
	tops = len(children[top])
	children[top] = children[top][min(offset, tops):]
	if limit > 0 {
		children[top] = children[top][:min(limit, len(children[top]))]
	}
	var grow func(above int, place treePlace)
	grow = func(above int, place treePlace) {
		for k, i := range children[above] {
			place.Listed, place.unshown = &all[i], 0
			if len(children[i]) == 0 {
				place.unshown = unshown[i]
			}
			if above == top {
				places = append(places, place)
				grow(i, treePlace{parent: all[i].ID, depth: 1})
				continue
			}
			branch, below := "├── ", "│   "
			if k == len(children[above])-1 {
				branch, below = "└── ", "    "
			}
			at, way := place, append(slices.Clone(place.way), below)
			at.way = append(slices.Clone(place.way), branch)
			places = append(places, at)
			grow(i, treePlace{parent: all[i].ID, depth: place.depth + 1, way: way[max(len(way)-maxIndent+1, 0):]})
		}
	}
	grow(top, treePlace{})
	return places, tops, hidden
}

// cutCircles makes a top of the first one of each circle that is shown, or where none is
// of any of them. Each is looked at once or twice, however deep they are.
func cutCircles(parents []int, shown func(int) bool) {
	passed := make([]int, len(parents)) // by which walk, from 1
	for i := range parents {
		on := i
		for ; on >= 0 && passed[on] == 0; on = parents[on] {
			passed[on] = i + 1
		}
		if on < 0 || passed[on] != i+1 {
			continue
		}
		top := on
		for k := parents[on]; k != on; k = parents[k] {
			if shown(k) && (!shown(top) || k < top) {
				top = k
			}
		}
		parents[top] = -1
	}
}

// maxIndent bounds how many levels of a tree are drawn.
const maxIndent = 30

// lines are the lines that lead to a conversation.
func (p *treePlace) lines() string {
	drawn := strings.Join(p.way, "")
	if p.depth > maxIndent {
		drawn = "… " + drawn
	}
	return drawn
}

// treeLines are the lines of a tree for people.
func (c *commands) treeLines(ctx context.Context, places []treePlace, full bool) []string {
	rows := make([][]string, len(places))
	for i, p := range places {
		rows[i] = []string{eventsCell(p.Listed), c.when(p.ActiveAt(), full)}
	}
	width := c.room(full, text.Width(align(rows, 0)[0]))
	for i, p := range places {
		name, unshown := p.lines()+string(p.ID)+"  ", ""
		switch {
		case p.Hidden:
			name += "(hidden) "
		case p.depth > 0:
			name += "[fork] "
		}
		if p.unshown > 0 {
			unshown = fmt.Sprintf(" (+%d hidden)", p.unshown)
		}
		name = strings.TrimRight(name+text.Cell(p.Title), " ")
		rows[i] = append([]string{text.Truncate(name, width-len(unshown)) + unshown}, rows[i]...)
	}
	lines := align(rows, 1)
	for i, p := range places {
		line := strings.Replace(strings.TrimRight(lines[i], " "), string(p.ID), c.linked(ctx, p.ID), 1)
		if p.Hidden {
			line = c.out.format.style(styleDim, line)
		}
		lines[i] = line + "\n"
	}
	return lines
}
