package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// listing is the command line of ls.
type listing struct {
	*commands
	conversations.ListQuery
	sort                string
	tree, full, summary bool
}

func (c *commands) lsCommand() *cobra.Command {
	ls := listing{commands: c, sort: "activity"}
	cmd := c.newCommand("ls [ID]…", "list", "List conversations, the one with the newest activity first",
		`Lists conversations, the one with the newest activity first; with IDs, only
those, live or archived. Flags that are repeatable also take several values
between commas, except for --label.`,
		"conversation ls --limit 10", "conversation ls --title-contains retry --archived --format json")
	flags := cmd.Flags()
	oneOf(cmd, &ls.sort, "sort", "", "sort by this `key`", "activity", "created", "updated", "id", "expires", "messages", "local")
	limit := flags.Uint("limit", 0, "show at most `N` conversations; 0 shows all")
	offset := flags.Uint("offset", 0, "leave out the first `N` conversations")
	flags.StringVar(&ls.TitleContains, "title-contains", "", "only titles that contain this `text`, in any case")
	flags.BoolVar(&ls.UserOnly, "local", false, "only conversations that are in the user's own store and not in the workspace")
	flags.BoolVar(&ls.tree, "tree", false, "show what was forked from a conversation below it")
	flags.BoolVar(&ls.full, "full", false, "show full times, titles and ids in text output")
	ascending := addFilter(cmd, &ls.Filter)
	flags.BoolVar(&ls.summary, "summary", false, "append an element with totals to JSON output")
	return c.reading(cmd, func(ctx context.Context, args []string) (err error) {
		if ls.summary && !c.out.json {
			return misused("add --format=json", "--summary is an element of JSON output")
		}
		ls.Sort, ls.Ascending = conversations.SortNamed(ls.sort), ascending()
		ls.Limit, ls.Offset = int(*limit), int(*offset)
		if ls.IDs, err = c.ids(ctx, args); err != nil {
			return err
		}
		return ls.run(ctx)
	}, "ascending descending")
}

func (ls *listing) run(ctx context.Context) error {
	found, err := ls.list(ctx, ls.ListQuery)
	if err != nil {
		return err
	}
	short := func(id transcript.ID) string { return string(id) }
	if ls.out.isTable() && !ls.full {
		all, err := ls.all(ctx, conversations.Filter{Both: true, Hidden: true})
		if err != nil {
			return err
		}
		short = ls.short(slices.Concat(all, found.Conversations))
	}
	program := ls.programs(found.Conversations)
	rows := [][]string{{"ID", "PROGRAM", "EVENTS", "ACTIVITY", "FLAGS", "PROJECT", "TITLE"}}
	for _, p := range ls.places(found.Conversations) {
		o, dir := listed(p.Listed), ""
		if p.Parent != "" || ls.tree {
			o = append(o, "parent_id", orNull(p.Parent))
		}
		if ls.allProjects {
			o, dir = append(o, "dir", orNull(p.Dir)), ls.project(p.Dir)
		}
		if ls.tree {
			o = append(o, "depth", p.depth)
		}
		ls.out.add("", o)
		rows = append(rows, []string{p.lead + short(p.ID), program(p.ID), eventsCell(p.Listed), ls.activity(p.Listed), ls.flags(p.Listed), dir, text.Cell(p.Title)})
	}
	switch {
	case ls.summary:
		skipped := objects(found.Aside.Problems, func(p *conversations.Problem) object { return object{"id", orNull(p.ID), "reason", p.Err} })
		ls.out.add("", object{"summary", object{"total", found.Total, "skipped", skipped, "excluded", found.Aside.Excluded}})
	case ls.out.json:
	default:
		if len(found.Conversations) > 0 {
			ls.out.table(ls.full, rows, slices.Index(ls.out.dropEmpty(rows), "EVENTS"))
		}
		ls.explain(&found)
	}
	return nil
}

// programs returns the names of programs, if a terminal shows short ids of several.
func (ls *listing) programs(list []conversations.Listed) func(transcript.ID) string {
	name := func(id transcript.ID) string { program, _ := bare(id); return program }
	isOther := func(l conversations.Listed) bool { return name(l.ID) != name(list[0].ID) }
	if ls.full || !ls.out.isTable() || !slices.ContainsFunc(list, isOther) {
		return func(transcript.ID) string { return "" }
	}
	return name
}

// activity returns when something last happened in a conversation. A terminal shows a day if it is
// not in the last 24 hours.
func (ls *listing) activity(l *conversations.Listed) string {
	at, now := l.ActiveAt(), ls.host.Now()
	switch {
	case ls.full:
		return at.UTC().Format(fullTime)
	case ls.out.isTable() && now.Sub(at) >= 24*time.Hour:
		return either(at.IsZero(), "?", at.In(now.Location()).Format(time.DateOnly))
	}
	return ls.age(at)
}

