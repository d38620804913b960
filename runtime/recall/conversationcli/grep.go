package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// grepping is the command line of grep.
type grepping struct {
	*commands
	conversations.SearchQuery
	text                             string
	sort, output                     string
	ignoreCase, caseSensitive, regex bool
	heading, noHeading, quiet        bool
	context, maxMatches, limit       int
	maxLine                          int // characters of a line; 0 for all
	scopes                           []string
}

func (c *commands) grepCommand() *cobra.Command {
	g := grepping{commands: c, sort: "activity", output: "hits"}
	cmd := &cobra.Command{
		Use:     "grep PATTERN…",
		Aliases: []string{"g", "rg"},
		Short:   "Search the text of conversations line by line",
		Long: `Searches the titles and the text of conversations line by line.

Several words are one pattern. It is plain text unless --regex is given, and
case is ignored unless it has an upper-case letter.

Flags that are repeatable also take several values between commas, except for
--label. --id finds archived conversations too.

Put -- before a pattern that starts with '-'.`,
		Example: `  convtools conversation grep retry policy
  convtools conversation grep --scope user,assistant --context 2 retry
  convtools conversation grep --output ids -r 'retr(y|ies)'`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              g.grep,
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&g.IDs, "id", "i", nil, "search only the conversation with this `ID`; repeatable")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "ids" {
			name = "id"
		}
		return pflag.NormalizedName(name)
	})
	sorts := []string{"activity", "created", "activated", "updated"}
	flags.BoolVar(&g.ignoreCase, "ignore-case", false, "ignore case")
	flags.BoolVar(&g.caseSensitive, "case-sensitive", false, "respect case")
	flags.BoolVarP(&g.regex, "regex", "r", false, "the pattern is a regular expression in RE2 syntax")
	flags.Func("context", "show `N` lines before and after each match", number(&g.context, 0, "use 0 for no lines around a match, or a positive number"))
	oneOf(cmd, &g.sort, "sort", "", "sort conversations by this `key`: "+strings.Join(sorts, ", "), sorts...)
	oneOf(cmd, &g.output, "output", "", "`what` to write: hits, ids, count, text", "hits", "ids", "count", "text")
	flags.BoolVar(&g.heading, "heading", false, "group hits below their conversation (default on a terminal)")
	flags.BoolVar(&g.noHeading, "no-heading", false, "write ID:TURN:SCOPE:KIND:TEXT lines (default when not on a terminal)")
	flags.FuncP("max-matches", "m", "show at most `N` matches of each conversation", number(&g.maxMatches, 0, noLimit))
	flags.Func("limit", "show matches of at most `N` conversations", number(&g.limit, 0, noLimit))
	addScopes(cmd, &g.scopes, "search only in this `scope`")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "write nothing, only set the exit code")
	addFilter(cmd, &g.Filter)
	complete(cmd, c.completeIDs, "id")
	return cmd
}

// check reads what to search for.
func (g *grepping) check(cmd *cobra.Command, text string) error {
	if cmd.Flags().Changed("id") && len(g.IDs) == 0 {
		return usageError("leave --id out to search all conversations", "--id is empty")
	}
	g.text = text
	g.ignoreCase = g.ignoreCase || !g.caseSensitive && !strings.ContainsFunc(text, unicode.IsUpper)
	if g.Scopes = scopesOf(g.scopes); g.Scopes == 0 {
		g.Scopes = transcript.ScopeAll
	}
	g.Sort = conversations.SortNamed(g.sort)
	if caller := g.host.ConversationID; caller != "" {
		g.Exclude = append(g.Exclude, caller) // as the tools do
	}
	f := g.out.format
	g.heading = g.heading || f.pretty && g.host.Terminal && !g.noHeading
	if f.pretty && !f.json && !g.noHeading && g.host.Terminal {
		g.maxLine = terminalMaxLine
	}
	err := excluded(cmd.Flags(), "ignore-case case-sensitive", "heading no-heading")
	var err2 error
	if g.Ascending, err2 = ascending(cmd.Flags()); err == nil {
		g.Pattern, err = excerpt.Compile(text, g.regex, g.ignoreCase)
	}
	var bad *excerpt.PatternError
	if errors.As(err, &bad) {
		hint := "give one line of text in UTF-8, such as: conversation grep retry"
		if bad.Err != nil {
			hint = "the syntax is RE2, without look-around and back-references; leave out --regex to search for the text as it is"
		}
		return usageError(hint, "%w", bad)
	}
	return cmp.Or(err, err2)
}

