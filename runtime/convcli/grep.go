package convcli

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// grepOptions is the command line of grep.
type grepOptions struct {
	filter        filter
	order         order
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
	quiet         bool
}

func (c *cli) grepCommand() *cobra.Command {
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
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	opts.order.addFlags(flags)
	flags.StringVar(&opts.output, "output", "hits", "`what` to write: "+strings.Join(grepOutputs(), ", "))
	flags.BoolVar(&opts.heading, "heading", false, "group hits below their conversation (default on a terminal)")
	flags.BoolVar(&opts.noHeading, "no-heading", false, "write ID:TURN:SCOPE:KIND:TEXT lines (default when not on a terminal)")
	flags.IntVarP(&opts.maxMatches, "max-matches", "m", 0, "show at most `N` matches of each conversation")
	flags.IntVar(&opts.limit, "limit", 0, "show matches of at most `N` conversations")
	flags.IntVar(&opts.maxHits, "max-hits", 0, "show at most `N` matches of all conversations together")
	flags.IntVar(&opts.maxLine, "max-line", 0, "show lines of more than `N` characters as a part of N characters around the first match")
	flags.StringSliceVarP(&opts.scopes, "scope", "s", nil, "search only in this `scope`: "+strings.Join(scopeNames(), ", ")+"; repeatable")
	flags.BoolVarP(&opts.quiet, "quiet", "q", false, "write nothing, only set the exit code")
	opts.filter.addFlags(flags)
	markRare(flags, "archived", "ascending", "case-sensitive", "descending", "exclude-id", "heading", "hidden", "label",
		"max-hits", "max-line", "max-matches", "no-heading", "quiet", "sort")
	c.completeFlags(cmd, map[string][]string{"sort": grepSorts(), "output": grepOutputs(), "scope": scopeNames()})
	return cmd
}

// grepSorts returns the values of --sort, grepOutputs those of --output.
func grepSorts() []string   { return []string{"activity", "created", "activated", "updated"} }
func grepOutputs() []string { return []string{"hits", "ids", "count", "text"} }

// check verifies the flags and returns what to search for.
func (o *grepOptions) check(c *cli, cmd *cobra.Command, text string) (query, error) {
	var q query
	if o.ignoreCase && o.caseSensitive {
		return q, usageError("give only one of them", "--ignore-case and --case-sensitive contradict each other")
	}
	if o.heading && o.noHeading {
		return q, usageError("give only one of them", "--heading and --no-heading contradict each other")
	}
	if o.quiet && c.summary {
		return q, usageError("give only one of them", "--quiet writes nothing, also no --summary")
	}
	if cmd.Flags().Changed("id") && len(o.filter.ids) == 0 {
		return q, usageError("leave --id out to search all conversations", "--id is empty")
	}
	if cmd.Flags().Changed("scope") && len(o.scopes) == 0 {
		return q, usageError("leave --scope out to search everywhere", "--scope is empty")
	}
	if err := oneOf("sort", o.sort, grepSorts()...); err != nil {
		return q, err
	}
	if err := oneOf("output", o.output, grepOutputs()...); err != nil {
		return q, err
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"context", o.context}, {"max-matches", o.maxMatches}, {"limit", o.limit}, {"max-hits", o.maxHits}, {"max-line", o.maxLine}} {
		if err := notNegative(n.flag, n.value); err != nil {
			return q, err
		}
	}
	if 0 < o.maxLine && o.maxLine < minWindow {
		return q, usageError(fmt.Sprintf("use at least %d, or 0 for no limit", minWindow), "--max-line cannot be %d", o.maxLine)
	}
	if err := o.order.resolve(cmd.Flags()); err != nil {
		return q, err
	}
	o.ignoreCase = o.ignoreCase || !o.caseSensitive && smartCase(text)
	scopes, err := parseScopes(o.scopes)
	if err != nil {
		return q, err
	}
	p, err := parsePattern(text, o.regex, o.ignoreCase)
	if err != nil {
		return q, err
	}
	return query{
		pattern: p, scopes: scopes, context: o.context, maxLine: o.maxLine,
		countAll:     c.summary,
		needActivity: !o.quiet && (o.sort == "activity" || o.sort == "updated"),
	}, nil
}

