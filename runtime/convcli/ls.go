package convcli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// lsOptions is the command line of ls.
type lsOptions struct {
	filter        filter
	order         order
	sort          string
	limit, offset int
	titleContains string
	local, full   bool
}

// entry is a conversation in the list.
type entry struct {
	*workspace.Conversation
	counted bool
	events  int
	last    time.Time // of the last event; zero when there is none
	err     error     // why the events could not be counted
}

func (c *cli) lsCommand() *cobra.Command {
	var opts lsOptions
	cmd := &cobra.Command{
		Use:     "ls [ID]…",
		Aliases: []string{"list"},
		Short:   "List conversations, the one with the newest activity first",
		Long: `Lists conversations, the one with the newest activity first; with IDs, only
those, live or archived.

Flags that are repeatable also take several values between commas, except for
--label.`,
		Example: `  convtools conversation ls --limit 10
  convtools conversation ls --title-contains retry --archived
  convtools conversation ls --format json --summary`,
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
	flags.BoolVar(&opts.full, "full", false, "show full times and titles in text output")
	opts.filter.addFlags(flags)
	markRare(flags, "ascending", "descending", "exclude-id", "hidden", "local", "offset")
	c.completeFlags(cmd, map[string][]string{"sort": lsSorts()})
	return cmd
}

// lsSorts returns the values of --sort.
func lsSorts() []string {
	return []string{"activity", "created", "updated", "id", "expires", "messages", "local"}
}

func (c *cli) ls(ctx context.Context, cmd *cobra.Command, opts lsOptions) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	if err := opts.check(cmd); err != nil {
		return err
	}
	found, err := c.find(ctx, cmd, opts.filter)
	if err != nil {
		return err
	}
	entries := opts.filtered(found.conversations)
	total := len(entries)
	if opts.sortNeedsEvents() {
		if err := c.count(ctx, entries); err != nil {
			return err
		}
	}
	opts.sortEntries(entries)
	entries = page(entries, opts.offset, opts.limit)
	if err := c.count(ctx, entries); err != nil {
		return err
	}
	for _, e := range entries {
		if e.err != nil {
			c.warn("%s: its events cannot be counted: %v", e.ID, e.err)
		}
	}
	out := newOutput(c.env.Stdout)
	if f.json {
		return c.writeEntries(out, f, entries, total, found)
	}
	if err := c.writeTable(out, f, entries, opts.full); err != nil {
		return err
	}
	c.explainList(entries, total, opts, found)
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

// filtered applies the filters that only ls has.
func (o *lsOptions) filtered(conversations []*workspace.Conversation) []*entry {
	contains := titleFilter(o.titleContains)
	entries := make([]*entry, 0, len(conversations))
	for _, conv := range conversations {
		if contains(conv.Metadata.Title) && (!o.local || conv.Locality == workspace.LocalityUser) {
			entries = append(entries, &entry{Conversation: conv})
		}
	}
	return entries
}

func (o *lsOptions) sortNeedsEvents() bool {
	return o.sort == "activity" || o.sort == "updated" || o.sort == "messages"
}

// count fills in what only the events tell, where that has not been done.
func (c *cli) count(ctx context.Context, entries []*entry) error {
	var pending []*entry
	var list []*workspace.Conversation
	for _, e := range entries {
		if !e.counted {
			pending = append(pending, e)
			list = append(list, e.Conversation)
		}
	}
	type counted struct {
		events int
		last   time.Time
		err    error
	}
	return readAll(ctx, list, true,
		func(ctx context.Context, r *reader, conv *workspace.Conversation) counted {
			data, err := r.read(ctx, conv)
			if err != nil {
				return counted{err: err}
			}
			events, last, err := transcript.Count(data)
			return counted{events, last, err}
		},
		func(i int, n counted) error {
			e := pending[i]
			e.counted, e.events, e.last, e.err = true, n.events, n.last, n.err
			return nil
		})
}

// activity is when something last happened in a conversation.
func activity(conv *workspace.Conversation, last time.Time) time.Time {
	if last.IsZero() {
		return conv.ID.Created()
	}
	return last
}

// updated is when a conversation last changed in any way.
func updated(conv *workspace.Conversation, last time.Time) time.Time {
	newest := activity(conv, last)
	if conv.Metadata.LastActivatedAt.After(newest) {
		newest = conv.Metadata.LastActivatedAt
	}
	return newest
}

// sortEntries sorts with missing values last in either direction, and by
// ascending id where values are equal.
func (o *lsOptions) sortEntries(entries []*entry) {
	sortBy(entries, o.order.descending, func(e *entry) transcript.ID { return e.ID }, func(e *entry) sortKey {
		switch o.sort {
		case "activity":
			return timeKey(activity(e.Conversation, e.last))
		case "updated":
			return timeKey(updated(e.Conversation, e.last))
		case "expires":
			return timeKey(e.Metadata.ExpiresAt)
		case "messages":
			return sortKey{number: int64(e.events), missing: e.err != nil}
		case "local":
			return sortKey{text: string(e.Locality)}
		}
		return sortKey{number: int64(e.ID)} // created, id
	})
}

// sortKey is a value to sort by.
type sortKey struct {
	missing bool
	number  int64
	nanos   int
	text    string
}

func timeKey(t time.Time) sortKey {
	return sortKey{missing: t.IsZero(), number: t.Unix(), nanos: t.Nanosecond()}
}

func sortBy[E any](list []E, descending bool, id func(E) transcript.ID, key func(E) sortKey) {
	slices.SortStableFunc(list, func(a, b E) int {
		x, y := key(a), key(b)
		if x.missing != y.missing {
			if x.missing {
				return 1
			}
			return -1
		}
		byValue := cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(x.nanos, y.nanos), strings.Compare(x.text, y.text))
		if x.missing {
			byValue = 0
		}
		if descending {
			byValue = -byValue
		}
		return cmp.Or(byValue, cmp.Compare(id(a), id(b)))
	})
}

