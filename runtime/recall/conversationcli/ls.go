package conversationcli

import (
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
	order         order
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
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: c.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.filter.ids = args
			return c.ls(cmd.Context(), cmd, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.sort, "sort", "activity", "sort by this `key`: "+strings.Join(lsSorts(), ", "))
	opts.order.addFlags(flags)
	flags.IntVar(&opts.limit, "limit", 0, "show at most `N` conversations; 0 shows all")
	flags.IntVar(&opts.offset, "offset", 0, "leave out the first `N` conversations")
	flags.StringVar(&opts.titleContains, "title-contains", "", "only titles that contain this `text`, in any case")
	flags.BoolVar(&opts.local, "local", false, "only conversations that are in the user's own store and not in the workspace")
	flags.BoolVar(&opts.tree, "tree", false, "show what was forked from a conversation below it")
	flags.BoolVar(&opts.full, "full", false, "show full times and titles in text output")
	flags.BoolVar(&opts.sizes, "sizes", false, "count turns, requests, readable events and characters too, in JSON output")
	opts.filter.addFlags(flags)
	cli.Rare(flags, "ascending", "descending", "exclude-id", "hidden", "local", "offset", "sizes", "source")
	c.addSummary(cmd)
	cli.Rare(flags, "summary")
	c.completeFlags(cmd, map[string][]string{"sort": lsSorts(), "source": conversations.Sources()})
	return cmd
}

// lsSorts returns the values of --sort.
func lsSorts() []string {
	return []string{"activity", "created", "updated", "id", "expires", "messages", "local"}
}

func (c *commands) ls(ctx context.Context, cmd *cobra.Command, opts lsOptions) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	if err := opts.check(cmd); err != nil {
		return err
	}
	if opts.sizes && !f.json {
		return usageError("add --format=json", "--sizes is about JSON output")
	}
	filter, err := opts.filter.parse(ctx, c)
	if err != nil {
		return err
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	q := conversations.ListQuery{
		Filter: filter, TitleContains: opts.titleContains, UserOnly: opts.local,
		Sort: conversations.SortNamed(opts.sort), Ascending: !opts.order.descending, Limit: opts.limit, Offset: opts.offset,
		Sizes: opts.sizes,
	}
	if opts.tree { // a tree has places for those that are hidden, and is cut at the top
		q.Hidden, q.Limit, q.Offset = true, 0, 0
	}
	listing, err := source.List(ctx, q)
	left := c.warnOf(listing.Aside.Problems, len(filter.IDs) > 0)
	if err != nil {
		return sourceFailure(err, filter.IDs)
	}
	for _, l := range listing.Conversations {
		if l.Damage != nil {
			c.warn("%s: its events cannot be counted: %v", l.ID, l.Damage.Err)
		}
	}
	out := newOutput(c.host.Stdout)
	var places []treePlace
	if opts.tree {
		places = growTree(&listing, filter.Hidden || len(filter.IDs) > 0, opts.offset, opts.limit)
	}
	if f.json {
		return c.writeListing(out, f, &listing, places, left)
	}
	links := c.links(ctx, f)
	defer links.close()
	if opts.tree {
		err = c.writeTree(out, f, &listing, places, links, opts.full)
	} else {
		err = c.writeTable(out, f, listing.Conversations, links, opts.full, filter.Hidden)
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

func (o *lsOptions) check(cmd *cobra.Command) error {
	if err := oneOf("sort", o.sort, lsSorts()...); err != nil {
		return err
	}
	if err := notNegative("limit", o.limit); err != nil {
		return err
	}
	if err := notNegative("offset", o.offset); err != nil {
		return err
	}
	return o.order.resolve(cmd.Flags())
}

// writeListing writes a listing as JSON; a tree has places too.
func (c *commands) writeListing(out output, f format, listing *conversations.Listing, places []treePlace, left []skipped) error {
	list := c.newArray(out, f)
	var r record
	for i := range listing.Conversations {
		r.reset()
		r.listed(&listing.Conversations[i])
		if parent := listing.Conversations[i].Parent; parent != "" || places != nil {
			r.optional("parent_id", string(parent))
		}
		if c.allProjects {
			r.optional("dir", listing.Conversations[i].Dir)
		}
		if places != nil {
			r.int("depth", places[i].depth)
		}
		if err := list.add(r.end()); err != nil {
			return err
		}
	}
	if c.summary {
		err := list.addSummary(func(r *record) {
			r.int("total", listing.Total)
			r.skipped(left)
			r.ids("excluded", listing.Aside.Excluded)
		})
		if err != nil {
			return err
		}
	}
	return list.close()
}

func (r *record) listed(l *conversations.Listed) {
	r.about(string(l.ID), l.Title)
	r.int("events_count", l.Events)
	r.time("created_at", l.CreatedAt)
	r.time("last_event_at", l.LastEventAt)
	r.time("archived_at", l.ArchivedAt)
	r.time("expires_at", l.ExpiresAt)
	r.time("last_activated_at", l.LastActivatedAt)
	r.time("pinned_at", l.PinnedAt)
	r.bool("hidden", l.Hidden)
	r.string("local", l.Locality)
	if l.Source != "" {
		r.string("source", l.Source)
	}
	r.labels(l.Labels)
	if l.Damage == nil {
		r.null("error")
	} else {
		r.string("error", l.Damage.Err.Error())
	}
	if l.Size != nil {
		r.int("turns", l.Size.Turns)
		r.int("requests", l.Size.Requests)
		r.int("numbered_events", l.Size.Numbered)
		r.int("chars", l.Size.Chars)
	}
}

func (r *record) labels(labels map[string]string) {
	r.key("labels")
	r.buf = append(r.buf, '{')
	for i, key := range slices.Sorted(maps.Keys(labels)) {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.buf = appendQuoted(r.buf, key)
		r.buf = append(r.buf, ':')
		r.buf = appendQuoted(r.buf, labels[key])
	}
	r.buf = append(r.buf, '}')
}
