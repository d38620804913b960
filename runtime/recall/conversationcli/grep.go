package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// grepping is the command line of grep.
type grepping struct {
	*commands
	conversations.SearchQuery
	text                                string
	sort, output                        string
	ignoreCase, caseSensitive, regex    bool
	heading, noHeading, quiet           bool
	context, maxMatches, limit, maxHits int
	maxLine                             int
	scopes, tools, excludeTools         []string
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
	flags.Func("max-hits", "show at most `N` matches of all conversations together", number(&g.maxHits, 0, noLimit))
	flags.Func("max-line", "show lines of more than `N` characters as a part of N characters around the first match", func(text string) error {
		if err := number(&g.maxLine, 0, noLimit)(text); err != nil || g.maxLine == 0 || g.maxLine >= excerpt.MinWindow {
			return err
		}
		return &valueError{"cannot be " + text, fmt.Sprintf("use at least %d, or 0 for no limit", excerpt.MinWindow)}
	})
	anyOf(cmd, &g.scopes, "scope", "s", "search only in this `scope`: "+strings.Join(scopeNames(), ", ")+"; repeatable", scopeNames()...)
	flags.StringSliceVar(&g.tools, "tool", nil, "search calls and results of this tool by `NAME`, whatever --scope has; repeatable")
	flags.StringSliceVar(&g.excludeTools, "exclude-tool", nil, "leave out calls and results of this tool by `NAME`; repeatable")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "write nothing, only set the exit code")
	c.addFilterFlags(cmd, &g.Filter, &g.Ascending)
	c.addSummaryFlag(cmd)
	complete(cmd, c.completeIDs, "id", "exclude-id")
	cli.Rare(flags, "archived", "ascending", "case-sensitive", "descending", "exclude-id", "exclude-tool", "heading", "hidden", "label",
		"max-hits", "max-line", "max-matches", "no-heading", "quiet", "sort", "source", "tool")
	return c.paged(cmd)
}

// check reads what to search for.
func (g *grepping) check(cmd *cobra.Command, text string) error {
	switch {
	case g.quiet && g.summary:
		return usageError("give only one of them", "--quiet writes nothing, also no --summary")
	case cmd.Flags().Changed("id") && len(g.IDs) == 0:
		return usageError("leave --id out to search all conversations", "--id is empty")
	}
	g.text = text
	g.ignoreCase = g.ignoreCase || !g.caseSensitive && !strings.ContainsFunc(text, unicode.IsUpper)
	if g.Scopes = scopesOf(g.scopes); g.Scopes == 0 && len(g.tools) == 0 {
		g.Scopes = transcript.ScopeAll
	}
	if named := append(g.tools, g.excludeTools...); len(named) > 0 {
		g.Own = func(recorded string) bool { return transcript.IsTool(recorded, named...) }
	}
	g.OwnToo, g.Sort = len(g.tools) > 0, conversations.SortNamed(g.sort)
	if caller := g.host.ConversationID; caller != "" {
		g.Exclude = append(g.Exclude, caller) // as the tools do
	}
	f := g.out.format
	g.heading = g.heading || f.pretty && g.host.Terminal && !g.noHeading
	if f.pretty && !f.json && !g.noHeading && g.host.Terminal && !cmd.Flags().Changed("max-line") {
		g.maxLine = terminalMaxLine
	}
	err := excluded(cmd.Flags(), "ignore-case case-sensitive", "heading no-heading", "tool exclude-tool", "ascending descending")
	if err == nil {
		g.Pattern, err = excerpt.Compile(text, g.regex, g.ignoreCase)
	}
	return cmp.Or(badPattern(err, text), err)
}

// badPattern words why a pattern cannot be searched for; nil for any other error.
func badPattern(err error, text string) error {
	var e *excerpt.PatternError
	if !errors.As(err, &e) {
		return nil
	}
	switch e.Reason {
	case excerpt.PatternHasNUL:
		return usageError("recorded text is searched line by line as text", "the pattern contains a NUL byte")
	case excerpt.PatternEmpty:
		return usageError("give some text to look for, such as: conversation grep retry", "the pattern is empty")
	case excerpt.PatternHasLines:
		return usageError("search for one of the lines", "the pattern has more than one line, and the search goes line by line")
	case excerpt.PatternNotUTF8:
		return usageError("give the pattern in UTF-8", "the pattern is not valid UTF-8: %q", text)
	case excerpt.PatternTooLarge:
		return usageError("use a shorter one", "invalid pattern: %w", e.Err)
	}
	return usageError("the syntax is RE2, without look-around and back-references; leave out --regex to search for the text as it is",
		"invalid pattern: %w", e.Err)
}

func (g *grepping) grep(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if err := g.check(cmd, strings.Join(args, " ")); err != nil {
		return err
	}
	if err := g.resolve(ctx, &g.Filter, "--id"); err != nil {
		return err
	}
	source, err := g.open()
	if err != nil {
		return err
	}
	calling := g.leaveOutCaller(ctx, source)
	found, err := source.Search(ctx, g.SearchQuery)
	left := g.warnOf(found.Aside.Problems, len(g.IDs) > 0)
	if err != nil {
		return err
	}
	defer found.Close()
	if g.quiet {
		g.out = nil
		return foundAny(len(found.Conversations) > 0)
	}
	g.noteCaller(calling, found.Aside.Excluded)
	w := hitWriter{grepping: g, found: found}
	if err := w.writeAll(ctx); err != nil {
		return err
	}
	if g.summary {
		w.sumUp(left)
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
	kind, how := kindOf(&g.Filter), map[bool]string{true: "", false: ", respecting case"}[g.ignoreCase]
	var where []string
	if g.Scopes != 0 {
		where = append(where, "scope "+g.Scopes.String())
	}
	if len(g.tools) > 0 {
		where = append(where, "tool "+strings.Join(g.tools, ", "))
	}
	g.note("no matches for %q in %s (%s%s)", g.text, plural(found.Searched, kind+" conversation"), strings.Join(where, "; "), how)
	var try []string
	for _, t := range []struct {
		is   bool
		what string
	}{
		{!g.ignoreCase, "--ignore-case"},
		{g.Scopes != transcript.ScopeAll, "--scope=all"},
		{found.Aside.Hidden > 0, fmt.Sprintf("--hidden (%d hidden left out)", found.Aside.Hidden)},
		{kind == "live", "--archived"},
		{true, "fewer words"},
	} {
		if t.is {
			try = append(try, t.what)
		}
	}
	g.note("hint: try %s", strings.Join(try, ", "))
}
