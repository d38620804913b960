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
	cmd := &cobra.Command{
		Use:     "ls [ID]…",
		Aliases: []string{"list"},
		Short:   "List conversations, the one with the newest activity first",
		Long: `Lists conversations, the one with the newest activity first; with IDs, only
those, live or archived. With --tree, what was forked from a conversation stands
below it.

Flags that are repeatable also take several values between commas, except for
--label.`,
		Example: `  convtools conversation ls --limit 10
  convtools conversation ls --title-contains retry --archived --format json`,
	}
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
	at, short, program, err := ls.cells(ctx, found.Conversations)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "PROGRAM", "EVENTS", "ACTIVITY", "FLAGS", "HIDDEN", "PROJECT", "TITLE"}}
	for _, p := range ls.places(found.Conversations) {
		o := listed(p.Listed)
		if p.Parent != "" || ls.tree {
			o = append(o, "parent_id", orNull(p.Parent))
		}
		if ls.allProjects {
			o = append(o, "dir", orNull(p.Dir))
		}
		if ls.tree {
			o = append(o, "depth", p.depth)
		}
		ls.out.add("", o)
		isHidden, dir := "", ""
		if ls.Hidden && !ls.out.isTable() {
			isHidden = either(p.Hidden, "Y", "N")
		}
		if ls.allProjects {
			dir = ls.project(p.Dir)
		}
		rows = append(rows, []string{p.lead + short(p.ID), program(p.ID), eventsCell(p.Listed), at(p.ActiveAt()), ls.flags(p.Listed), isHidden, dir, text.Cell(p.Title)})
	}
	switch {
	case ls.summary:
		skipped := objects(found.Aside.Problems, func(p *conversations.Problem) object { return object{"id", orNull(p.ID), "reason", p.Err} })
		ls.out.add("", object{"summary", object{"total", found.Total, "skipped", skipped, "excluded", found.Aside.Excluded}})
	case !ls.out.json && len(found.Conversations) > 0:
		ls.out.table(ls.full, rows, slices.Index(ls.out.telling(rows), "EVENTS"))
	}
	if !ls.out.json {
		ls.explain(&found)
	}
	return nil
}

// cells returns how times and ids are written, and programs. On a terminal ids are short
// unless full ones are asked for, programs are named where they differ, and times are days
// where most ages would be the same, or there is little room.
func (ls *listing) cells(ctx context.Context, list []conversations.Listed) (at func(time.Time) string, short, program func(transcript.ID) string, err error) {
	short, program = func(id transcript.ID) string { return string(id) }, func(transcript.ID) string { return "" }
	at = ls.age
	if ls.full {
		at = func(t time.Time) string { return t.UTC().Format(fullTime) }
	}
	if ls.full || !ls.out.isTable() || len(list) == 0 {
		return at, short, program, nil
	}
	all, err := ls.all(ctx, conversations.Filter{Both: true, Hidden: true})
	if err != nil {
		return nil, nil, nil, err
	}
	short = ls.short(slices.Concat(all, list))
	ages, programs := map[string]int{}, map[string]bool{}
	for i := range list {
		name, _ := bare(list[i].ID)
		programs[name] = true
		if ls.host.Now().Sub(list[i].ActiveAt()) >= 24*time.Hour {
			ages[ls.age(list[i].ActiveAt())]++
		}
	}
	if len(programs) > 1 {
		program = func(id transcript.ID) string { name, _ := bare(id); return name }
	}
	hasRoom := !ls.allProjects && (ls.out.width == 0 || ls.out.width >= usualColumns)
	isSame := false
	for _, n := range ages {
		isSame = isSame || n > 1 && n*2 > len(list)
	}
	if isSame || !hasRoom {
		at = func(t time.Time) string {
			return either(t.IsZero(), "?", t.In(ls.host.Now().Location()).Format(time.DateOnly))
		}
	}
	return at, short, program, nil
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

// listed is what a listing has of a conversation.
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

// flags names what is special about a conversation.
func (c *commands) flags(l *conversations.Listed) string {
	expiry := either(l.ExpiresAt.After(c.host.Now()), "expires", "expired")
	flags := filled(
		either(l.PinnedAt.IsZero(), "", "pinned"), either(l.Archived, "archived", ""), either(l.Hidden, "hidden", ""),
		either(l.UserOnly, "local", ""), either(l.ExpiresAt.IsZero(), "", expiry), either(l.Damage == nil, "", "damaged"),
	)
	return cmp.Or(strings.Join(flags, ","), "-")
}

// How many characters of a directory are shown at the most, and on a narrow terminal.
const maxProject, narrowProject = 40, 16

// project writes the directory that a conversation was held in: its end, which differs
// most.
func (c *commands) project(dir string) string {
	cell := []rune(cmp.Or(c.shortPath(dir), "?"))
	most := maxProject
	if c.out.isTable() && c.out.width > 0 {
		most = min(max(c.out.width/5, narrowProject), maxProject)
	}
	if cut := len(cell) - most; cut > 0 {
		cell = append([]rune("…"), cell[cut+1:]...)
	}
	return string(cell)
}

// explain says what a list does not show.
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
	lead  string // what is drawn before it
}

// places returns the places of conversations in a list or a tree. In a tree siblings keep
// their order. A conversation whose parent is not listed is at the top, and so is the first
// of those that are each other's parents.
func (ls *listing) places(list []conversations.Listed) (places []place) {
	children := map[transcript.ID][]*conversations.Listed{}
	isListed := map[transcript.ID]bool{}
	for i := range list {
		isListed[list[i].ID] = true
		children[list[i].Parent] = append(children[list[i].Parent], &list[i])
	}
	var grow func(p place, below string)
	grow = func(p place, below string) {
		if !isListed[p.ID] {
			return // it has its place
		}
		isListed[p.ID] = false
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
		if !ls.tree {
			places = append(places, place{Listed: &list[i]})
		} else if !isListed[list[i].Parent] {
			grow(place{Listed: &list[i]}, "")
		}
	}
	for i := range list { // of circles
		if ls.tree {
			grow(place{Listed: &list[i]}, "")
		}
	}
	return places
}

// maxIndent bounds how many levels of a tree are drawn.
const maxIndent = 30
