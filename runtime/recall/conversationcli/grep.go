package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// grepping is the command line of grep, and the state of its output.
type grepping struct {
	*commands
	conversations.SearchQuery
	sort, output                     string
	ignoreCase, caseSensitive, regex bool
	heading, noHeading               bool
	context, maxMatches, limit       uint

	maxLine int // characters of a line; 0 for all
	// hit and line are those of the line that was written last; hit is nil if there is none below the last heading.
	hit  *conversations.Hit
	line int
}

func (c *commands) grepCommand() *cobra.Command {
	g := grepping{commands: c, sort: "activity", output: "hits"}
	cmd := c.newCommand("grep PATTERN…", "g rg", "Search the text of conversations line by line",
		`Searches the titles and the text of conversations line by line.

Several words are one pattern. It is plain text unless --regex is given, and
case is ignored unless it has an upper-case letter. Put -- before a pattern that
starts with '-'. --id finds archived conversations too.

Flags that are repeatable also take several values between commas, except for
--label.`,
		"conversation grep retry policy", "conversation grep --scope user,assistant --context 2 retry",
		"conversation grep --output ids -r 'retr(y|ies)'")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	flags := cmd.Flags()
	flags.StringSliceVarP(&g.IDs, "id", "i", nil, "search only the conversation with this `ID`; repeatable")
	complete(cmd, "id", c.completeIDs)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(either(name == "ids", "id", name))
	})
	flags.BoolVar(&g.ignoreCase, "ignore-case", false, "ignore case")
	flags.BoolVar(&g.caseSensitive, "case-sensitive", false, "respect case")
	flags.BoolVarP(&g.regex, "regex", "r", false, "the pattern is a regular expression in RE2 syntax")
	flags.UintVar(&g.context, "context", 0, "show `N` lines before and after each match")
	oneOf(cmd, &g.sort, "sort", "", "sort conversations by this `key`", "activity", "created", "activated", "updated")
	oneOf(cmd, &g.output, "output", "", "`what` to write", "hits", "ids", "count", "text")
	flags.BoolVar(&g.heading, "heading", false, "group hits below their conversation (default on a terminal)")
	flags.BoolVar(&g.noHeading, "no-heading", false, "write ID:TURN:SCOPE:KIND:TEXT lines (default when not on a terminal)")
	flags.UintVarP(&g.maxMatches, "max-matches", "m", 0, "show at most `N` matches of each conversation; 0 shows all")
	flags.UintVar(&g.limit, "limit", 0, "show matches of at most `N` conversations; 0 shows all")
	addScopes(cmd, &g.Scopes)
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "write nothing, only set the exit code")
	addFilter(cmd, &g.Filter, &g.Ascending)
	return c.reading(cmd, func(ctx context.Context, args []string) error {
		if flags.Changed("id") && len(g.IDs) == 0 {
			return misused("leave --id out to search all conversations", "--id is empty")
		}
		g.Sort = conversations.SortNamed(g.sort)
		return g.run(ctx, strings.Join(args, " "))
	}, "ascending descending", "ignore-case case-sensitive", "heading no-heading")
}

// terminalLine is how many characters of a line a terminal shows.
const terminalLine = 1000

// run searches for a pattern, and writes the matches. It returns [cli.ErrFailed] if there is no match.
func (g *grepping) run(ctx context.Context, pattern string) (err error) {
	g.ignoreCase = g.ignoreCase || !g.caseSensitive && !strings.ContainsFunc(pattern, unicode.IsUpper)
	g.Scopes = cmp.Or(g.Scopes, transcript.ScopeAll)
	if g.out.isTable() && !g.noHeading {
		g.heading, g.maxLine = true, terminalLine
	}
	if g.Pattern, err = excerpt.Compile(pattern, g.regex, g.ignoreCase); err != nil {
		return misused(either(g.regex, "the syntax is RE2, without look-around and back-references", "give one line of text in UTF-8, such as: conversation grep retry"), "%w", err)
	}
	if g.IDs, err = g.ids(ctx, g.IDs); err != nil {
		return err
	}
	found, err := g.find(ctx, &g.SearchQuery, "; --id searches it all the same")
	if err != nil {
		return err
	}
	isFound := len(found.Conversations) > 0
	if g.quiet {
		g.out.elements = -1 // in JSON not even an empty array is written
		return foundAny(isFound)
	}
	for i, m := range found.Conversations {
		if isLimited := g.limit > 0; isLimited && i == int(g.limit) {
			break
		}
		if err := g.writeConversation(found, m, i == 0); err != nil {
			return err
		}
	}
	if !isFound && !g.out.json {
		if err := g.explain(ctx, found, pattern); err != nil {
			return err
		}
	}
	return foundAny(isFound)
}