func (g *grepping) grep(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if err := g.check(cmd, strings.Join(args, " ")); err != nil {
		return err
	}
	ids, err := g.targets(ctx, g.IDs, "--id")
	if err != nil {
		return err
	}
	g.IDs = ids
	source, err := g.open()
	if err != nil {
		return err
	}
	calling := g.leaveOutCaller(ctx, source)
	found, err := source.Search(ctx, g.SearchQuery)
	g.warnOf(found.Aside.Problems, len(g.IDs) > 0)
	if err != nil {
		return err
	}
	if g.quiet {
		g.out = nil
		return foundAny(len(found.Conversations) > 0)
	}
	g.noteCaller(calling, found.Aside.Excluded)
	w := hitWriter{grepping: g, found: found}
	if err := w.writeAll(); err != nil {
		return err
	}
	if len(found.Conversations) == 0 && !g.out.format.json {
		g.explain(found)
	}
	return foundAny(len(found.Conversations) > 0)
}

// foundAny is the error of a search that found nothing.
func foundAny(any bool) error {
	if any {
		return nil
	}
	return cli.ErrFailed
}

// leaveOutCaller leaves out the conversation of the assistant that runs this command,
// where the environment tells, as the tools do. A conversation that is named is searched.
func (g *grepping) leaveOutCaller(ctx context.Context, source *conversations.Library) conversations.Caller {
	if g.host.ConversationID != "" || len(g.IDs) > 0 {
		return conversations.Caller{}
	}
	known := source.Caller(ctx, caller.Caller{Process: caller.Shell})
	for _, id := range known.IDs {
		g.Exclude = append(g.Exclude, string(id))
	}
	if len(known.IDs) > 0 {
		g.KinOf = []string{string(known.IDs[0])}
	}
	return known
}

// noteCaller says what was left out that the command line does not name.
func (g *grepping) noteCaller(known conversations.Caller, excluded []transcript.ID) {
	switch {
	case len(known.IDs) == 0 && known.Recorded:
		g.note("note: which conversation runs this command cannot be told, so none was left out")
	case len(known.IDs) > 0 && len(excluded) > 0:
		g.note("note: left out as the conversation that runs this command, and what belongs to it: %s; --id searches it all the same", joinBounded(excluded, ", "))
	}
}

// explain says what was searched in vain and what to try.
func (g *grepping) explain(found *conversations.Results) {
	kind, how := kindOf(&g.Filter), either(g.ignoreCase, "", ", respecting case")
	g.note("no matches for %q in %s (scope %s%s)", g.text, plural(found.Searched, kind+" conversation"), g.Scopes, how)
	try := filled(
		either(g.ignoreCase, "", "--ignore-case"),
		either(g.Scopes != transcript.ScopeAll, "--scope=all", ""),
		either(found.Aside.Hidden > 0, fmt.Sprintf("--hidden (%d hidden left out)", found.Aside.Hidden), ""),
		either(kind == "live", "--archived", ""),
		"fewer words",
	)
	g.note("hint: try %s", strings.Join(try, ", "))
}

// terminalMaxLine is how many characters of a line a terminal is shown.
const terminalMaxLine = 1000

// hitWriter writes what a search finds, in one of the forms of --output.
type hitWriter struct {
	*grepping
	found *conversations.Results

	event, line int // of the line written before below this conversation; 0 for none
}

// grepLine is a line that is written: one that matches, or one around that.
type grepLine struct {
	hit     *conversations.Hit
	number  int // in the text of the event, from 1
	isMatch bool
	excerpt.Window
	spans iter.Seq[excerpt.Span] // the matches in it
}

// writeAll writes what was found, as far as the options ask for it.
func (w *hitWriter) writeAll() error {
	for i, c := range w.found.Conversations {
		if w.limit > 0 && i == w.limit {
			break
		}
		room := c.Matches
		if w.maxMatches > 0 {
			room = min(room, w.maxMatches)
		}
		w.conversation(c, room, i == 0)
		if w.output != "hits" && w.output != "text" {
			continue
		}
		for _, hit := range w.found.Of(c) {
			var err error
			if room, err = w.writeEvent(hit, room); err != nil {
				return err
			}
			if room == 0 {
				break
			}
		}
	}
	return w.out.err
}

