package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// grepOptions is the command line of grep.
type grepOptions struct {
	filter        filter
	sort          string
	ignoreCase    bool
	caseSensitive bool
	regex         bool
	context       int
	output        string
	heading       bool
	noHeading     bool
	maxMatches    int
	limit         int
	maxHits       int
	maxLine       int
	scopes        []string
	tools         []string
	excludeTools  []string
	quiet         bool
}

func (c *commands) grepCommand() *cobra.Command {
	var opts grepOptions
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if caller := c.host.ConversationID; caller != "" {
				opts.filter.exclude = append(opts.filter.exclude, caller) // as the tools do
			}
			return c.grep(cmd.Context(), cmd, opts, strings.Join(args, " "))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&opts.filter.ids, "id", "i", nil, "search only the conversation with this `ID`; repeatable")
	opts.filter.idFlag = "--id"
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "ids" {
			name = "id"
		}
		return pflag.NormalizedName(name)
	})
	flags.BoolVar(&opts.ignoreCase, "ignore-case", false, "ignore case")
	flags.BoolVar(&opts.caseSensitive, "case-sensitive", false, "respect case")
	flags.BoolVarP(&opts.regex, "regex", "r", false, "the pattern is a regular expression in RE2 syntax")
	flags.IntVar(&opts.context, "context", 0, "show `N` lines before and after each match")
	flags.StringVar(&opts.sort, "sort", "activity", "sort conversations by this `key`: "+strings.Join(grepSorts(), ", "))
	flags.StringVar(&opts.output, "output", "hits", "`what` to write: "+strings.Join(grepOutputs(), ", "))
	flags.BoolVar(&opts.heading, "heading", false, "group hits below their conversation (default on a terminal)")
	flags.BoolVar(&opts.noHeading, "no-heading", false, "write ID:TURN:SCOPE:KIND:TEXT lines (default when not on a terminal)")
	flags.IntVarP(&opts.maxMatches, "max-matches", "m", 0, "show at most `N` matches of each conversation")
	flags.IntVar(&opts.limit, "limit", 0, "show matches of at most `N` conversations")
	flags.IntVar(&opts.maxHits, "max-hits", 0, "show at most `N` matches of all conversations together")
	flags.IntVar(&opts.maxLine, "max-line", 0, "show lines of more than `N` characters as a part of N characters around the first match")
	flags.StringSliceVarP(&opts.scopes, "scope", "s", nil, "search only in this `scope`: "+strings.Join(scopeNames(), ", ")+"; repeatable")
	flags.StringSliceVar(&opts.tools, "tool", nil, "search calls and results of this tool by `NAME`, whatever --scope has; repeatable")
	flags.StringSliceVar(&opts.excludeTools, "exclude-tool", nil, "leave out calls and results of this tool by `NAME`; repeatable")
	flags.BoolVarP(&opts.quiet, "quiet", "q", false, "write nothing, only set the exit code")
	opts.filter.addFlags(flags)
	cli.Rare(flags, "archived", "ascending", "case-sensitive", "descending", "exclude-id", "exclude-tool", "heading", "hidden", "label",
		"max-hits", "max-line", "max-matches", "no-heading", "quiet", "sort", "source", "tool")
	c.addSummaryFlag(cmd)
	c.completeFlags(cmd, map[string][]string{"sort": grepSorts(), "output": grepOutputs(), "scope": scopeNames(), "source": conversations.Sources()})
	return cmd
}

// grepSorts returns the values of --sort, grepOutputs those of --output.
func grepSorts() []string   { return []string{"activity", "created", "activated", "updated"} }
func grepOutputs() []string { return []string{"hits", "ids", "count", "text"} }

