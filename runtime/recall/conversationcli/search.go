package conversationcli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// searchOptions is the command line of search. The names in JSON are those of the tool's
// parameters.
type searchOptions struct {
	Query   string   `json:"query,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	Since   string   `json:"start_date,omitempty"`
	Until   string   `json:"end_date,omitempty"`
	Limit   int      `json:"limit"`
	Cursor  string   `json:"cursor,omitempty"`
	Order   string   `json:"order,omitempty"`
	IDs     bool     `json:"ids"`
	Sources []string `json:"sources,omitempty"`

	json    bool
	context int
}

// Search returns the command "search": what the tools of family find, for people. It prints
// what the tools answer, to the letter; on a terminal with times of the local zone and with
// matches in colour.
func Search(family *toolset.Family, around Around) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		s := &searchCommands{commands: commands{host: host, allProjects: true}, family: family, around: around}
		return s.command()
	}
}

// searchCommands is the command "search" being executed.
type searchCommands struct {
	commands
	family *toolset.Family
	around Around
}

func (s *searchCommands) command() *cobra.Command {
	var o searchOptions
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
			o.Query = strings.Join(args, " ")
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			if o.context < 0 {
				return usageError("use 0 or more", "--context cannot be %d", o.context)
			}
			if err := excluded(cmd.Flags(), [2]string{"context", "json"}); err != nil {
				return err
			}
			return s.search(cmd.Context(), o)
		},
	}
	cmd.SetFlagErrorFunc(flagError)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.Roles, "role", nil, "only messages of this `ROLE`: user, assistant, tool; repeatable")
	flags.StringVar(&o.Since, "since", "", "only messages from this `DATE` on, ISO 8601, inclusive")
	flags.StringVar(&o.Until, "until", "", "only messages up to this `DATE`, ISO 8601, inclusive")
	flags.IntVar(&o.Limit, "limit", 50, "print at most `N` messages, up to 200")
	flags.IntVar(&o.context, "context", 0, "print `N` messages before and after each one too, whole")
	flags.BoolVar(&o.IDs, "ids", false, "print id and event of messages, for search show")
	flags.StringVar(&o.Order, "order", "", "`what` comes first: newest (default) or relevance")
	flags.StringSliceVar(&o.Sources, "source", nil, "only messages that this `PROGRAM` recorded; repeatable")
	flags.StringVar(&o.Cursor, "cursor", "", "go on behind `CURSOR`, as a note has it")
	flags.BoolVar(&o.json, "json", false, "print the answer for programs, as JSON")
	cli.Rare(flags, "cursor", "ids", "json", "order", "source")
	s.completeFlags(cmd, map[string][]string{"role": {"user", "assistant", "tool"}, "order": {"newest", "relevance"}, "source": conversations.Sources()})
	s.page(cmd)
	cmd.AddCommand(s.showCommand(), s.statusCommand(), s.indexCommand())
	return cmd
}

func (s *searchCommands) showCommand() *cobra.Command {
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
			if err != nil {
				return err
			}
			return s.write(answer, "")
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&before, "before", 0, "print `N` messages before it too")
	flags.IntVar(&after, "after", 0, "print `N` messages behind it too")
	s.page(cmd)
	return cmd
}

// call calls the tool with the arguments that options are.
func (s *searchCommands) call(ctx context.Context, run func(context.Context, contract.Call) (string, error), options searchOptions) (string, error) {
	arguments, err := json.Marshal(options)
	if err != nil {
		return "", fmt.Errorf("writing the arguments of %s: %w", searchTool, err)
	}
	where := s.host.Context()
	where.Caller.Process = caller.Shell
	return run(ctx, contract.Call{Tool: searchTool, Arguments: arguments, Context: where})
}

func (s *searchCommands) search(ctx context.Context, o searchOptions) error {
	if o.json {
		answer, err := s.call(ctx, s.family.CallStructured, o)
		if err != nil {
			return err
		}
		if err := cli.WriteJSON(s.host.Stdout, s.host.Terminal, []byte(answer+"\n")); err != nil {
			return err
		}
		return found(!strings.HasPrefix(answer, `{"message":"No results`))
	}
	o.IDs = o.IDs || o.context > 0
	answer, err := s.call(ctx, s.family.Call, o)
	if err != nil {
		return err
	}
	if o.context > 0 {
		if answer, err = s.withContext(ctx, answer, o.context); err != nil {
			return err
		}
	}
	if err := s.write(answer, o.Query); err != nil {
		return err
	}
	return found(!strings.HasPrefix(answer, noMessages))
}

// found is the error of a search that found nothing.
func found(any bool) error {
	if any {
		return nil
	}
	return cli.ErrFailed
}

// What an answer of the tools consists of.
const (
	betweenBlocks = "\n\n---\n\n"
	noMessages    = "No matching messages."
	noteBlock     = "[note] "
)

// withContext puts the messages around each message of an answer in its place. One that is
// around several stands there once.
func (s *searchCommands) withContext(ctx context.Context, answer string, n int) (string, error) {
	source, err := s.open()
	if err != nil {
		return "", err
	}
	var blocks, notes []string
	shown := map[string]bool{}
	for block := range strings.SplitSeq(answer, betweenBlocks) {
		if notesOf, isNote := strings.CutPrefix(block, noteBlock); isNote {
			notes = append(notes, notesOf)
			continue
		}
		id, ok := idOf(block)
		if !ok || shown[id] {
			if !ok {
				blocks = append(blocks, block)
			}
			continue
		}
		around, err := s.around(ctx, source, id, n, n)
		if err != nil {
			return "", err
		}
		for block := range strings.SplitSeq(around, betweenBlocks) {
			if id, ok := idOf(block); ok && !shown[id] {
				shown[id] = true
				blocks = append(blocks, block)
			}
		}
	}
	if len(notes) > 0 {
		blocks = append(blocks, noteBlock+strings.Join(notes, "\n"))
	}
	return strings.Join(blocks, betweenBlocks), nil
}

// idOf returns the id, with the event behind a colon, at the end of the first line of a block.
func idOf(block string) (string, bool) {
	head, _, _ := strings.Cut(block, "\n")
	i := strings.LastIndex(head, ") id: ")
	if i < 0 {
		return "", false
	}
	return strings.Replace(head[i+len(") id: "):], " event: ", ":", 1), true
}

// write prints an answer. On a terminal matches of query are in colour, and times are those
// of the local zone.
func (s *searchCommands) write(answer, query string) error {
	if s.host.Terminal {
		blocks := strings.Split(answer, betweenBlocks)
		for i, block := range blocks {
			blocks[i] = styled(block, query, s.host.Now().Location())
		}
		answer = strings.Join(blocks, "\n\n")
	}
	_, err := io.WriteString(s.host.Stdout, answer+"\n")
	return err
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
	const layout = "2006-01-02 15:04"
	if len(head) > len(layout)+2 {
		if at, err := time.Parse(layout, head[1:1+len(layout)]); err == nil {
			head = "[" + at.In(zone).Format(layout) + head[1+len(layout):]
		}
	}
	return styleID + highlighted(head, query, styleID) + styleReset + "\n" + highlighted(body, query, "")
}

// highlighted has the matches of query in a text in colour, and style behind each.
func highlighted(s, query, style string) string {
	var b strings.Builder
	end := 0
	for span := range excerpt.Occurrences(s, strings.TrimFunc(query, conversations.IsSpace)) {
		b.WriteString(s[end:span.Start] + styleMatch + s[span.Start:span.End] + styleReset + style)
		end = span.End
	}
	return b.String() + s[end:]
}