// page returns limit entries from offset on; limit 0 means all.
func page(entries []*entry, offset, limit int) []*entry {
	entries = entries[min(offset, len(entries)):]
	if limit > 0 {
		entries = entries[:min(limit, len(entries))]
	}
	return entries
}

func (c *cli) writeEntries(out output, f format, entries []*entry, total int, found *selection) error {
	list := c.newArray(out, f)
	var r record
	for _, e := range entries {
		r.reset()
		r.entry(e)
		if err := list.add(r.end()); err != nil {
			return err
		}
	}
	if c.summary {
		err := list.addSummary(func(r *record) {
			r.int("total", total)
			r.skipped(found.skipped)
			r.ids("excluded", found.excluded)
		})
		if err != nil {
			return err
		}
	}
	return list.close()
}

func (r *record) entry(e *entry) {
	r.string("id", e.ID.String())
	r.optional("title", e.Metadata.Title)
	r.int("events_count", e.events)
	r.time("created_at", e.ID.Created())
	r.time("last_event_at", e.last)
	archivedAt := e.Metadata.ArchivedAt
	if !e.Archived {
		archivedAt = time.Time{} // a stale stamp: the directory decides
	}
	r.time("archived_at", archivedAt)
	r.time("expires_at", e.Metadata.ExpiresAt)
	r.time("last_activated_at", e.Metadata.LastActivatedAt)
	r.time("pinned_at", e.Metadata.PinnedAt)
	r.bool("hidden", e.Metadata.Hidden)
	r.string("local", string(e.Locality))
	r.labels(e.Metadata.Labels)
	if e.err == nil {
		r.null("error")
	} else {
		r.string("error", e.err.Error())
	}
}

func (r *record) labels(labels map[string]string) {
	keys := make([]string, 0, len(labels))
	for key := range labels {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	r.key("labels")
	r.buf = append(r.buf, '{')
	for i, key := range keys {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		r.buf = appendQuoted(r.buf, key)
		r.buf = append(r.buf, ':')
		r.buf = appendQuoted(r.buf, labels[key])
	}
	r.buf = append(r.buf, '}')
}
