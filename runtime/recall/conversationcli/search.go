package conversationcli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/toolset"
)

// searchTool is the tool behind the command "search".
const searchTool = "conversation_search"

// Around returns the message of an id and those around it, as searchTool shows messages.
type Around func(ctx context.Context, source conversations.Source, id string, before, after int) (string, error)

// searching is the command "search" being executed. The names in JSON are those of the
// tool's parameters.
type searching struct {
	commands `json:"-"`
	family   *toolset.Family
	around   Around

	Query   string   `json:"query,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	Since   string   `json:"start_date,omitempty"`
	Until   string   `json:"end_date,omitempty"`
	Limit   int      `json:"limit"`
	Cursor  string   `json:"cursor,omitempty"`
	Order   string   `json:"order,omitempty"`
	IDs     bool     `json:"ids"`
	Sources []string `json:"sources,omitempty"`
}

// Search returns the command "search": what the tools of family find, for people. It prints
// what the tools answer, to the letter; on a terminal with times of the local zone and with
// matches in colour.
func Search(family *toolset.Family, around Around) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		s := &searching{commands: commands{host: host, allProjects: true}, family: family, around: around, Limit: 50}
		return s.command()
	}
}

func (s *searching) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search [QUERY…]",
		Short: "Search messages of all projects and imported histories",
		Long: `Searches the messages of all projects, and of histories that were imported, and
prints those that match as blocks, the newest first.

Several words are one text, which is taken literally, and matches in any case in
a message or in the title of its conversation. Times are UTC, and on a terminal
those of the local zone. A last block that begins with [note] says what there is
besides.

Put -- before a text that begins with '-' or is the name of a command below.`,
		Example:           cli.Examples(s.host.Name, "search retry policy", "search --role user --since 2026-01-01 --until 2026-W05 tide", "search -- status"),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Query = strings.Join(args, " ")
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			return s.search(cmd.Context())
		},
	}
	flags := cmd.Flags()
	anyOf(cmd, &s.Roles, "role", "", "only messages of this `ROLE`: user, assistant, tool; repeatable", "user", "assistant", "tool")
	flags.StringVar(&s.Since, "since", "", "only messages from this `DATE` on, ISO 8601, inclusive")
	flags.StringVar(&s.Until, "until", "", "only messages up to this `DATE`, ISO 8601, inclusive")
	flags.IntVar(&s.Limit, "limit", 50, "print at most `N` messages, up to 200")
	flags.BoolVar(&s.IDs, "ids", false, "print id and event of messages, for search show")
	oneOf(cmd, &s.Order, "order", "", "`what` comes first: newest (default) or relevance", "newest", "relevance")
	anyOf(cmd, &s.Sources, "source", "", "only messages that this `PROGRAM` recorded; repeatable", conversations.Sources()...)
	flags.StringVar(&s.Cursor, "cursor", "", "go on behind `CURSOR`, as a note has it")
	addJSON(cmd, "print the answer for programs, as JSON")
	cmd.AddCommand(s.showCommand(), s.statusCommand(), s.indexCommand())
	return s.ready(paged(cmd))
}

func (s *searching) showCommand() *cobra.Command {
	var before, after int
	cmd := &cobra.Command{
		Use:     "show ID EVENT",
		Short:   "Print one message, whole",
		Long:    "Prints the message with the id and event that search --ids prints, whole.",
		Example: cli.Examples(s.host.Name, "search show jp-c17737387251 16 --before 2"),
		Args:    cobra.RangeArgs(1, 2), // ID:EVENT too, as in the answer of --json
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := s.open()
			if err != nil {
				return err
			}
			answer, err := s.around(cmd.Context(), source, strings.Join(args, ":"), before, after)
			if err == nil {
				s.write(answer, "")
			}
			return err
		},
	}
	cmd.Flags().Func("before", "print `N` messages before it too", number(&before, 0, "use 0 or more"))
	cmd.Flags().Func("after", "print `N` messages behind it too", number(&after, 0, "use 0 or more"))
	return s.ready(paged(cmd))
}

func (s *searching) search(ctx context.Context) error {
	call := s.family.Call
	if s.out.format.json {
		call = s.family.CallStructured
	}
	arguments, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the arguments of %s: %w", searchTool, err)
	}
	where := s.host.Context()
	where.Caller.Process = caller.Shell
	answer, err := call(ctx, contract.Call{Tool: searchTool, Arguments: arguments, Context: where})
	if err != nil {
		return err
	}
	if s.out.format.json {
		s.out = nil
		if err := cli.WriteJSON(s.host.Stdout, s.host.Terminal, []byte(answer+"\n")); err != nil {
			return err
		}
	} else {
		s.write(answer, s.Query)
	}
	return foundAny(!strings.HasPrefix(answer, "No matching messages.") && !strings.HasPrefix(answer, `{"message":"No results`))
}

// write prints an answer. On a terminal matches of query are in colour, and times are those
// of the local zone.
func (s *searching) write(answer, query string) {
	if s.host.Terminal {
		blocks := strings.Split(answer, "\n\n---\n\n")
		for i, block := range blocks {
			blocks[i] = styled(block, strings.TrimSpace(query), s.host.Now().Location())
		}
		answer = strings.Join(blocks, "\n\n")
	}
	s.out.write(answer + "\n")
}

// styled is a block of an answer for a terminal, with times of a zone.
func styled(block, query string, zone *time.Location) string {
	head, body, isMessage := strings.Cut(block, "\n")
	switch {
	case strings.HasPrefix(block, "[note] "):
		return styleDim + block + styleReset
	case !isMessage:
		return block
	}
	const layout = "[2006-01-02 15:04"
	if at, err := time.Parse(layout, head[:min(len(head), len(layout))]); err == nil {
		head = at.In(zone).Format(layout) + head[len(layout):]
	}
	return styleID + coloured(head, excerpt.Occurrences(head, query), styleReset+styleID) + styleReset + "\n" +
		coloured(body, excerpt.Occurrences(body, query), styleReset)
}

// coloured has spans of a text in colour, with a style after each. What is between the styles
// is made safe, so that nothing recorded can add any.
func coloured(s string, spans iter.Seq[excerpt.Span], after string) string {
	var b strings.Builder
	end := 0
	for span := range spans {
		if span.Start >= end {
			b.WriteString(text.Visible(s[end:span.Start]) + styleMatch + text.Visible(s[span.Start:span.End]) + after)
			end = span.End
		}
	}
	return b.String() + text.Visible(s[end:])
}

func (c *commands) indexCommand() *cobra.Command {
	remove := false
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
	addJSON(cmd, "print it as JSON")
	return c.ready(cmd)
}

func (c *commands) index(ctx context.Context, options conversations.Options) error {
	library, err := conversations.Open(options)
	if err != nil {
		return err
	}
	stores, err := library.RefreshIndexes(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"STORE", "INDEX", "CONVERSATIONS", "MESSAGES", "CHANGED", "MB"}}
	var remarks []string
	listed := objects(stores, func(r conversations.IndexReport) object {
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
	switch {
	case c.out.format.json:
		return c.out.object(object{"stores", listed})
	case len(stores) == 0:
		c.printTable("no index is kept\n", nil, foreignCache(options))
	default:
		c.printTable("", rows, remarks, 2, 3, 4, 5)
	}
	return nil
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
	addJSON(cmd, "print it as JSON")
	return c.ready(cmd)
}

func (c *commands) status(ctx context.Context) error {
	options := c.options()
	options.Once = true
	sources, err := options.SearchSources()
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
	for _, name := range sources {
		s, err := c.searched(ctx, library, name)
		if err != nil {
			if ctx.Err() != nil || len(sources) == 1 {
				return err
			}
			s.problems = []string{text.Line(explained(err).Error())} // the others are there
		}
		if s.conversations == 0 && len(s.problems) == 0 {
			continue
		}
		rows = append(rows, []string{
			name, text.Number(s.conversations), text.Number(s.messages), either(s.newest.IsZero(), "-", c.when(s.newest, false)),
			either(s.bytes == 0, "-", megabytes(s.bytes)+" MB, "+c.when(s.indexed, false)),
		})
		stores = append(stores, object{
			"store", name, "conversations", s.conversations, "messages", s.messages, "newest", s.newest,
			"problems", s.problems, "index_bytes", s.bytes, "indexed_at", s.indexed,
		})
		remarks = append(remarks, problemsOf(name, s.problems)...)
	}
	if c.out.format.json {
		return c.out.object(object{"stores", stores})
	}
	c.printTable("", rows, append(remarks, foreignCache(options)...), 1, 2)
	return nil
}

// foreignCache says where the cache belongs to another user, so that nothing is kept.
func foreignCache(o conversations.Options) []string {
	if dir := o.Indexes.Foreign(); dir != "" {
		return []string{text.Line(dir) + " belongs to another user: set XDG_CACHE_HOME to a directory of your own"}
	}
	return nil
}

// searched is what there is in the stores of a kind, and what is wrong with them.
type searched struct {
	conversations, messages int
	newest, indexed         time.Time
	bytes                   int64 // of the index
	problems                []string
}

func (c *commands) searched(ctx context.Context, library *conversations.Library, source string) (s searched, err error) {
	filter := conversations.Filter{Sources: []string{source}}
	found, err := library.Search(ctx, conversations.SearchQuery{Filter: filter, Order: conversations.Newest, Limit: 1, CountAll: true})
	if err != nil {
		return s, err
	}
	filter.Both = true
	listing, err := library.List(ctx, conversations.ListQuery{Filter: filter, NoEvents: true, Sort: conversations.ByID})
	if err != nil {
		return s, err
	}
	s.conversations, s.messages = listing.Total, found.Total
	for i := range found.Aside.Problems {
		s.problems = append(s.problems, c.describe(&found.Aside.Problems[i]))
	}
	for _, m := range found.Hits {
		s.newest = m.Time
	}
	for _, r := range library.IndexReports() {
		if r.Store == source && r.Bytes > 0 {
			s.bytes += r.Bytes
			s.indexed = time.Unix(max(r.Updated, s.indexed.Unix()), 0)
		}
	}
	return s, nil
}
