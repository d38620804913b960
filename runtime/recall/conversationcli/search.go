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
	context  int

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
			if err := excluded(cmd.Flags(), "context json"); err != nil {
				return err
			}
			return s.search(cmd.Context())
		},
	}
	flags := cmd.Flags()
	anyOf(cmd, &s.Roles, "role", "", "only messages of this `ROLE`: user, assistant, tool; repeatable", "user", "assistant", "tool")
	flags.StringVar(&s.Since, "since", "", "only messages from this `DATE` on, ISO 8601, inclusive")
	flags.StringVar(&s.Until, "until", "", "only messages up to this `DATE`, ISO 8601, inclusive")
	flags.IntVar(&s.Limit, "limit", 50, "print at most `N` messages, up to 200")
	flags.Func("context", "print `N` messages before and after each one too, whole", number(&s.context, 0, "use 0 or more"))
	flags.BoolVar(&s.IDs, "ids", false, "print id and event of messages, for search show")
	oneOf(cmd, &s.Order, "order", "", "`what` comes first: newest (default) or relevance", "newest", "relevance")
	anyOf(cmd, &s.Sources, "source", "", "only messages that this `PROGRAM` recorded; repeatable", conversations.Sources()...)
	flags.StringVar(&s.Cursor, "cursor", "", "go on behind `CURSOR`, as a note has it")
	s.jsonFlag(cmd, "json", "print the answer for programs, as JSON")
	cli.Rare(flags, "cursor", "ids", "json", "order", "source")
	cmd.AddCommand(s.showCommand(), s.statusCommand(), s.indexCommand())
	return s.ready(s.paged(cmd))
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
	cmd.Flags().IntVar(&before, "before", 0, "print `N` messages before it too")
	cmd.Flags().IntVar(&after, "after", 0, "print `N` messages behind it too")
	return s.ready(s.paged(cmd))
}

func (s *searching) search(ctx context.Context) error {
	call := s.family.Call
	if s.out.format.json {
		call = s.family.CallStructured
	}
	s.IDs = s.IDs || s.context > 0
	arguments, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the arguments of %s: %w", searchTool, err)
	}
	where := s.host.Context()
	where.Caller.Process = caller.Shell
	answer, err := call(ctx, contract.Call{Tool: searchTool, Arguments: arguments, Context: where})
	if err == nil && s.context > 0 {
		answer, err = s.withContext(ctx, answer)
	}
	if err != nil {
		return err
	}
	if s.out.format.json {
		s.out = nil
		err = cli.WriteJSON(s.host.Stdout, s.host.Terminal, []byte(answer+"\n"))
	} else {
		s.write(answer, s.Query)
	}
	if err != nil {
		return err
	}
	return foundAny(!strings.HasPrefix(answer, "No matching messages.") && !strings.HasPrefix(answer, `{"message":"No results`))
}

// What an answer of the tools consists of.
const (
	betweenBlocks = "\n\n---\n\n"
	noteBlock     = "[note] "
)

// withContext puts the messages around each message of an answer in its place. One that is
// around several is there once.
func (s *searching) withContext(ctx context.Context, answer string) (string, error) {
	source, err := s.open()
	if err != nil {
		return "", err
	}
	var blocks []string
	shown := map[string]bool{}
	for found := range strings.SplitSeq(answer, betweenBlocks) {
		around, id := found, idOf(found)
		if id != "" && !shown[id] {
			if around, err = s.around(ctx, source, id, s.context, s.context); err != nil {
				return "", err
			}
		}
		for block := range strings.SplitSeq(around, betweenBlocks) {
			at := idOf(block)
			if at != "" && !shown[at] || id == "" {
				blocks = append(blocks, block)
			}
			shown[at] = true
		}
	}
	return strings.Join(blocks, betweenBlocks), nil
}

// idOf returns the id, with the event after a colon, at the end of the first line of a
// block; empty where there is none.
func idOf(block string) string {
	head, _, _ := strings.Cut(block, "\n")
	i := strings.LastIndex(head, ") id: ")
	if i < 0 {
		return ""
	}
	return strings.Replace(head[i+len(") id: "):], " event: ", ":", 1)
}

// write prints an answer. On a terminal matches of query are in colour, and times are those
// of the local zone.
func (s *searching) write(answer, query string) {
	if s.host.Terminal {
		blocks := strings.Split(answer, betweenBlocks)
		for i, block := range blocks {
			blocks[i] = styled(block, strings.TrimFunc(query, conversations.IsSpace), s.host.Now().Location())
		}
		answer = strings.Join(blocks, "\n\n")
	}
	s.out.write(answer + "\n")
}

// styled is a block for a terminal, with times of a zone.
func styled(block, query string, zone *time.Location) string {
	head, body, ok := strings.Cut(block, "\n")
	if strings.HasPrefix(block, noteBlock) {
		return styleDim + block + styleReset
	}
	if !ok {
		return block
	}
	const layout = "[2006-01-02 15:04"
	if len(head) > len(layout) {
		if at, err := time.Parse(layout, head[:len(layout)]); err == nil {
			head = at.In(zone).Format(layout) + head[len(layout):]
		}
	}
	return styleID + coloured(head, excerpt.Occurrences(head, query), styleReset+styleID) + styleReset + "\n" +
		coloured(body, excerpt.Occurrences(body, query), styleReset)
}

// coloured has spans of a text in colour, with a style after each.
func coloured(s string, spans iter.Seq[excerpt.Span], after string) string {
	var b strings.Builder
	end := 0
	for span := range spans {
		if span.Start >= end {
			b.WriteString(s[end:span.Start] + styleMatch + s[span.Start:span.End] + after)
			end = span.End
		}
	}
	return b.String() + s[end:]
}
