package conversationcli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
)

func (c *commands) indexCommand() *cobra.Command {
	remove := false
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Bring the index of all messages up to date",
		Long: `Makes an index of the messages of all stores, or brings it up to date, so that
searches need not read them. It stands in the user's cache directory, takes a
little more room than the texts, and can be removed at any time: answers are
the same without it. A store with less than 20 MB of text needs none.

Indexes of stores that are gone are removed; "search status" shows those of
stores that are not searched.

An MCP server makes indexes by itself once messages were searched. Lists of
many conversations keep titles, times and counts beside them, and --clear
removes those too. To keep none of it, write in convtools.toml:

  [index]
  off = true`,
		Example: cli.Examples(c.host.Name, "search index", "search index --clear"),
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options := c.options()
			defer options.Indexes.Close()
			if remove {
				return options.Indexes.Clear()
			}
			return c.index(cmd.Context(), options)
		},
	}
	cmd.Flags().BoolVar(&remove, "clear", false, "remove the index of every store")
	c.jsonFlag(cmd, "json", "print it as JSON")
	return c.ready(cmd)
}

func (c *commands) index(ctx context.Context, options conversations.Options) error {
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	stores, err := library.RefreshIndexes(ctx, options.Progress)
	if err != nil {
		return err
	}
	gone, err := library.RemoveGoneIndexes()
	if err != nil {
		return err
	}
	rows := [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}
	remarks := notOwn(options.Indexes.Foreign())
	listed := objects(stores, func(r conversations.IndexReport) object {
		state, problem := "indexed", ""
		if r.Err != nil {
			state, problem = "failed", text.Line(r.Err.Error())
			remarks = append(remarks, r.Store+": "+problem)
		} else if r.Busy {
			state = "busy"
		}
		rows = append(rows, []string{r.Store, state, text.Number(r.Conversations), text.Number(r.Messages), text.Number(r.Changed + r.Removed), megabytes(r.Bytes)})
		return object{
			"store", r.Store, "place", r.Place, "state", state, "conversations", r.Conversations, "messages", r.Messages,
			"changed", r.Changed, "removed", r.Removed, "bytes", r.Bytes, "problem", problem,
		}
	})
	if c.out.format.json {
		return c.out.object(object{"gone", unusedIndexes(gone), "stores", listed})
	}
	for i := range gone {
		remarks = append(remarks, "removed, as nothing uses it again: "+c.describeUnused(&gone[i]))
	}
	if len(stores) == 0 {
		c.printTable("no index is kept\n", nil, remarks)
	} else {
		c.printTable("", rows, remarks, 2, 3, 4, 5)
	}
	return nil
}

// unusedIndexes are indexes that no store has that is searched.
func unusedIndexes(indexes []conversations.UnusedIndex) []object {
	return objects(indexes, func(u conversations.UnusedIndex) object {
		return object{"store", u.Store, "place", u.Place, "gone", u.Gone, "bytes", u.Bytes}
	})
}

// describeUnused describes an index that no store has that is searched.
func (c *commands) describeUnused(u *conversations.UnusedIndex) string {
	of := "an index"
	if u.Store != "" {
		of += " of " + u.Store + " in " + c.shortPath(u.Place)
	}
	return of + ", " + megabytes(u.Bytes) + " MB"
}

// notOwn describes the directory of the cache that belongs to another user, where there is
// one.
func notOwn(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{dir + " belongs to another user: nothing in it is used"}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

func (c *commands) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what is searched, and how much there is",
		Long:    cli.Fill("Shows the stores that are searched, with the conversations and messages in each, the newest of them, and their index. What has no index is read for that."),
		Example: cli.Examples(c.host.Name, "search status"),
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.status(cmd.Context()) },
	}
	c.jsonFlag(cmd, "json", "print it as JSON")
	return c.ready(cmd)
}

// searched is what there is in the stores of a kind.
type searched struct {
	store                   string
	conversations, messages int
	newest                  time.Time
	problems                []string
	indexBytes              int64     // 0 where there is no index
	indexedAt               time.Time // when the newest index was written
	isUnread                bool      // nothing is known but its problem
}

func (c *commands) status(ctx context.Context) error {
	options := c.options()
	options.Once = true
	sources, err := conversations.SearchSources(options)
	if err != nil {
		return err
	}
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	defer library.Close()
	indexes := library.IndexReports()
	var stores []searched
	for _, source := range sources {
		store, err := c.searched(ctx, library, source)
		if err != nil && (ctx.Err() != nil || len(sources) == 1) {
			return err
		}
		if err != nil { // the others are there
			store = searched{store: source, problems: []string{text.Line(explained(err).Error())}, isUnread: true}
		}
		for _, r := range indexes {
			if r.Store == source && r.Bytes > 0 {
				store.indexBytes += r.Bytes
				store.indexedAt = time.Unix(max(r.Updated, store.indexedAt.Unix()), 0)
			}
		}
		if store.conversations > 0 || len(store.problems) > 0 {
			stores = append(stores, store)
		}
	}
	unused, err := library.UnusedIndexes()
	if err != nil {
		return err
	}
	if !c.out.format.json {
		c.writeStatus(stores, unused, options.Indexes.Foreign())
		return nil
	}
	return c.out.object(object{"stores", objects(stores, func(s searched) object {
		return object{
			"store", s.store, "conversations", s.conversations, "messages", s.messages, "newest", s.newest,
			"problems", s.problems, "index_bytes", s.indexBytes, "indexed_at", s.indexedAt,
		}
	}), "unused_indexes", unusedIndexes(unused)})
}

// searched returns what there is in a kind of store.
func (c *commands) searched(ctx context.Context, library *conversations.Library, source string) (searched, error) {
	filter := conversations.Filter{Sources: []string{source}}
	found, err := library.Messages(ctx, conversations.MessageQuery{Filter: filter, Limit: 1, MaxText: 1})
	if err != nil {
		return searched{}, err
	}
	store := searched{store: source, messages: found.Total}
	for i := range found.Aside.Problems {
		store.problems = append(store.problems, c.describe(&found.Aside.Problems[i]))
	}
	if len(found.Messages) > 0 {
		store.newest = found.Messages[0].Position.Time
	}
	filter.Both = true
	listing, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	store.conversations = listing.Total
	return store, err
}

func (c *commands) writeStatus(stores []searched, unused []conversations.UnusedIndex, foreign string) {
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}
	remarks := notOwn(foreign)
	for _, store := range stores {
		row := []string{store.store, text.Number(store.conversations), text.Number(store.messages), "-", "-"}
		if store.isUnread {
			row[1], row[2] = "-", "-"
		}
		if !store.newest.IsZero() {
			row[3] = c.when(store.newest, false)
		}
		if store.indexBytes > 0 {
			row[4] = megabytes(store.indexBytes) + " MB, " + c.when(store.indexedAt, false)
		}
		rows = append(rows, row)
		remarks = append(remarks, problemsOf(store.store, store.problems)...)
	}
	for i := range unused {
		why := "not searched"
		if unused[i].Gone {
			why = "gone, and removed by search index"
		}
		remarks = append(remarks, c.describeUnused(&unused[i])+": "+why)
	}
	c.printTable("", rows, remarks, 1, 2)
}
