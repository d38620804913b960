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
	return c.command(cmd, func(ctx context.Context, _ []string) error { return c.status(ctx) })
}

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
	rows := [][]string{{"STORE", "CONVERSATIONS", "MESSAGES", "NEWEST", "INDEX"}}
	var remarks []string
	var stores []object
	for _, name := range names {
		s, err := c.count(ctx, library, name)
		if err != nil {
			if ctx.Err() != nil || len(names) == 1 {
				return err
			}
			s.problems = []string{text.Line(explained(err).Error())} // the others are there
		}
		if s.conversations == 0 && len(s.problems) == 0 {
			continue
		}
		rows = append(rows, []string{
			name, text.Number(s.conversations), text.Number(s.messages), either(s.newest.IsZero(), "-", c.age(s.newest)),
			either(s.bytes == 0, "-", text.Number(int(s.bytes/1e6))+" MB, "+c.age(s.indexed)),
		})
		stores = append(stores, object{
			"store", name, "conversations", s.conversations, "messages", s.messages, "newest", s.newest,
			"problems", s.problems, "index_bytes", s.bytes, "indexed_at", s.indexed,
		})
		remarks = append(remarks, firstOf(name, s.problems)...)
	}
	c.out.inventory("", rows, append(remarks, foreignCache(options)...), object{"stores", stores}, 1, 2)
	return nil
}

// searched is what there is in the stores of a kind, and what is wrong with them.
type searched struct {
	conversations, messages int
	newest, indexed         time.Time
	bytes                   int64 // of the index
	problems                []string
}

// count counts what there is in the stores of a kind.
func (c *commands) count(ctx context.Context, library *conversations.Library, store string) (s searched, err error) {
	filter := conversations.Filter{Sources: []string{store}, Both: true}
	found, err := library.Search(ctx, conversations.SearchQuery{Filter: filter, Order: conversations.Newest, Limit: 1, CountAll: true})
	if err != nil {
		return s, err
	}
	all, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	s.conversations, s.messages = all.Total, found.Total
	for _, hit := range found.Hits {
		s.newest = hit.Time
	}
	for i := range found.Aside.Problems {
		s.problems = append(s.problems, c.describe(&found.Aside.Problems[i]))
	}
	for _, r := range library.IndexReports() {
		if r.Store == store && r.Bytes > 0 {
			s.bytes += r.Bytes
			s.indexed = time.Unix(max(r.Updated, s.indexed.Unix()), 0)
		}
	}
	return s, err
}