// conversation begins a conversation; n is how many lines follow.
func (w *hitWriter) conversation(m *conversations.Matched, n int, isFirst bool) {
	w.event = -2 // follows no event
	f := w.out.format
	switch {
	case w.output == "count":
		w.out.add(fmt.Sprintf("%s:%d\n", m.ID, n), object{"id", m.ID, "count", n})
	case w.output == "ids":
		w.out.add(string(m.ID)+"\n", m.ID)
	case w.output == "hits" && !f.json && w.heading:
		w.line = 0
		title := either(m.Title != "", "  ", "") + text.Cell(m.Title) + "\n"
		w.out.write(either(isFirst, "", "\n") + f.style(styleID, string(m.ID)) + title)
	}
}

// writeEvent writes at most room matching lines of an event, and those around them, and
// returns how much room is left.
func (w *hitWriter) writeEvent(h *conversations.Hit, room int) (left int, err error) {
	content, err := w.found.Read(h)
	if err != nil {
		return 0, err
	}
	left = room
	for l := range w.Pattern.Lines(content, w.context, room) {
		line := content[l.Start:l.End]
		out := grepLine{hit: h, number: l.Number, isMatch: l.IsMatch, spans: func(func(excerpt.Span) bool) {}}
		if l.IsMatch {
			left--
			out.spans = w.Pattern.Spans(line)
		}
		if out.Window = w.Pattern.Window(line, w.maxLine, l.IsMatch); out.Chars > 0 {
			out.spans = slices.Values(out.Matches)
		}
		w.hit(&out)
	}
	return left, w.out.err
}

// hit writes one line.
func (w *hitWriter) hit(h *grepLine) {
	switch f := w.out.format; {
	case f.json && w.output == "text":
		w.out.add("", string(h.Text))
		return
	case f.json:
		w.out.add("", hitObject(h))
		return
	}
	if w.context > 0 && w.line > 0 && (h.hit.Index != w.event || h.number != w.line+1) {
		w.out.write("--\n")
	}
	w.event, w.line = h.hit.Index, h.number
	if w.output == "hits" {
		w.out.write(w.place(h))
	}
	shown := w.out.format.style(styleDim, text.Visible(string(h.Text)))
	if h.isMatch && w.out.format.colour {
		shown = coloured(string(h.Text), h.spans, styleReset)
	} else if h.isMatch {
		shown = text.Visible(string(h.Text))
	}
	w.out.write(shown + "\n")
}

// place is written before the text of a hit.
func (w *hitWriter) place(h *grepLine) string {
	turn := either(h.hit.Turn > 0, fmt.Sprint(h.hit.Turn), "..")
	if w.heading {
		return w.out.format.style(styleDim, fmt.Sprintf("%5s %-11s ", turn, h.hit.Scope))
	}
	return fmt.Sprintf("%s:%s:%s:%s:", h.hit.Conversation.ID, turn, h.hit.Scope, either(h.isMatch, "m", "c"))
}

// hitObject is a line as JSON has it.
func hitObject(h *grepLine) object {
	matches := objects(slices.Collect(h.spans), func(s excerpt.Span) object {
		return object{"match", string(h.Text[s.Start:s.End]), "start", s.Start, "end", s.End}
	})
	c := h.hit.Conversation
	o := object{"id", c.ID, "turn", orNull(h.hit.Turn), "scope", h.hit.Scope.String(), "timestamp", h.hit.Time, "title", orNull(c.Title)}
	o = append(o, given("source", c.Source)...)
	o = append(o, "text", string(h.Text), "match", h.isMatch, "submatches", matches)
	var line, event any
	if h.hit.Index >= 0 {
		line, event = h.number, h.hit.Index
	}
	o = append(o, "line", line, "event", event)
	return append(append(o, counted("chars", h.Chars)...), counted("number", h.hit.Number)...)
}

// counted is a key with a number; nothing where that is 0.
func counted(key string, n int) object {
	if n == 0 {
		return nil
	}
	return object{key, n}
}