// find returns the results of a query without the conversation that --conversation-id names. Without that flag, and without
// q.IDs, it leaves out the conversation of the assistant that runs this command, with all ancestors, sub-agents and forks.
// A note names these conversations, followed by advice; or it says that the conversation of the assistant is not known.
func (c *commands) find(ctx context.Context, q *conversations.SearchQuery, advice string) (*conversations.Results, error) {
	library, err := c.open()
	if err != nil {
		return nil, err
	}
	var calling conversations.Caller
	switch {
	case c.host.ConversationID != "":
		q.Exclude = []string{c.host.ConversationID}
	case len(q.IDs) == 0:
		calling = library.Caller(ctx, caller.Caller{Process: caller.Shell})
		for _, id := range calling.IDs {
			q.Exclude = append(q.Exclude, string(id))
		}
		q.Kin = true
	}
	found, err := library.Search(ctx, *q)
	c.warnOf(found.Problems)
	switch {
	case err != nil: // there is nothing to note
	case len(calling.IDs) == 0 && calling.Recorded: // some recorded conversation runs this command
		c.note("note: which conversation runs this command cannot be told, so none was left out")
	case len(calling.IDs) > 0 && len(found.Excluded) > 0:
		c.note("note: left out as the conversation that runs this command, and what belongs to it: %s%s", joined(found.Excluded), advice)
	}
	return found, err
}

// explain notes that a pattern has no match, what was searched, and what to try. A hint that is "" is left out.
func (g *grepping) explain(ctx context.Context, found *conversations.Results, pattern string) error {
	kind, hidden := kindOf(&g.Filter), found.Hidden
	g.note("no matches for %q in %s (scope %s%s)", pattern, plural(found.Searched, kind+" conversation"), g.Scopes, either(g.ignoreCase, "", ", respecting case"))
	words, err := g.countWords(ctx, g.SearchQuery, either(g.regex, "", pattern))
	if err != nil {
		return err
	}
	looksLikeRegex := strings.ContainsAny(pattern, `|*\^$`)
	g.explainWords(words,
		either(g.ignoreCase, "", "--ignore-case"),
		either(g.Scopes == transcript.ScopeAll, "", "--scope=all"),
		either(hidden == 0, "", fmt.Sprintf("--hidden (%d hidden left out)", hidden)),
		either(kind == "live", "--archived", ""),
		either(looksLikeRegex && !g.regex, "--regex", ""),
		"fewer words", "recall, which finds words apart and in other forms")
	return nil
}

// writeConversation writes a conversation as --output says: the id, the number of matches, or the matching lines with
// lines of context. It counts or writes only the first g.maxMatches matches, or all matches if g.maxMatches is 0.
func (g *grepping) writeConversation(found *conversations.Results, m *conversations.Matched, isFirst bool) error {
	left := m.Matches // matches that are still to be written
	if g.maxMatches > 0 {
		left = min(left, int(g.maxMatches))
	}
	switch {
	case g.output == "count":
		g.out.add(fmt.Sprintf("%s:%d\n", m.ID, left), object{"id", m.ID, "count", left})
		return nil
	case g.output == "ids":
		g.out.add(string(m.ID)+"\n", m.ID)
		return nil
	case g.output == "hits" && !g.out.json && g.heading:
		g.hit = nil // so that writeLine writes no "--" between the heading and the first line
		g.out.write(either(isFirst, "", "\n") + g.out.style(styleID, string(m.ID)) + either(m.Title == "", "", "  ") + text.Cell(m.Title) + "\n")
	}
	for _, hit := range found.Of(m) {
		if left == 0 || g.out.err != nil { // all are written, or the output is closed
			break
		}
		content, err := found.Read(hit)
		if err != nil {
			return err
		}
		for line := range g.Pattern.Lines(content, int(g.context), left) {
			if line.IsMatch {
				left--
			}
			g.writeLine(hit, line, content[line.Start:line.End])
		}
	}
	return nil
}