// check verifies the flags and returns what to search for.
func (o *grepOptions) check(c *commands, cmd *cobra.Command, text string) (conversations.SearchQuery, error) {
	var q conversations.SearchQuery
	given := cmd.Flags().Changed
	for _, wrong := range []struct {
		is         bool
		hint, what string
	}{
		{o.quiet && c.summary, "give only one of them", "--quiet writes nothing, also no --summary"},
		{given("id") && len(o.filter.ids) == 0, "leave --id out to search all conversations", "--id is empty"},
		{given("scope") && len(o.scopes) == 0, "leave --scope out to search everywhere", "--scope is empty"},
	} {
		if wrong.is {
			return q, usageError(wrong.hint, "%s", wrong.what)
		}
	}
	err := cmp.Or(
		excluded(cmd.Flags(), [2]string{"ignore-case", "case-sensitive"}, [2]string{"heading", "no-heading"},
			[2]string{"tool", "exclude-tool"}, [2]string{"ascending", "descending"}),
		oneOf("sort", o.sort, grepSorts()...), oneOf("output", o.output, grepOutputs()...),
		notNegative("context", o.context), notNegative("max-matches", o.maxMatches), notNegative("limit", o.limit),
		notNegative("max-hits", o.maxHits), notNegative("max-line", o.maxLine))
	if err != nil {
		return q, err
	}
	if 0 < o.maxLine && o.maxLine < excerpt.MinWindow {
		return q, usageError(fmt.Sprintf("use at least %d, or 0 for no limit", excerpt.MinWindow), "--max-line cannot be %d", o.maxLine)
	}
	o.ignoreCase = o.ignoreCase || !o.caseSensitive && smartCase(text)
	scopes, err := parseScopes(o.scopes)
	if err != nil {
		return q, err
	}
	if len(o.tools) > 0 && len(o.scopes) == 0 {
		scopes = 0
	}
	q = conversations.SearchQuery{
		Own: isOneOf(append(o.tools, o.excludeTools...)), OwnToo: len(o.tools) > 0, Scopes: scopes,
		Sort: conversations.SortNamed(o.sort), Ascending: o.filter.isAscending(),
	}
	q.Pattern, err = excerpt.Compile(text, o.regex, o.ignoreCase)
	return q, err
}

// isOneOf returns a function that reports whether a recorded tool is one of those
// with these names; nil where there are none.
func isOneOf(names []string) func(recorded string) bool {
	if len(names) == 0 {
		return nil
	}
	return func(recorded string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return transcript.IsTool(recorded, name) })
	}
}

// smartCase reports whether a pattern asks to ignore case: when it has no
// upper-case letter, also not in an escape such as \S.
func smartCase(text string) bool { return !strings.ContainsFunc(text, unicode.IsUpper) }

// scopeNames returns the values of --scope.
func scopeNames() []string {
	var names []string
	for _, s := range transcript.NamedScopes() {
		names = append(names, s.Name)
	}
	return names
}

// parseScopes reads the values of --scope, also with '_' for '-'. None means all.
func parseScopes(values []string) (transcript.Scopes, error) {
	if len(values) == 0 {
		return transcript.ScopeAll, nil
	}
	var set transcript.Scopes
	names := scopeNames()
	for _, value := range values {
		i := slices.Index(names, strings.ReplaceAll(strings.TrimSpace(value), "_", "-"))
		if i < 0 {
			return 0, usageError("use one or more of "+strings.Join(names, ", "), "--scope cannot be %q", value)
		}
		set |= transcript.NamedScopes()[i].Scopes
	}
	return set, nil
}

