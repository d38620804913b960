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
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Bring the index of all messages up to date",
		Long: `Makes an index of the messages of all stores, or brings it up to date, so that
searches need not read them, and removes those of stores that are gone. It
stands in the user's cache directory, takes a little more room than the texts,
and can be removed at any time: answers are the same without it.

A search makes indexes by itself. To keep none, write in convtools.toml:

  [index]
  off = true`,
		Example: cli.Examples(c.host.Name, "search index", "search index --clear"),
		Args:    cli.NoArgs,
	}
	remove := cmd.Flags().Bool("clear", false, "remove the index of every store")
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error {
		options := c.options()
		defer options.Indexes.Close()
		if *remove {
			return options.Indexes.Clear()
		}
		return c.index(ctx, options)
	})
}

func (c *commands) index(ctx context.Context, options conversations.Options) error {
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	reports, err := library.RefreshIndexes(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}
	remarks := foreignCache(options)
	listed := objects(reports, func(r *conversations.IndexReport) object {
		state, problem := "indexed", ""
		if r.Err != nil {
			state, problem = "failed", text.Line(r.Err.Error())
			remarks = append(remarks, r.Store+": "+problem)
		}
		rows = append(rows, []string{r.Store, state, text.Number(r.Conversations), text.Number(r.Messages), text.Number(r.Changed + r.Removed), megabytes(r.Bytes)})
		return object{
			"store", r.Store, "place", r.Place, "state", state, "conversations", r.Conversations, "messages", r.Messages,
			"changed", r.Changed, "removed", r.Removed, "bytes", r.Bytes, "problem", problem,
		}
	})
	if len(listed) == 0 {
		rows = [][]string{{"no index is kept"}}
	}
	c.out.inventory("", rows, remarks, object{"stores", listed}, 2, 3, 4, 5)
	return nil
}

// inventory writes what is read of which store, for people or as JSON.
func (o *output) inventory(head string, rows [][]string, remarks []string, value object, right ...int) {
	if o.json {
		o.object(value)
		return
	}
	o.write(head)
	o.table(true, rows, right...)
	for i, remark := range remarks {
		o.write(either(i == 0, "\n", "") + remark + "\n")
	}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

// foreignCache says where the cache belongs to another user, so that nothing is kept.
func foreignCache(o conversations.Options) []string {
	if dir := o.Indexes.Foreign(); dir != "" {
		return []string{text.Line(dir) + " belongs to another user: set XDG_CACHE_HOME to a directory of your own"}
	}
	return nil
}

func (c *commands) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is searched, and how much there is",
		Long: `Shows the stores that are searched, with the conversations and messages in each,
the newest of them, and their index. What has no index is read for that.`,
		Example: cli.Examples(c.host.Name, "search status"),
		Args:    cli.NoArgs,
	}
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.allStatus(ctx) })
}

// allStatus writes what is searched.
func (c *commands) allStatus(ctx context.Context) error {
	options := c.options()
	options.Once = true
	names, err := options.SearchSources()
	if err != nil {
		return err
	}
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	defer library.Close()
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}
	var remarks []string
	var stores []object
	for _, name := range names {
		row, o, problems, err := c.status(ctx, library, name)
		if err != nil && (ctx.Err() != nil || len(names) == 1) {
			return err
		}
		if row[1] != "0" || len(problems) > 0 {
			rows, stores = append(rows, row), append(stores, o)
			remarks = append(remarks, firstOf(name, problems)...)
		}
	}
	c.out.inventory("", rows, append(remarks, foreignCache(options)...), object{"stores", stores}, 1, 2)
	return nil
}

// status returns what there is in the stores of a kind, as a row of a table and as JSON,
// and what is wrong with them.
func (c *commands) status(ctx context.Context, library *conversations.Library, store string) (row []string, o object, problems []string, err error) {
	filter := conversations.Filter{Sources: []string{store}, Both: true}
	found, err := library.Search(ctx, conversations.SearchQuery{Filter: filter, Order: conversations.Newest, Limit: 1, CountAll: true})
	var all conversations.Listing
	if err == nil {
		all, err = library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	}
	for i := range found.Aside.Problems {
		problems = append(problems, c.describe(&found.Aside.Problems[i]))
	}
	if err != nil {
		problems = []string{text.Line(explained(err).Error())}
	}
	newest, age := time.Time{}, "-"
	for _, hit := range found.Hits {
		newest, age = hit.Time, c.age(hit.Time)
	}
	bytes, indexed, index := int64(0), time.Time{}, "-"
	for _, r := range library.IndexReports() {
		if r.Store == store && r.Bytes > 0 {
			bytes += r.Bytes
			indexed = time.Unix(max(r.Updated, indexed.Unix()), 0)
			index = megabytes(bytes) + " MB, " + c.age(indexed)
		}
	}
	return []string{store, text.Number(all.Total), text.Number(found.Total), age, index}, object{
		"store", store, "conversations", all.Total, "messages", found.Total, "newest", newest,
		"problems", problems, "index_bytes", bytes, "indexed_at", indexed,
	}, problems, err
}
