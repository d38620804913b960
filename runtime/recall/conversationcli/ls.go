package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
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
	addFilter(cmd, &ls.Filter, &ls.Ascending)
	flags.BoolVar(&ls.summary, "summary", false, "append an element with totals to JSON output")
	return c.reading(cmd, func(ctx context.Context, args []string) (err error) {
		if ls.summary && !c.out.json {
			return misused("add --format=json", "--summary is an element of JSON output")
		}
		ls.Sort, ls.Limit, ls.Offset = conversations.SortNamed(ls.sort), int(*limit), int(*offset)
		if ls.IDs, err = c.ids(ctx, args); err != nil {
			return err
		}
		return ls.run(ctx)
	}, "ascending descending")
}

// run writes the list: a table, with notes of what the list lacks, or an element of JSON for each conversation.
func (ls *listing) run(ctx context.Context) error {
	found, err := ls.list(ctx, ls.ListQuery)
	if err != nil {
		return err
	}
	short, program := func(id transcript.ID) string { return string(id) }, func(transcript.ID) string { return "" } // columns ID, PROGRAM
	if ls.out.isTable() && !ls.full {
		all, err := ls.all(ctx, conversations.Filter{Both: true, Hidden: true})
		if err != nil {
			return err
		}
		short = ls.shortIDs(slices.Concat(all, found.Conversations))
		name := func(id transcript.ID) string { name, _, _ := id.Split(); return name }
		if slices.ContainsFunc(found.Conversations, func(l conversations.Listed) bool { return name(l.ID) != name(found.Conversations[0].ID) }) {
			program = name // not all are of the same program
		}
	}
	rows := [][]string{{"ID", "PROGRAM", "EVENTS", "ACTIVITY", "FLAGS", "PROJECT", "TITLE"}}
	for _, p := range ls.places(found.Conversations) {
		o, dir := listed(p.Listed), ""
		if p.Parent != "" || ls.tree {
			o = append(o, "parent_id", orNull(p.Parent))
		}
		if ls.allProjects {
			o, dir = append(o, "dir", orNull(p.Dir)), text.Cell(filepath.Base(cmp.Or(p.Dir, "?")))
		}
		if ls.tree {
			o = append(o, "depth", p.depth)
		}
		ls.out.add("", o)
		rows = append(rows, []string{p.lead + short(p.ID), program(p.ID), eventsCell(p.Listed), ls.activity(p.Listed), ls.flags(p.Listed), dir, text.Cell(p.Title)})
	}
	switch {
	case ls.summary:
		skipped := objects(found.Problems, func(p *conversations.Problem) object { return object{"id", orNull(p.ID), "reason", p.Err} })
		ls.out.add("", object{"summary", object{"total", found.Total, "skipped", skipped, "excluded", found.Excluded}})
	case ls.out.json:
	default:
		if len(found.Conversations) > 0 {
			ls.out.table(ls.full, rows, slices.Index(ls.out.dropEmpty(rows), "EVENTS")) // dropEmpty returns the heads left
		}
		ls.explain(&found)
		if len(found.Conversations) > 0 && ls.out.isTable() && ls.out.flush() == nil {
			ls.note("to go on with one: %s resume ID", ls.host.Name)
		}
	}
	return nil
}

// activity returns when something last happened in a conversation: with --full the full time; otherwise the day, or if
// that was less than 24 hours ago, how long ago it was.
func (ls *listing) activity(l *conversations.Listed) string {
	last, now := l.ActiveAt(), ls.host.Now()
	switch {
	case ls.full:
		return last.UTC().Format(fullTime)
	case now.Sub(last) >= 24*time.Hour:
		return ls.day(last)
	}
	return ls.age(last)
}

// day returns the day of a time, where the user is; "?" for the zero time.
func (c *commands) day(t time.Time) string {
	return either(t.IsZero(), "?", t.In(c.host.Now().Location()).Format(time.DateOnly))
}

