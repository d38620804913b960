package conversationcli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// searching is the command line of search.
type searching struct {
	commands
	family               *toolset.Family
	query                string
	scopes               transcript.Scopes
	since, until         time.Time
	sources              []string
	oldest               bool
	limit, each, context uint // each is the number of messages of a conversation; 0 is all
}

// Search returns the command "search": messages of all projects, for people. It leaves out the
// recorded calls of the tools of family.
func Search(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		s := &searching{commands: commands{host: host, allProjects: true}, family: family}
		cmd := s.searchCommand()
		cmd.AddCommand(s.messageCommand(), s.indexCommand())
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
search show prints the message with such an id whole. For programs there is
convtools call --structured conversation_search.

Put -- before a text that begins with '-' or is the name of a command below.`,
		"search retry policy", "search --role user --since 2026-01-01 --until 2026-W05 tide", "search -- index"))
	cmd.Args, cmd.ValidArgsFunction = cobra.ArbitraryArgs, cobra.NoFileCompletions
	flags := cmd.Flags()
	roles := map[string]transcript.Role{"user": transcript.RoleUser, "assistant": transcript.RoleAssistant, "tool": transcript.RoleTool}
	anyOf(cmd, flags, "role", "", "only messages of this `ROLE`; repeatable", []string{"user", "assistant", "tool"}, func(role string) {
		s.scopes |= roles[role].Scopes()
	})
	s.addTime(cmd, "since", "only messages from this `DATE` on, inclusive", func(at iso8601.Span) { s.since = at.First })
	s.addTime(cmd, "until", "only messages up to this `DATE`, inclusive", func(at iso8601.Span) { s.until = at.Last })
	flags.UintVar(&s.limit, "limit", 0, "print at most `N` messages; 0 is a screenful, or 50 in a pipe")
	flags.UintVarP(&s.each, "max-matches", "m", 1, "print at most `N` messages of each conversation; 0 prints all")
	flags.UintVar(&s.context, "context", 1, "show `N` lines before and after each match")
	flags.BoolVar(&s.oldest, "oldest", false, "the oldest first")
	addSources(cmd, &s.sources)
	return s.command(cmd, func(ctx context.Context, args []string) error {
		if len(args) == 0 && flags.NFlag() == 0 {
			return cmd.Help()
		}
		s.query = strings.TrimSpace(strings.Join(args, " "))
		return s.search(ctx, hintsWithout(flags))
	})
}

// Defaults and limits of search.
const (
	pipedLimit   = 50  // messages in a pipe
	pipedChars   = 300 // of the text of a message in a pipe
	usualColumns = 80  // of a terminal of unknown size
	usualRows    = 24
	roleColumns  = 11 // of the role at the left of a block
)

// search prints the messages that match: on a terminal as blocks, otherwise as lines. If no message matches, it writes
// hints, those in try and more, and returns [cli.ErrFailed].
func (s *searching) search(ctx context.Context, try []string) error {
	q := conversations.SearchQuery{
		Since: s.since, Until: s.until, Scopes: s.scopes, Own: isToolOf(s.family), Pattern: excerpt.Literal(s.query, true),
	}
	q.Both, q.Sources = true, s.sources // Both selects live and archived conversations
	if len(q.Sources) == 0 {
		var err error
		if q.Sources, err = s.options().SearchSources(); err != nil {
			return err
		}
	}
	found, err := s.find(ctx, &q, "")
	if err != nil {
		return err
	}
	hits := s.ordered(found)
	shown := hits[:min(len(hits), s.maxMessages())]
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
	q.Scopes = 0 // words are counted in all scopes
	words, err := s.countWords(ctx, q, s.query)
	if err == nil {
		s.explainWords(words, append(try, either(s.query == "", "", "fewer words"), "recall --all-projects, which finds words apart and in other forms")...)
	}
	return cmp.Or(err, foundAny(false))
}

// maxMessages returns how many messages are printed at most.
func (s *searching) maxMessages() int {
	switch {
	case s.limit > 0:
		return int(s.limit)
	case !s.out.terminal:
		return pipedLimit
	}
	perBlock := 2*int(s.context) + 4             // an empty row, the heading, and two for the line that matches
	rows := cmp.Or(s.host.Height, usualRows) - 2 // two are for the note and the next prompt
	return max(1, rows/perBlock)
}

// ordered returns the hits in the time that the command line asks for, in the order of the output, and at most s.each of
// a conversation. It sets the time of a hit in a title to that of the conversation's last event.
func (s *searching) ordered(found *conversations.Results) (shown []*conversations.Hit) {
	var hits []*conversations.Hit
	for i := range found.Hits {
		h := &found.Hits[i]
		if isTitle := h.Index < 0; isTitle {
			h.Time = h.Conversation.LastEventAt
		}
		isEarly, isLate := h.Time.Before(s.since), !s.until.IsZero() && h.Time.After(s.until)
		if !isEarly && !isLate {
			hits = append(hits, h)
		}
	}
	order := either(s.oldest, 1, -1) // a factor: -1 reverses an order
	slices.SortFunc(hits, func(a, b *conversations.Hit) int {
		return cmp.Or(cmp.Compare(classOf(a), classOf(b)), order*a.Time.Compare(b.Time),
			cmp.Compare(a.Conversation.ID, b.Conversation.ID), order*cmp.Compare(a.Index, b.Index))
	})
	count := map[*conversations.Matched]uint{}
	for _, h := range hits {
		if count[h.Conversation]++; s.each == 0 || count[h.Conversation] <= s.each {
			shown = append(shown, h)
		}
	}
	return shown
}

// classOf returns the class by which a hit is ordered: 0 for what was said, 1 for titles, 2 for tools, 3 without a time.
func classOf(h *conversations.Hit) int {
	switch {
	case h.Time.IsZero():
		return 3
	case h.Index < 0:
		return 1
	case h.Kind.Role() == transcript.RoleTool:
		return 2
	}
	return 0
}

// show writes a message with its id, program, day and role: on a terminal as a heading above the lines around the first
// match, otherwise as one line with the first matching line. If pattern is nil, the first line matches.
func (s *searching) show(found *conversations.Results, h *conversations.Hit, pattern *excerpt.Pattern, isFirst bool) error {
	content, err := found.Read(h)
	if err != nil {
		return err
	}
	if pattern == nil {
		pattern, _ = excerpt.Compile("^", true, false) // a valid regular expression, which respects case
	}
	isTitle := h.Index < 0
	role := either(isTitle, "title", text.Cut(text.Cell(cmp.Or(h.Role, "unknown")), roleColumns-1))
	zone := either(s.out.terminal, s.host.Now().Location(), time.UTC)
	id := string(h.Conversation.ID)
	place := []string{
		either(h.Number > 0, fmt.Sprintf("%s:%d", id, h.Number), id), cmp.Or(conversations.SourceOf(h.Conversation.ID), jp.Name),
		either(h.Time.IsZero(), "?", h.Time.In(zone).Format(time.DateOnly)),
	}
	content = bytes.TrimSpace(content)
	if s.out.terminal {
		s.out.write(either(isFirst, "", "\n"))
		s.writeBlock(strings.Join(place, "  "), role, h.Conversation.Title, content, pattern)
		return nil
	}
	for line := range pattern.Lines(content, 0, 1) {
		part := pattern.Window(content[line.Start:line.End], pipedChars, true)
		s.out.write(strings.Join(append(place, role, text.Cut(text.Cell(string(part.Text)), pipedChars)), "\t") + "\n")
	}
	return nil
}

// writeBlock writes a message for a terminal: a heading with its place and the title of the conversation, then the lines
// around the first match. The first of these lines has the role before it.
func (s *searching) writeBlock(place, role, title string, content []byte, pattern *excerpt.Pattern) {
	columns := cmp.Or(s.out.width, usualColumns)
	title = text.Truncate(text.Cell(title), columns-text.Width(place)-2)
	s.out.write(s.out.style(styleID, place) + either(title == "", "", "  ") + title + "\n")
	columns = max(columns-roleColumns, 1)
	for line := range pattern.Lines(content, int(s.context), 1) {
		part := pattern.Window(content[line.Start:line.End], 2*columns, line.IsMatch)
		shown := text.Truncate(text.Cell(string(part.Text)), columns)
		if line.IsMatch { // it may take two rows
			shown = s.out.coloured(string(part.Text), part.Matches, "")
		}
		if strings.TrimSpace(shown) != "" {
			s.out.write(s.out.style(styleDim, fmt.Sprintf("%-*s", roleColumns, role)) + shown + "\n")
			role = ""
		}
	}
}

// noteMore writes a note if there is no hit, or if some hits are not printed. shown is the number of printed hits, all
// the number of hits without --limit, and matches the number of hits without --limit and --max-matches.
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

// Limits of passages, in bytes, and of titles, in characters.
const (
	recalledText  = 600
	recalledTitle = 70
)

// isToolOf returns a function that reports whether the recorded name of a tool is that of a tool of a family.
func isToolOf(family *toolset.Family) func(recorded string) bool {
	names := contract.Names(family.Declared())
	return func(recorded string) bool { return transcript.IsTool(recorded, names...) }
}

// Recall returns the command "recall". It leaves out the recorded calls of the tools of family.
func Recall(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		c := &commands{host: host}
		cmd := c.newCommand("recall WORDS…", "ask", "Ask past conversations a question",
			`Prints the passages of past conversations that answer a question best, the best
conversation first. Ask in your own words: a word finds its other forms, and
words may be far apart. Text between double quotes must occur as it is.

conversation print --event N ID shows an event whole.`,
			"recall why do we retry uploads", `recall 'flaky "shadow branch" test' --since 2026-01-01`, "ask --all-projects docker cache mount")
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		q := conversations.SearchQuery{Order: conversations.Relevance, MaxText: recalledText, MaxWide: recalledText}
		flags := cmd.Flags()
		c.addTime(cmd, "since", "only what was said from this `DATE` on, inclusive", func(s iso8601.Span) { q.Since = s.First })
		c.addTime(cmd, "until", "only what was said up to this `DATE`, inclusive", func(s iso8601.Span) { q.Until = s.Last })
		limit := flags.Uint("limit", 8, "print at most `N` passages, 1 or more")
		addScopes(cmd, &q.Scopes)
		addSources(cmd, &q.Sources)
		flags.BoolVar(&q.Hidden, "hidden", false, "hidden conversations too")
		c.addJSON(cmd, "json")
		return c.reading(cmd, func(ctx context.Context, args []string) error {
			q.Question, q.Limit, q.Own = strings.TrimSpace(strings.Join(args, " ")), int(*limit), isToolOf(family)
			switch {
			case q.Question == "" && flags.NFlag() == 0:
				return cmd.Help()
			case q.Question == "" || q.Limit == 0:
				return misused("say what you want to know, and ask for 1 passage or more", "there is no question, or nothing to answer it with")
			}
			return c.recall(ctx, q, hintsWithout(flags))
		})
	}
}

// recall prints the passages that answer a question best. If no passage does, it writes hints, those in try and more,
// and returns [cli.ErrFailed].
func (c *commands) recall(ctx context.Context, q conversations.SearchQuery, try []string) error {
	r, err := c.find(ctx, &q, "")
	if err != nil {
		return err
	}
	before := "" // what to print before a conversation: nothing before the first, then an empty line
	for _, found := range r.Conversations {
		hits := r.Of(found)
		if len(hits) == 0 {
			continue
		}
		passages := objects(hits, func(p **conversations.Hit) object {
			h := *p
			return object{
				"event", h.Number, "turn", orNull(h.Turn), "scope", h.Kind.Scope().String(),
				"timestamp", h.Time, "answer", orNull(h.Answer), "text", h.Text,
			}
		})
		c.out.add(before+c.passages(found, hits, r.Words), about(found.ID, found.Title, "source", orNull(found.Source), "passages", passages))
		before = "\n"
	}
	isFound := before != ""
	switch {
	case isFound || c.out.json:
		c.noteMissing(r.Words)
		if isFound {
			c.resumeNote(&r.Hits[0].Conversation.Conversation)
		}
	case len(r.Words) == 0:
		c.note("the question has no word to look for")
	default:
		quotes := either(strings.Contains(q.Question, `"`), "words without quotes", "")
		c.explainWords(r.Words, append(try, quotes, either(c.allProjects, "", "--all-projects"), "other words")...)
	}
	return foundAny(isFound)
}

// passages returns, for people, a line with a conversation's id, the day of its last passage and its title, then passages.
func (c *commands) passages(found *conversations.Matched, hits []*conversations.Hit, words []conversations.Word) string {
	shown := c.out.style(styleID, string(found.ID))
	if last := hits[len(hits)-1].Time; !last.IsZero() {
		shown += "  " + c.day(last)
	}
	shown += either(found.Title == "", "", "  ") + text.Cut(text.Line(found.Title), recalledTitle) + "\n"
	for _, p := range hits {
		shown += c.out.style(styleDim, fmt.Sprintf("  %d %s:", p.Number, p.Kind.Scope())) + "\n"
		passage := either(p.Before, "… ", "") + p.Text + either(p.After, " …", "")
		for line := range strings.SplitSeq(passage, "\n") {
			line = text.Line(line)
			shown += "    " + c.out.coloured(line, occurrences(line, words), "") + "\n"
		}
	}
	return shown
}

// occurrences returns the places in a line at which the terms of words occur, in order; the longest first at one place.
func occurrences(line string, words []conversations.Word) []excerpt.Span {
	var spans []excerpt.Span
	for _, w := range words {
		spans = slices.AppendSeq(spans, excerpt.Occurrences(line, w.Term))
	}
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	return spans
}