// list lists conversations, and warns of those that cannot be read.
func (c *commands) list(ctx context.Context, q conversations.ListQuery) (found conversations.Listing, err error) {
	library, err := c.open()
	if err != nil {
		return found, err
	}
	found, err = library.List(ctx, q)
	c.warnOf(found.Aside.Problems)
	for _, l := range found.Conversations {
		if l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
	}
	return found, err
}

// listed returns a conversation as JSON has it.
func listed(l *conversations.Listed) object {
	o := about(l.ID, l.Title,
		"events_count", l.Events, "created_at", l.CreatedAt, "last_event_at", l.LastEventAt,
		"archived_at", l.ArchivedAt, "expires_at", l.ExpiresAt, "last_activated_at", l.LastActivatedAt,
		"pinned_at", l.PinnedAt, "hidden", l.Hidden, "local", l.Locality,
	).with("source", l.Source)
	var damage any
	if l.Damage != nil {
		damage = l.Damage.Err
	}
	return append(o, "labels", l.Labels, "error", damage)
}

func eventsCell(l *conversations.Listed) string {
	return either(l.Damage == nil, strconv.Itoa(l.Events), "?")
}

// flags names the special properties of a conversation.
func (c *commands) flags(l *conversations.Listed) string {
	expiry := either(l.ExpiresAt.After(c.host.Now()), "expires", "expired")
	flags := filled(
		either(l.PinnedAt.IsZero(), "", "pinned"), either(l.Archived, "archived", ""), either(l.Hidden, "hidden", ""),
		either(l.UserOnly, "local", ""), either(l.ExpiresAt.IsZero(), "", expiry), either(l.Damage == nil, "", "damaged"),
	)
	return cmp.Or(strings.Join(flags, ","), "-")
}

// project returns the end of the path of a project: at most a fifth of the columns of a terminal,
// within limits.
func (c *commands) project(dir string) string {
	const least, most, wide = 16, 40, 200
	path := []rune(cmp.Or(c.shortPath(dir), "?"))
	if cut := len(path) - min(max(cmp.Or(c.out.width, wide)/5, least), most); cut > 0 {
		return "…" + string(path[cut+1:])
	}
	return string(path)
}

// explain notes the conversations that the list lacks.
func (ls *listing) explain(found *conversations.Listing) {
	next := ls.Offset + len(found.Conversations)
	switch {
	case next < found.Total:
		ls.note("%d more: use --offset=%d, or --limit=0 for all", found.Total-next, next)
	case len(found.Conversations) > 0:
	case found.Total > 0:
		ls.note("offset %d is past the end: there are %d conversations", ls.Offset, found.Total)
	default:
		with := either(ls.TitleContains == "", "", fmt.Sprintf(" with %q in the title", ls.TitleContains))
		ls.note("no %s conversations%s; --archived lists archived ones", kindOf(&ls.Filter), with)
	}
	if hidden := found.Aside.Hidden; hidden > 0 {
		ls.note("%d hidden: --hidden lists them too", hidden)
	}
}

// place is the place of a conversation in a list or a tree.
type place struct {
	*conversations.Listed
	depth int
	lead  string // the branches before it
}

// maxIndent bounds the levels of a tree that are drawn.
const maxIndent = 30

// places returns the places of conversations. In a tree a conversation is below its parent, if
// that is listed, and siblings keep their order. Of conversations that are each other's ancestors
// the first is at the top.
func (ls *listing) places(list []conversations.Listed) (places []place) {
	children := map[transcript.ID][]*conversations.Listed{}
	isLeft := map[transcript.ID]bool{} // it has no place yet
	for i := range list {
		isLeft[list[i].ID] = true
		if ls.tree {
			children[list[i].Parent] = append(children[list[i].Parent], &list[i])
		}
	}
	var grow func(p place, below string)
	grow = func(p place, below string) {
		if !isLeft[p.ID] {
			return
		}
		isLeft[p.ID] = false
		places = append(places, p)
		for i, child := range children[p.ID] {
			branch, space := "├── ", "│   "
			if i == len(children[p.ID])-1 {
				branch, space = "└── ", "    "
			}
			if p.depth >= maxIndent {
				below = "… "
			}
			grow(place{child, p.depth + 1, below + branch}, below+space)
		}
	}
	for i := range list {
		if !ls.tree || !isLeft[list[i].Parent] {
			grow(place{Listed: &list[i]}, "")
		}
	}
	for i := range list { // of circles
		grow(place{Listed: &list[i]}, "")
	}
	return places
}
