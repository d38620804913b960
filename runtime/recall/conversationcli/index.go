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
	cmd := c.newCommand("index", "", "Bring the index of all messages up to date",
		`Brings the index of the messages of all stores up to date, so that searches need
not read them, and removes the index of stores that are gone. It is in the
user's cache directory, takes a little more room than the texts, and can be
removed at any time: answers are the same without it.

A search does this by itself. To keep no index, write in convtools.toml:

  [index]
  off = true`,
		"search index", "search index --clear")
	cmd.Args = cli.NoArgs
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
	in := inventory{rows: [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}}
	if len(reports) == 0 {
		in.rows = [][]string{{"no index is kept"}}
	}
	for _, r := range reports {
		state, problem := "indexed", ""
		if r.Err != nil {
			state, problem = "failed", text.Line(r.Err.Error())
			in.remark("%s: %s", r.Store, problem)
		}
		in.add(object{
			"store", r.Store, "place", r.Place, "state", state, "conversations", r.Conversations, "messages", r.Messages,
			"changed", r.Changed, "removed", r.Removed, "bytes", r.Bytes, "problem", problem,
		}, r.Store, state, text.Number(r.Conversations), text.Number(r.Messages), text.Number(r.Changed+r.Removed), megabytes(r.Bytes))
	}
	c.out.inventory(&in, nil, 2, 3, 4, 5)
	return nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

func (c *commands) statusCommand() *cobra.Command {
	cmd := c.newCommand("status", "", "Show what is searched, and how much there is",
		`Shows the stores that are searched, with the conversations and messages in each,
the newest of them, and their index. What has no index is read for that.`,
		"search status")
	cmd.Args = cli.NoArgs
	c.addJSON(cmd, "json")
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.status(ctx) })
}

// status writes what is searched. Stores without conversations and problems are left out.
func (c *commands) status(ctx context.Context) error {
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
	in := inventory{rows: [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}}
	for _, name := range names {
		if err := c.addStatus(ctx, &in, library, name); err != nil && (ctx.Err() != nil || len(names) == 1) {
			return err
		}
	}
	c.out.inventory(&in, nil, 1, 2)
	return nil
}

// addStatus adds the stores of a kind to an inventory. An error is a problem in it too.
func (c *commands) addStatus(ctx context.Context, in *inventory, library *conversations.Library, store string) error {
	filter := conversations.Filter{Sources: []string{store}, Both: true}
	found, err := library.Search(ctx, conversations.SearchQuery{Filter: filter, Order: conversations.Newest, Limit: 1, CountAll: true})
	var all conversations.Listing
	if err == nil {
		all, err = library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	}
	problems := c.described(found.Aside.Problems)
	if err != nil {
		problems = []string{text.Line(explained(err).Error())}
	}
	if all.Total == 0 && len(problems) == 0 {
		return err
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
	in.add(object{
		"store", store, "conversations", all.Total, "messages", found.Total, "newest", newest,
		"problems", problems, "index_bytes", bytes, "indexed_at", indexed,
	}, store, text.Number(all.Total), text.Number(found.Total), age, index)
	in.addProblems(store, problems)
	return err
}