// grep searches in two steps where it has to sort by something that only the
// events tell: first all conversations, in any order and several at a time,
// keeping hits as far as memory allows; then, in order, the output. Where the
// order is known at once, both go hand in hand and end as soon as possible.
func (c *cli) grep(ctx context.Context, cmd *cobra.Command, opts grepOptions, text string) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	q, err := opts.check(c, cmd, text)
	if err != nil {
		return err
	}
	found, err := c.find(ctx, cmd, opts.filter)
	if err != nil {
		return err
	}
	list := found.conversations
	if len(list) < 2 {
		q.needActivity = false
	}
	if f.pretty && !f.json && !opts.noHeading && c.env.IsTerminal && !cmd.Flags().Changed("max-line") {
		q.maxLine = terminalMaxLine
	}
	run := &grepRun{cli: c, query: q, opts: opts, found: found, hitsLeft: -1, again: reader{keep: maxInFlight / 2}}
	if opts.maxHits > 0 {
		run.hitsLeft = opts.maxHits
	}
	out := newOutput(c.env.Stdout)
	run.writer = c.newHitWriter(out, f, opts, q)

	opts.sortConversations(list)
	if err := run.searchAll(ctx, list); err != nil {
		return err
	}
	if opts.quiet {
		if run.matched == 0 {
			return nothingFound()
		}
		return nil
	}
	if err := run.finish(); err != nil {
		return err
	}
	if run.matched == 0 {
		if !f.json {
			run.explain(text)
		}
		return nothingFound()
	}
	return nil
}

// sortConversations sorts by what the metadata tells.
func (o *grepOptions) sortConversations(list []*workspace.Conversation) {
	sortBy(list, o.order.descending, func(c *workspace.Conversation) transcript.ID { return c.ID }, func(c *workspace.Conversation) sortKey {
		if o.sort == "activated" {
			return timeKey(c.Metadata.LastActivatedAt)
		}
		return sortKey{number: int64(c.ID)}
	})
}

// sortFindings sorts by what only the events tell.
func (o *grepOptions) sortFindings(list []finding) {
	sortBy(list, o.order.descending, func(f finding) transcript.ID { return f.ID }, func(f finding) sortKey {
		if o.sort == "updated" {
			return timeKey(updated(f.Conversation, f.last))
		}
		return timeKey(activity(f.Conversation, f.last))
	})
}

// grepRun is a search in progress.
type grepRun struct {
	*cli
	query
	opts   grepOptions
	found  *selection
	writer *hitWriter
	kept   atomic.Int64
	again  reader // for conversations that are searched a second time

	hitsLeft int // how many more matches to write; negative means all
	searched int // conversations
	matched  int // conversations with matches
	matches  int
	returned int       // matches written
	written  []finding // conversations written, without their hits
}

// room returns how many matches of a conversation are wanted; -1 means all.
func (g *grepRun) room() int {
	switch {
	case g.opts.quiet:
		return 1
	case g.opts.maxMatches == 0 || 0 <= g.hitsLeft && g.hitsLeft < g.opts.maxMatches:
		return g.hitsLeft
	}
	return g.opts.maxMatches
}

func (g *grepRun) searchAll(ctx context.Context, list []*workspace.Conversation) error {
	room := g.room()
	keepHits := !g.opts.quiet && (g.opts.output == "hits" || g.opts.output == "text")
	if g.opts.output == "ids" {
		room = 1
	}
	needEvents := g.needActivity || g.countAll || g.scopes != scopeTitle
	var deferred []finding
	err := readAll(ctx, list, needEvents,
		func(ctx context.Context, r *reader, conv *workspace.Conversation) finding {
			s := search{query: g.query, room: room, r: r}
			k := keeper{kept: &g.kept}
			if keepHits {
				s.emit = k.add
			}
			f, _ := s.run(ctx, conv) // keeping hits cannot fail
			f.hits, f.dropped, f.size = k.hits, k.dropped, k.size
			return f
		},
		func(_ int, f finding) error {
			g.account(&f)
			switch {
			case f.matches == 0:
				return nil
			case g.opts.quiet:
				return errEnough
			case g.needActivity:
				deferred = append(deferred, f)
				return nil
			}
			return g.write(ctx, &f)
		})
	if err != nil {
		return err
	}
	g.opts.sortFindings(deferred)
	for i := range deferred {
		if err := g.write(ctx, &deferred[i]); err != nil {
			if err == errEnough {
				return nil
			}
			return err
		}
	}
	return nil
}