// list returns the conversations of a query. It warns of those that cannot be read and of those with damaged events.
func (c *commands) list(ctx context.Context, q conversations.ListQuery) (found conversations.Listing, err error) {
	library, err := c.open()
	if err != nil {
		return found, err
	}
	found, err = library.List(ctx, q)
	c.warnOf(found.Problems)
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

// flags returns the special properties of a conversation, such as "pinned,hidden"; "-" if it has none.
func (c *commands) flags(l *conversations.Listed) string {
	expiry := either(l.ExpiresAt.After(c.host.Now()), "expires", "expired")
	flags := filled(
		either(l.PinnedAt.IsZero(), "", "pinned"), either(l.Archived, "archived", ""), either(l.Hidden, "hidden", ""),
		either(l.UserOnly, "local", ""), either(l.ExpiresAt.IsZero(), "", expiry), either(l.Damage == nil, "", "damaged"),
	)
	return cmp.Or(strings.Join(flags, ","), "-")
}

// explain notes how to see conversations that the list lacks: those after its end, others if it is empty, hidden ones.
func (ls *listing) explain(found *conversations.Listing) {
	next := ls.Offset + len(found.Conversations)
	switch {
	case next < found.Total:
		ls.note("%d more: use --offset=%d, or --limit=0 for all", found.Total-next, next)
	case len(found.Conversations) > 0: // the list is complete
	case found.Total > 0:
		ls.note("offset %d is past the end: there are %d conversations", ls.Offset, found.Total)
	default:
		with := either(ls.TitleContains == "", "", fmt.Sprintf(" with %q in the title", ls.TitleContains))
		ls.note("no %s conversations%s; --archived lists archived ones", kindOf(&ls.Filter), with)
	}
	if hidden := found.Hidden; hidden > 0 {
		ls.note("%d hidden: --hidden lists them too", hidden)
	}
}

// place is a conversation at its place in a list or a tree.
type place struct {
	*conversations.Listed
	depth int    // 0 at the top
	lead  string // the branches to draw before the conversation
}

// maxIndent bounds the levels of a tree that are drawn.
const maxIndent = 30

// places returns a list in the order of the output. In a tree, a conversation comes below its parent if that is listed,
// and siblings keep their order. If the parents of conversations form a circle, the first of these is at the top.
func (ls *listing) places(list []conversations.Listed) (places []place) {
	children := map[transcript.ID][]*conversations.Listed{}
	waits := map[transcript.ID]bool{} // true for a listed conversation that is not in places yet
	for i := range list {
		waits[list[i].ID] = true
		if ls.tree {
			children[list[i].Parent] = append(children[list[i].Parent], &list[i])
		}
	}
	// grow adds p and its descendants to places if p waits. below is drawn before the branches of the children of p.
	var grow func(p place, below string)
	grow = func(p place, below string) {
		if !waits[p.ID] {
			return
		}
		waits[p.ID] = false
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
		if isBelow := ls.tree && waits[list[i].Parent]; isBelow {
			continue // grow adds it with its parent
		}
		grow(place{Listed: &list[i]}, "")
	}
	for i := range list { // only conversations of a circle, and their descendants, still wait
		grow(place{Listed: &list[i]}, "")
	}
	return places
}

func (c *commands) showCommand() *cobra.Command {
	cmd := c.newCommand("show [ID]…", "s", "Show what is known of conversations",
		`Shows what is known of conversations beside what was said. Without an ID it is
the active one, or the one that was activated last.`,
		"conversation show jp-c17737387251", "conversation show recent --format=json")
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
			c.out.add(either(i > 0, "\n", "")+c.describe(l, turns), append(listed(l), "parent_id", orNull(l.Parent), "turns", turns))
		}
		return err
	})
}

// describe returns what is known of a conversation, for people, a property on each line. turns is nil if not known.
func (c *commands) describe(l *conversations.Listed, turns *int) string {
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
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		line("label", text.Line(key+either(l.Labels[key] == "", "", "="+l.Labels[key])))
	}
	return lines
}

// pathCommand returns "conversation path", which writes a path for each conversation and file, of two copies the newer.
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
			files = []string{"."} // the directory itself
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
			if err != nil {
				return err
			}
			for _, file := range files {
				path, err := w.Path(ctx, id, file)
				if err != nil {
					return err
				}
				c.out.add(text.Line(path)+"\n", object{"id", id, "path", path})
			}
		}
		return nil
	})
}
