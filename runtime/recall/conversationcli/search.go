package conversationcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// searchTool is the tool that answers search --json.
const searchTool = "conversation_search"

// Around returns the message with an id and those around it, as searchTool shows messages.
type Around func(ctx context.Context, source conversations.Source, id string, before, after int) (string, error)

// Everywhere opens the conversations that searchTool searches, and returns the kinds of their
// stores.
type Everywhere func() (*conversations.Library, []string, error)

// searching is the command line of search. The names in JSON are the tool's parameters.
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
}

// Search returns the command "search": messages of all projects, for people. With --json it
// prints the answer of the tool of family.
func Search(family *toolset.Family, around Around, everywhere Everywhere) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		s := &searching{commands: commands{host: host, allProjects: true}, family: family, everywhere: everywhere}
		cmd := s.searchCommand()
		cmd.AddCommand(s.messageCommand(around), s.statusCommand(), s.indexCommand())
		return cmd
	}
}

func (s *searching) searchCommand() *cobra.Command {
	cmd := paged(s.newCommand("search [QUERY…]", "", "Search messages of all projects and imported histories",
		`Searches the messages and titles of all projects, and of imported histories.
Several words are one text, which is taken literally, in any case.

A terminal shows a screenful of blocks, one of each conversation: the lines
around the match below its id, program and day. Speech comes before the output
of tools, and the newest first. A pipe gets a line for each message: id,
program, day, role and at most 300 characters of text, with tabs between them.
search show prints the message with such an id whole.

Put -- before a text that begins with '-' or is the name of a command below.`,
		"search retry policy", "search --role user --since 2026-01-01 --until 2026-W05 tide", "search -- status"))
	cmd.Args, cmd.ValidArgsFunction = cobra.ArbitraryArgs, cobra.NoFileCompletions
	flags := cmd.Flags()
	anyOf(cmd, flags, "role", "", "only messages of this `ROLE`; repeatable", []string{"user", "assistant", "tool"}, func(role string) { s.Roles = append(s.Roles, role) })
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
	oneOf(cmd, &s.Order, "order", "", "with --json: `what` comes first (default newest)", "newest", "relevance")
	addSources(cmd, &s.Sources)
	flags.StringVar(&s.Cursor, "cursor", "", "with --json: go on after `CURSOR`, the next_cursor of an answer")
	s.addJSON(cmd, "json")
	return s.command(cmd, func(ctx context.Context, args []string) error {
		s.Query = strings.TrimSpace(strings.Join(args, " "))
		switch {
		case len(args) == 0 && flags.NFlag() == 0:
			return cmd.Help()
		case s.out.json:
			return s.structured(ctx)
		case s.Cursor != "":
			return misused("a larger --limit shows more", "--cursor is for --json")
		case s.Order == "relevance":
			return misused("recall --all-projects prints the best answers first", "--order relevance is for --json")
		}
		return s.search(ctx, without(flags))
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

// Defaults and limits of search.
const (
	pipedLimit   = 50  // messages in a pipe
	pipedChars   = 300 // of the text of a message in a pipe
	usualColumns = 80  // of a terminal of unknown size
	usualRows    = 24
	roleColumns  = 11 // of the role at the left of a block
)

// search prints the messages that match: blocks on a terminal, or a line for each.
func (s *searching) search(ctx context.Context, try []string) error {
	library, sources, err := s.everywhere()
	if err != nil {
		return err
	}
	defer library.Close()
	q := conversations.SearchQuery{Since: s.since, Until: s.until, Own: isOwn(s.family), Pattern: excerpt.Literal(s.Query, true)}
	q.Both, q.Sources = true, s.Sources
	if len(q.Sources) == 0 {
		q.Sources = sources
	}
	for r := transcript.RoleUser; r <= transcript.RoleTool; r++ {
		if slices.Contains(s.Roles, r.String()) {
			q.Roles |= transcript.RolesOf(r)
		}
	}
	calling := s.leaveOutCaller(ctx, library, &q)
	found, err := library.Search(ctx, q)
	s.warnOf(found.Aside.Problems)
	if err != nil {
		return err
	}
	s.noteCaller(calling, found.Aside.Excluded, "")
	hits := s.ordered(found)
	shown := hits[:min(len(hits), s.most())]
	for i, hit := range shown {
		if err := s.show(found, hit, q.Pattern, i == 0); err != nil {
			return err
		}
	}
	if err := s.out.flush(); err != nil { // notes come after the messages
		return err
	}
	s.noteMore(len(shown), len(hits), len(found.Hits))
	if len(shown) > 0 {
		return nil
	}
	q.Since, q.Until, q.Roles, q.Order, q.Limit = nil, nil, 0, conversations.Newest, 1
	words, err := countWords(ctx, library, q, s.Query, true)
	if err == nil {
		s.explainWords(words, append(try, either(s.Query == "", "", "fewer words"), "recall --all-projects, which finds words apart and in other forms")...)
	}
	return cmp.Or(err, foundAny(false))
}

// most returns how many messages are printed.
func (s *searching) most() int {
	switch {
	case s.Limit > 0:
		return int(s.Limit)
	case !s.out.terminal:
		return pipedLimit
	}
	perBlock := 2*int(s.context) + 4 // a line that matches may take two rows
	return max(1, (cmp.Or(s.host.Height, usualRows)-2)/perBlock)
}

// ordered returns the hits in order, at most s.each of a conversation. The time of a title is
// that of the last event.
func (s *searching) ordered(found *conversations.Results) (shown []*conversations.Hit) {
	var hits []*conversations.Hit
	for i := range found.Hits {
		h := &found.Hits[i]
		if h.Index < 0 {
			h.Time = h.Conversation.LastEventAt
		}
		isEarly, isLate := s.since != nil && h.Time.Before(*s.since), s.until != nil && h.Time.After(*s.until)
		if !isEarly && !isLate {
			hits = append(hits, h)
		}
	}
	order := -1
	if s.oldest {
		order = 1
	}
	slices.SortFunc(hits, func(a, b *conversations.Hit) int {
		return cmp.Or(cmp.Compare(placeOf(a), placeOf(b)), order*a.Time.Compare(b.Time),
			cmp.Compare(a.Conversation.ID, b.Conversation.ID), order*cmp.Compare(a.Index, b.Index))
	})
	taken := map[*conversations.Matched]uint{}
	for _, h := range hits {
		if taken[h.Conversation]++; s.each == 0 || taken[h.Conversation] <= s.each {
			shown = append(shown, h)
		}
	}
	return shown
}

// placeOf returns the place of a kind of hit among all: speech, titles, tools, and those without
// a time.
func placeOf(h *conversations.Hit) int {
	switch {
	case h.Time.IsZero():
		return 3
	case h.Index < 0:
		return 1
	case transcript.RolesOf(transcript.RoleTool).Has(h.Kind.Role()):
		return 2
	}
	return 0
}

// show writes the first match in a message: the lines around it below id, program and day on a
// terminal, otherwise all on one line.
func (s *searching) show(found *conversations.Results, h *conversations.Hit, pattern *excerpt.Pattern, isFirst bool) error {
	said, err := found.Read(h)
	if err != nil {
		return err
	}
	if pattern == nil {
		pattern, _ = excerpt.Compile("^", true, false) // it is valid
	}
	zone, role := time.UTC, either(h.Index < 0, "title", text.Cut(text.Cell(cmp.Or(h.Role, "unknown")), roleColumns-1))
	if s.out.terminal {
		zone = s.host.Now().Location()
	}
	id := string(h.Conversation.ID)
	place := []string{
		either(h.Number > 0, fmt.Sprintf("%s:%d", id, h.Number), id), cmp.Or(conversations.SourceOf(h.Conversation.ID), jp.Name),
		either(h.Time.IsZero(), "?", h.Time.In(zone).Format(time.DateOnly)),
	}
	said = bytes.TrimSpace(said)
	if s.out.terminal {
		s.out.write(either(isFirst, "", "\n"))
		s.block(strings.Join(place, "  "), role, h.Conversation.Title, said, pattern)
		return nil
	}
	for line := range pattern.Lines(said, 0, 1) {
		part := pattern.Window(said[line.Start:line.End], pipedChars, true)
		s.out.write(strings.Join(append(place, role, text.Cut(text.Cell(string(part.Text)), pipedChars)), "\t") + "\n")
	}
	return nil
}

// block writes the lines around the first match in a message, below its place and the title.
func (s *searching) block(place, role, title string, said []byte, pattern *excerpt.Pattern) {
	columns := cmp.Or(s.out.width, usualColumns)
	title = text.Truncate(text.Cell(title), columns-text.Width(place)-2)
	s.out.write(s.out.style(styleID, place) + either(title == "", "", "  ") + title + "\n")
	columns = max(columns-roleColumns, 1)
	for line := range pattern.Lines(said, int(s.context), 1) {
		part := pattern.Window(said[line.Start:line.End], 2*columns, line.IsMatch)
		shown := text.Truncate(text.Cell(string(part.Text)), columns)
		if line.IsMatch {
			shown = s.out.coloured(string(part.Text), spansOf(pattern, part), "")
		}
		if strings.TrimSpace(shown) != "" {
			s.out.write(s.out.style(styleDim, fmt.Sprintf("%-*s", roleColumns, role)) + shown + "\n")
			role = ""
		}
	}
}

// noteMore notes how many of all hits are shown; there are more matches in their conversations.
func (s *searching) noteMore(shown, all, matches int) {
	switch {
	case all == 0:
		s.note("No matching messages.")
	case shown < all:
		s.note("%d of %d shown; --limit %[2]d shows all%s", shown, all, either(s.each == 1 && matches > all, ", --max-matches 0 all matches of each conversation", ""))
	case matches > all:
		s.note("%s more in these conversations; --max-matches 0 shows all", text.Count(matches-all, "match", "matches"))
	}
}

func (s *searching) messageCommand(around Around) *cobra.Command {
	cmd := paged(s.newCommand("show ID EVENT", "", "Print one message, whole",
		"Prints the message with the id and the event that search prints, whole.", "search show jp-c17737387251 16 --before 2"))
	cmd.Args = cobra.RangeArgs(1, 2) // ID:EVENT too
	before := cmd.Flags().Uint("before", 0, "print `N` messages before it too")
	after := cmd.Flags().Uint("after", 0, "print `N` messages after it too")
	return s.command(cmd, func(ctx context.Context, args []string) error {
		library, err := s.open()
		if err != nil {
			return err
		}
		id, event, hasEvent := strings.Cut(strings.Join(args, ":"), ":")
		if hasEvent {
			ids, err := s.whole(ctx, []string{id})
			if err != nil {
				return err
			}
			id = ids[0] + ":" + event
		}
		answer, err := around(ctx, library, id, int(*before), int(*after))
		if err == nil {
			s.out.write(answer + "\n")
		}
		return err
	})
}
