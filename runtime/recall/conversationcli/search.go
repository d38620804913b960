package conversationcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
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

// searching is the command line of search. The names in JSON are those of the tool's
// parameters.
type searching struct {
	commands `json:"-"`
	family   *toolset.Family

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
		s := &searching{commands: commands{host: host, allProjects: true}, family: family}
		cmd := s.searchCommand()
		cmd.AddCommand(s.messageCommand(around), s.statusCommand(), s.indexCommand())
		return cmd
	}
}

func (s *searching) searchCommand() *cobra.Command {
	cmd := paged(&cobra.Command{
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
	})
	flags := cmd.Flags()
	anyOf(cmd, &s.Roles, "role", "only messages of this `ROLE`; repeatable", "user", "assistant", "tool")
	flags.StringVar(&s.Since, "since", "", "only messages from this `DATE` on, ISO 8601, inclusive")
	flags.StringVar(&s.Until, "until", "", "only messages up to this `DATE`, ISO 8601, inclusive")
	flags.IntVar(&s.Limit, "limit", 50, "print at most `N` messages, up to 200")
	flags.BoolVar(&s.IDs, "ids", false, "print id and event of messages, for search show")
	oneOf(cmd, &s.Order, "order", "", "`what` comes first (default newest)", "newest", "relevance")
	addSources(cmd, &s.Sources)
	flags.StringVar(&s.Cursor, "cursor", "", "go on behind `CURSOR`, as a note has it")
	s.addJSON(cmd, "json")
	return s.command(cmd, func(ctx context.Context, args []string) error {
		if len(args) == 0 && flags.NFlag() == 0 {
			return cmd.Help()
		}
		s.Query = strings.Join(args, " ")
		if err := s.search(ctx); !errors.Is(err, cli.ErrFailed) || s.out.json {
			return err
		}
		return cmp.Or(s.explain(ctx, without(flags)), cli.ErrFailed)
	})
}

func (s *searching) search(ctx context.Context) error {
	call := s.family.Call
	if s.out.json {
		call = s.family.CallStructured
	}
	arguments, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the arguments of %s: %w", searchTool, err)
	}
	where := s.host.Context()
	where.Caller.Process = caller.Shell
	answer, err := call(ctx, contract.Call{Tool: searchTool, Arguments: arguments, Context: where})
	switch {
	case err != nil:
		return err
	case s.out.json:
		s.out.elements = -1
		s.out.keep(cli.WriteJSON(s.out.to, s.out.terminal, []byte(answer+"\n")))
	default:
		s.out.blocks(answer, s.Query, s.host.Now().Location())
	}
	return foundAny(!strings.HasPrefix(answer, "No matching messages.") && !strings.HasPrefix(answer, `{"message":"No results`))
}

// explain says of a search that found nothing how often each word occurs, and what to try.
func (s *searching) explain(ctx context.Context, try []string) error {
	library, err := s.open()
	if err != nil {
		return err
	}
	sources := s.Sources
	if len(sources) == 0 {
		sources = conversations.Sources()
	}
	q := conversations.SearchQuery{Filter: conversations.Filter{Sources: sources}, Order: conversations.Newest, Limit: 1}
	words, err := s.countWords(ctx, library, q, s.Query, true)
	if err == nil {
		s.explainWords(words, append(try, either(s.Query == "", "", "fewer words"), "recall --all-projects, which finds words apart and in other forms")...)
	}
	return err
}

func (s *searching) messageCommand(around Around) *cobra.Command {
	cmd := paged(&cobra.Command{
		Use:     "show ID EVENT",
		Short:   "Print one message, whole",
		Long:    "Prints the message with the id and event that search --ids prints, whole.",
		Example: cli.Examples(s.host.Name, "search show jp-c17737387251 16 --before 2"),
		Args:    cobra.RangeArgs(1, 2), // ID:EVENT too, as in the answer of --json
	})
	before := cmd.Flags().Uint("before", 0, "print `N` messages before it too")
	after := cmd.Flags().Uint("after", 0, "print `N` messages behind it too")
	return s.command(cmd, func(ctx context.Context, args []string) error {
		library, err := s.open()
		if err != nil {
			return err
		}
		id, event, isApart := strings.Cut(strings.Join(args, ":"), ":")
		ids, err := []string{id}, error(nil)
		if isApart {
			if ids, err = s.whole(ctx, ids); err != nil {
				return err
			}
		}
		answer, err := around(ctx, library, strings.TrimSuffix(ids[0]+":"+event, ":"), int(*before), int(*after))
		if err == nil {
			s.out.blocks(answer, "", s.host.Now().Location())
		}
		return err
	})
}

// blocks writes the blocks of an answer. On a terminal matches of query are in colour, and
// times are those of a zone.
func (o *output) blocks(answer, query string, zone *time.Location) {
	if !o.terminal {
		o.write(answer + "\n")
		return
	}
	const layout = "[2006-01-02 15:04"
	query = strings.TrimSpace(query)
	for i, block := range strings.Split(answer, "\n\n---\n\n") {
		head, body, isMessage := strings.Cut(block, "\n")
		if at, err := time.Parse(layout, head[:min(len(head), len(layout))]); err == nil {
			head = at.In(zone).Format(layout) + head[len(layout):]
		}
		switch {
		case strings.HasPrefix(block, "[note] "):
			block = o.style(styleDim, block)
		case isMessage:
			block = o.coloured(head, excerpt.Occurrences(head, query), styleID) + "\n" + o.coloured(body, excerpt.Occurrences(body, query), "")
		}
		o.write(either(i > 0, "\n\n", "") + block)
	}
	o.write("\n")
}
