package conversationcli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/toolset"
)

// searchTool is the tool behind the command "search".
const searchTool = "conversation_search"

// Around returns the message of an id and those around it, as searchTool shows messages.
type Around func(ctx context.Context, source conversations.Source, id string, before, after int) (string, error)

// Everywhere opens the conversations that searchTool searches, and returns the kinds of
// stores that it asks.
type Everywhere func() (*conversations.Library, []string, error)

// searching is the command line of search. The names in JSON are those of the tool's
// parameters.
type searching struct {
	commands   `json:"-"`
	family     *toolset.Family
	everywhere Everywhere

	Query   string   `json:"query,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	Since   string   `json:"start_date,omitempty"`
	Until   string   `json:"end_date,omitempty"`
	Limit   uint     `json:"limit"`
	Cursor  string   `json:"cursor,omitempty"`
	Order   string   `json:"order,omitempty"`
	Sources []string `json:"sources,omitempty"`

	since, until  *time.Time
	oldest        bool
	each, context uint
	narrowed      []string // flags to do without
}

// Search returns the command "search": messages of all projects, for people. With --json it
// prints what the tool of family answers.
func Search(family *toolset.Family, around Around, everywhere Everywhere) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		s := &searching{commands: commands{host: host, allProjects: true}, family: family, everywhere: everywhere}
		cmd := s.searchCommand()
		cmd.AddCommand(s.messageCommand(around), s.statusCommand(), s.indexCommand())
		return cmd
	}
}

func (s *searching) searchCommand() *cobra.Command {
	cmd := paged(&cobra.Command{
		Use:   "search [QUERY…]",
		Short: "Search messages of all projects and imported histories",
		Long: `Searches the messages and titles of all projects, and of histories that were
imported. Several words are one text, which is taken literally, in any case.

A terminal shows a screenful of blocks, one of each conversation: the lines
around the match below its id, program and day. What was said comes before the
output of tools, and the newest first. A pipe gets a line for each message: id,
program, day, role and at most 300 characters of text, with tabs between them.
search show prints the message with such an id whole.

Put -- before a text that begins with '-' or is the name of a command below.`,
		Example:           cli.Examples(s.host.Name, "search retry policy", "search --role user --since 2026-01-01 --until 2026-W05 tide", "search -- status"),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	})
	flags := cmd.Flags()
	anyOf(cmd, &s.Roles, "role", "only messages of this `ROLE`; repeatable", "user", "assistant", "tool")
	s.addTime(cmd, "since", "only messages from this `DATE` on, inclusive", func(span iso8601.Span) {
		s.since, s.Since = &span.First, span.First.Format(time.RFC3339Nano)
	})
	s.addTime(cmd, "until", "only messages up to this `DATE`, inclusive", func(span iso8601.Span) {
		s.until, s.Until = &span.Last, span.Last.Format(time.RFC3339Nano)
	})
	flags.UintVar(&s.Limit, "limit", 0, "print at most `N` messages; 0 is a screenful, or 50 in a pipe")
	flags.UintVarP(&s.each, "max-matches", "m", 1, "print at most `N` messages of each conversation; 0 prints all")
	flags.UintVar(&s.context, "context", 1, "show `N` lines before and after each match")
	flags.BoolVar(&s.oldest, "oldest", false, "the oldest first")
	oneOf(cmd, &s.Order, "order", "", "`what` comes first (default newest)", "newest", "relevance")
	addSources(cmd, &s.Sources)
	flags.StringVar(&s.Cursor, "cursor", "", "with --json: go on after `CURSOR`, the next_cursor of an answer")
	flags.Bool("ids", true, "ids are always printed")
	_ = flags.MarkHidden("ids") // fails only for a flag that is not there
	s.addJSON(cmd, "json")
	return s.command(cmd, func(ctx context.Context, args []string) error {
		if len(args) == 0 && flags.NFlag() == 0 {
			return cmd.Help()
		}
		s.Query = strings.TrimSpace(strings.Join(args, " "))
		switch {
		case s.out.json:
			return s.structured(ctx)
		case s.Cursor != "":
			return misused("a larger --limit shows more", "--cursor is for --json")
		case s.Order == "relevance" && s.Query == "":
			return misused("say what to look for", "--order relevance needs a QUERY")
		}
		s.narrowed = without(flags)
		return s.search(ctx)
	}, "oldest order", "oldest json", "max-matches json", "context json")
}

// structured prints the answer of the tool for programs.
func (s *searching) structured(ctx context.Context) error {
	s.Limit = cmp.Or(s.Limit, pipedLimit)
	arguments, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the arguments of %s: %w", searchTool, err)
	}
	where := s.host.Context()
	where.Caller.Process = caller.Shell
	answer, err := s.family.CallStructured(ctx, contract.Call{Tool: searchTool, Arguments: arguments, Context: where})
	if err != nil {
		return err
	}
	s.out.elements = -1
	s.out.keep(cli.WriteJSON(s.out.to, s.out.terminal, []byte(answer+"\n")))
	return foundAny(!strings.HasPrefix(answer, `{"message":"No results`))
}

// explain says of a search that found nothing how often each word occurs, and what to try.
func (s *searching) explain(ctx context.Context, library *conversations.Library, q conversations.SearchQuery) error {
	q.Since, q.Until, q.Roles, q.Order, q.Limit = nil, nil, 0, conversations.Newest, 1
	words, err := s.countWords(ctx, library, q, s.Query, true)
	if err == nil {
		s.explainWords(words, append(s.narrowed, either(s.Query == "", "", "fewer words"), "recall --all-projects, which finds words apart and in other forms")...)
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
			s.out.blocks(answer, s.host.Now().Location())
		}
		return err
	})
}

// blocks writes the blocks of an answer. On a terminal times are those of a zone.
func (o *output) blocks(answer string, zone *time.Location) {
	if !o.terminal {
		o.write(answer + "\n")
		return
	}
	const layout = "[2006-01-02 15:04"
	for i, block := range strings.Split(answer, "\n\n---\n\n") {
		head, body, isMessage := strings.Cut(block, "\n")
		if at, err := time.Parse(layout, head[:min(len(head), len(layout))]); err == nil {
			head = at.In(zone).Format(layout) + head[len(layout):]
		}
		switch {
		case strings.HasPrefix(block, "[note] "):
			block = o.style(styleDim, block)
		case isMessage:
			block = o.style(styleID, head) + "\n" + body
		}
		o.write(either(i > 0, "\n\n", "") + block)
	}
	o.write("\n")
}