// account adds a finding to the totals and tells what went wrong.
func (g *grepRun) account(f *finding) {
	if f.problem != nil {
		g.found.skip(g.cli, f.ID, f.problem.Error())
	}
	if !f.unread {
		g.searched++
	}
	g.matches += f.matches
	if f.matches > 0 {
		g.matched++
	}
}

// write writes the hits of a conversation, as far as more are wanted. It returns
// errEnough when nothing that follows can matter.
func (g *grepRun) write(ctx context.Context, f *finding) error {
	defer g.kept.Add(-f.size)
	if g.opts.limit > 0 && len(g.written) == g.opts.limit || g.hitsLeft == 0 {
		return g.enough()
	}
	room := g.room()
	shown := f.matches
	if room >= 0 {
		shown = min(shown, room)
	}
	if err := g.writer.begin(f, shown); err != nil {
		return err
	}
	if f.dropped {
		s := search{query: g.query, room: room, emit: g.writer.hit, r: &g.again}
		s.countAll, s.needActivity = false, false
		_, err := s.run(ctx, f.Conversation)
		g.again.trim()
		if err != nil {
			return err
		}
	} else if err := eachWithin(f.hits, room, g.context, g.writer.hit); err != nil {
		return err
	}
	g.returned += shown
	if g.hitsLeft > 0 {
		g.hitsLeft -= shown
	}
	f.hits = nil
	g.written = append(g.written, *f)
	if g.opts.limit > 0 && len(g.written) == g.opts.limit || g.hitsLeft == 0 {
		return g.enough()
	}
	return nil
}

// enough ends the search, unless everything is to be counted.
func (g *grepRun) enough() error {
	if g.countAll {
		return nil
	}
	return errEnough
}

// eachWithin calls emit with the hits up to the match number room and its lines
// of context, as a search with that room would. A negative room means all.
func eachWithin(hits []hit, room, context int, emit func(*hit) error) error {
	var last *hit // the last match that is wanted
	for i := range hits {
		h := hits[i]
		if last != nil {
			if h.event != last.event || h.line > last.line+context {
				return nil
			}
			h.match = false
		}
		if err := emit(&h); err != nil {
			return err
		}
		if h.match {
			if room--; room == 0 {
				last = &hits[i]
			}
		}
	}
	return nil
}

// finish ends the output.
func (g *grepRun) finish() error {
	if !g.summary {
		return g.writer.close(nil)
	}
	return g.writer.close(func(r *record) {
		r.int("matches", g.matches)
		r.int("returned", g.returned)
		r.int("searched", g.searched)
		r.objects("conversations", len(g.written), func(i int, r *record) {
			f := &g.written[i]
			r.string("id", f.ID.String())
			r.optional("title", f.Metadata.Title)
			r.int("matches", f.matches)
			r.int("turns", f.turns)
		})
		r.int("conversations_matched", g.matched)
		r.ids("excluded", g.found.excluded)
		r.skipped(g.found.skipped)
	})
}

// explain says what was searched in vain and what to try.
func (g *grepRun) explain(text string) {
	kind, how := "live", ""
	if g.opts.filter.archived {
		kind = "archived"
	}
	if len(g.opts.filter.ids) > 0 {
		kind = "named"
	}
	if !g.opts.ignoreCase {
		how = ", respecting case"
	}
	plural := "s"
	if g.searched == 1 {
		plural = ""
	}
	g.note("no matches for %q in %d %s conversation%s (scope %s%s)", text, g.searched, kind, plural, g.scopes, how)
	var try []string
	if !g.opts.ignoreCase {
		try = append(try, "--ignore-case")
	}
	if g.scopes != scopeAll {
		try = append(try, "--scope=all")
	}
	if g.found.hidden > 0 {
		try = append(try, fmt.Sprintf("--hidden (%d hidden left out)", g.found.hidden))
	}
	if kind == "live" {
		try = append(try, "--archived")
	}
	try = append(try, "fewer words")
	g.note("hint: try %s", strings.Join(try, ", "))
}
