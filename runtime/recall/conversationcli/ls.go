package conversationcli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
)

// lsOptions is the command line of ls.
type lsOptions struct {
	filter        filter
	sort          string
	limit, offset int
	titleContains string
	local, full   bool
	tree, sizes   bool
}

func (c *commands) lsCommand() *cobra.Command {
	var opts lsOptions
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
			opts.filter.ids = args
			return c.ls(cmd.Context(), cmd, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.sort, "sort", "activity", "sort by this `key`: "+strings.Join(lsSorts(), ", "))
	flags.IntVar(&opts.limit, "limit", 0, "show at most `N` conversations; 0 shows all")
	flags.IntVar(&opts.offset, "offset", 0, "leave out the first `N` conversations")
	flags.StringVar(&opts.titleContains, "title-contains", "", "only titles that contain this `text`, in any case")
	flags.BoolVar(&opts.local, "local", false, "only conversations that are in the user's own store and not in the workspace")
	flags.BoolVar(&opts.tree, "tree", false, "show what was forked from a conversation below it")
	flags.BoolVar(&opts.full, "full", false, "show full times and titles in text output")
	flags.BoolVar(&opts.sizes, "sizes", false, "count turns, requests, readable events and characters too, in JSON output")
	opts.filter.addFlags(flags)
	cli.Rare(flags, "ascending", "descending", "exclude-id", "hidden", "local", "offset", "sizes", "source")
	c.addSummaryFlag(cmd)
	cli.Rare(flags, "summary")
	c.completeFlags(cmd, map[string][]string{"sort": lsSorts(), "source": conversations.Sources()})
	return cmd
}

// lsSorts returns the values of --sort.
func lsSorts() []string {
	return []string{"activity", "created", "updated", "id", "expires", "messages", "local"}
}

func (c *commands) ls(ctx context.Context, cmd *cobra.Command, opts lsOptions) error {
	out, err := c.results()
	if err != nil {
		return err
	}
	err = cmp.Or(oneOf("sort", opts.sort, lsSorts()...), notNegative("limit", opts.limit), notNegative("offset", opts.offset), excluded(cmd.Flags(), [2]string{"ascending", "descending"}))
	if err != nil {
		return err
	}
	if opts.sizes && !out.format.json {
		return usageError("add --format=json", "--sizes is about JSON output")
	}
	filter, err := opts.filter.parse(ctx, c)
	if err != nil {
		return err
	}
	q := conversations.ListQuery{
		Filter: filter, TitleContains: opts.titleContains, UserOnly: opts.local,
		Sort: conversations.SortNamed(opts.sort), Ascending: opts.filter.isAscending(), Limit: opts.limit, Offset: opts.offset,
		Sizes: opts.sizes,
	}
	if opts.tree { // a tree has places for those that are hidden, and is cut at the top
		q.Hidden, q.Limit, q.Offset = true, 0, 0
	}
	listing, err := c.list(ctx, q)
	left := c.warnOf(listing.Aside.Problems, len(filter.IDs) > 0)
	if err != nil {
		return err
	}
	for _, l := range listing.Conversations {
		if l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
	}
	var places []treePlace
	if opts.tree {
		places = growTree(&listing, filter.Hidden || len(filter.IDs) > 0, opts.offset, opts.limit)
	}
	if out.format.json {
		return c.writeListing(out, &listing, places, left)
	}
	links := c.links(ctx, out.format)
	defer links.close()
	if opts.tree {
		err = c.writeTree(out, &listing, places, links, opts.full)
	} else {
		err = c.writeTable(out, listing.Conversations, links, opts.full, filter.Hidden)
	}
	if err != nil {
		return err
	}
	shown := len(listing.Conversations)
	for _, place := range places {
		if place.depth > 0 {
			shown-- // it is counted with the one at the top
		}
	}
	c.explainList(&listing, shown, opts)
	return nil
}

// writeListing writes a listing as JSON; a tree has places too.
func (c *commands) writeListing(out *results, listing *conversations.Listing, places []treePlace, left []skipped) error {
	for i := range listing.Conversations {
		l := &listing.Conversations[i]
		o := listedObject(l)
		if l.Parent != "" || places != nil {
			o = append(o, "parent_id", orNull(l.Parent))
		}
		if c.allProjects {
			o = append(o, "dir", orNull(l.Dir))
		}
		if places != nil {
			o = append(o, "depth", places[i].depth)
		}
		out.add("", o)
	}
	if c.summary {
		out.add("", object{"summary", object{"total", listing.Total, "skipped", skippedObjects(left), "excluded", listing.Aside.Excluded}})
	}
	return out.close()
}

// listedObject is what a listing has of a conversation.
func listedObject(l *conversations.Listed) object {
	o := about(l.ID, l.Title,
		"events_count", l.Events, "created_at", l.CreatedAt, "last_event_at", l.LastEventAt,
		"archived_at", l.ArchivedAt, "expires_at", l.ExpiresAt, "last_activated_at", l.LastActivatedAt,
		"pinned_at", l.PinnedAt, "hidden", l.Hidden, "local", l.Locality)
	o = append(o, given("source", l.Source)...)
	o = append(o, "labels", labelObject(l.Labels), "error", damageOf(l.Damage))
	if size := l.Size; size != nil {
		o = append(o, "turns", size.Turns, "requests", size.Requests, "numbered_events", size.Numbered, "chars", size.Chars)
	}
	return o
}

func labelObject(labels map[string]string) object {
	var o object
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		o = append(o, key, labels[key])
	}
	return o
}