// badPattern words why a pattern cannot be searched for.
func badPattern(e *excerpt.PatternError, text string) error {
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

func (c *commands) grep(ctx context.Context, cmd *cobra.Command, opts grepOptions, text string) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	q, err := opts.check(c, cmd, text)
	var bad *excerpt.PatternError
	if errors.As(err, &bad) {
		return badPattern(bad, text)
	}
	if err != nil {
		return err
	}
	if q.Filter, err = opts.filter.parse(ctx, c); err != nil {
		return err
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	if f.pretty && !f.json && !opts.noHeading && c.host.Terminal && !cmd.Flags().Changed("max-line") {
		opts.maxLine = terminalMaxLine
	}
	calling := c.leaveOutCaller(ctx, source, &q.Filter)
	found, err := source.Search(ctx, q)
	if !opts.quiet {
		c.noteCaller(calling, found.Aside.Excluded)
	}
	left := c.warnOf(found.Aside.Problems, len(q.IDs) > 0)
	if err != nil {
		return sourceFailure(err, q.IDs)
	}
	defer found.Close()
	if !opts.quiet {
		w := c.newHitWriter(f, opts)
		w.links = c.links(ctx, f)
		defer w.links.close()
		if err := w.writeAll(found, q.Pattern); err != nil {
			return err
		}
		if c.summary {
			w.sumUp(found, left)
		}
		if err := w.close(); err != nil {
			return err
		}
	}
	if len(found.Conversations) == 0 {
		if !f.json && !opts.quiet {
			c.explain(found, q.Scopes, opts, text)
		}
		return cli.ErrFailed
	}
	return nil
}

// leaveOutCaller leaves out the conversation of the assistant that runs this command,
// where the environment tells, as the tools do. A conversation that is named is
// searched.
func (c *commands) leaveOutCaller(ctx context.Context, source conversations.Source, f *conversations.Filter) conversations.Caller {
	r, ok := source.(conversations.Recognizer)
	if !ok || c.host.ConversationID != "" || len(f.IDs) > 0 {
		return conversations.Caller{}
	}
	known := r.Caller(ctx, caller.Caller{Process: caller.Shell})
	for _, id := range known.IDs {
		f.Exclude = append(f.Exclude, string(id))
	}
	if len(known.IDs) > 0 {
		f.KinOf = []string{string(known.IDs[0])}
	}
	return known
}

// noteCaller says what was left out that the command line does not name.
func (c *commands) noteCaller(known conversations.Caller, excluded []transcript.ID) {
	switch {
	case len(known.IDs) == 0 && known.Recorded:
		c.note("note: which conversation runs this command cannot be told, so none was left out")
	case len(known.IDs) > 0 && len(excluded) > 0:
		c.note("note: left out as the conversation that runs this command, and what belongs to it: %s; --id searches it all the same", join(excluded, ", "))
	}
}

// sumUp writes the totals of a search.
func (w *hitWriter) sumUp(found *conversations.Results, left []skipped) {
	sum := object{"matches", found.Total, "returned", w.returned, "searched", found.Searched}
	if found.Own > 0 {
		sum = append(sum, "excluded_tool_matches", found.Own)
	}
	shown := objects(w.shown, func(m *conversations.Matched) object {
		return about(m.ID, m.Title, "matches", m.Matches, "turns", m.Size.Turns)
	})
	sum = append(sum, "conversations", shown, "conversations_matched", len(found.Conversations),
		"excluded", found.Aside.Excluded, "skipped", skippedObjects(left))
	w.add("", object{"summary", sum})
}

// explain writes what was searched in vain and what to try.
func (c *commands) explain(found *conversations.Results, scopes transcript.Scopes, opts grepOptions, text string) {
	kind, how := opts.filter.kind(), ""
	if !opts.ignoreCase {
		how = ", respecting case"
	}
	var where []string
	if scopes != 0 {
		where = append(where, "scope "+scopes.String())
	}
	if len(opts.tools) > 0 {
		where = append(where, "tool "+strings.Join(opts.tools, ", "))
	}
	c.note("no matches for %q in %s (%s%s)", text, plural(found.Searched, kind+" conversation"), strings.Join(where, "; "), how)
	var try []string
	if !opts.ignoreCase {
		try = append(try, "--ignore-case")
	}
	if scopes != transcript.ScopeAll {
		try = append(try, "--scope=all")
	}
	if hidden := found.Aside.Hidden; hidden > 0 {
		try = append(try, fmt.Sprintf("--hidden (%d hidden left out)", hidden))
	}
	if kind == "live" {
		try = append(try, "--archived")
	}
	try = append(try, "fewer words")
	c.note("hint: try %s", strings.Join(try, ", "))
}