// writeLine writes a line of an event, as text with its matches in colour, or as JSON. If lines of context are written
// too, it writes "--" before a line that does not follow the line that was written last.
func (g *grepping) writeLine(hit *conversations.Hit, line excerpt.Line, content []byte) {
	part := g.Pattern.Window(content, g.maxLine, line.IsMatch)
	shown := string(part.Text)
	switch {
	case g.out.json && g.output == "text":
		g.out.add("", shown)
		return
	case g.out.json:
		g.out.add("", lineObject(hit, line, shown, part))
		return
	}
	if follows := g.hit == hit && g.line+1 == line.Number; g.context > 0 && g.hit != nil && !follows {
		g.out.write("--\n")
	}
	g.hit, g.line = hit, line.Number
	turn := either(hit.Turn > 0, fmt.Sprint(hit.Turn), "..")
	switch {
	case g.output == "text": // nothing comes before the text
	case g.heading:
		g.out.write(g.out.style(styleDim, fmt.Sprintf("%5s %-11s ", turn, hit.Scope)))
	default:
		g.out.write(fmt.Sprintf("%s:%s:%s:%s:", hit.Conversation.ID, turn, hit.Scope, either(line.IsMatch, "m", "c")))
	}
	g.out.write(g.out.coloured(shown, part.Matches, either(line.IsMatch, "", styleDim)) + "\n")
}

// lineObject returns a line as JSON has it.
func lineObject(hit *conversations.Hit, line excerpt.Line, shown string, part excerpt.Window) object {
	matches := objects(part.Matches, func(s *excerpt.Span) object {
		return object{"match", shown[s.Start:s.End], "start", s.Start, "end", s.End}
	})
	c := hit.Conversation
	o := object{"id", c.ID, "turn", orNull(hit.Turn), "scope", hit.Scope.String(), "timestamp", hit.Time, "title", orNull(c.Title)}
	o = append(o.with("source", c.Source), "text", shown, "match", line.IsMatch, "submatches", matches)
	if hit.Index < 0 { // a title
		return append(o, "line", nil, "event", nil).with("chars", part.Chars)
	}
	return append(o, "line", line.Number, "event", hit.Index).with("chars", part.Chars).with("number", hit.Number)
}

// countWords returns the words of a text, and for each word how many events have a form of the word. It ignores the
// times in q.
func (c *commands) countWords(ctx context.Context, q conversations.SearchQuery, text string) ([]conversations.Word, error) {
	q.Question = strings.ReplaceAll(text, `"`, " ") // no phrases
	q.Order, q.Limit, q.Pattern = conversations.Relevance, 1, nil
	q.Since, q.Until = time.Time{}, time.Time{}
	found, err := c.library.Search(ctx, q)
	return found.Words, err
}

// explainWords is for a query that found nothing. It notes in how many events each of its words occurs, and what to try.
func (c *commands) explainWords(words []conversations.Word, try ...string) {
	var there []string
	for _, w := range words {
		if w.Events > 0 {
			there = append(there, text.Quote(w.Word)+" in "+plural(w.Events, "event"))
		}
	}
	if len(there) > 0 {
		c.note("occurs: %s", strings.Join(there, ", "))
	}
	c.noteMissing(words)
	c.note("hint: try %s", strings.Join(filled(try...), ", "))
}

// noteMissing notes the words of a query that no event has.
func (c *commands) noteMissing(words []conversations.Word) {
	var missing []string
	for _, w := range words {
		if w.Events == 0 {
			missing = append(missing, text.Quote(w.Word))
		}
	}
	if len(missing) > 0 {
		c.note("occurs nowhere: %s", strings.Join(missing, ", "))
	}
}

// hintsWithout returns what to try after a search without results: "without --x" for each given flag --x that narrows it.
func hintsWithout(flags *pflag.FlagSet) (try []string) {
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"label", "role", "scope", "since", "source", "until"}, f.Name) {
			try = append(try, "without --"+f.Name)
		}
	})
	return try
}
