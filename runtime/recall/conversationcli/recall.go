package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// Limits of passages, in bytes, and of titles, in characters.
const (
	recalledText  = 600
	recalledTitle = 70
)

// Recall returns the command "recall". It leaves out the recorded calls of the tools of family.
func Recall(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		return (&commands{host: host}).recallCommand(family)
	}
}

// isOwn returns a function that reports whether a recorded tool is one of a family.
func isOwn(family *toolset.Family) func(recorded string) bool {
	var names []string
	for _, tool := range family.Declared() {
		names = append(append(names, tool.Name), tool.Aliases...)
	}
	return func(recorded string) bool { return transcript.IsTool(recorded, names...) }
}

func (c *commands) recallCommand(family *toolset.Family) *cobra.Command {
	cmd := c.newCommand("recall WORDS…", "ask", "Ask past conversations a question",
		`Prints the passages of past conversations that answer a question best, the best
conversation first. Ask in your own words: a word finds its other forms, and
words may be far apart. Text between double quotes must occur as it is.

conversation print --event N ID shows an event whole.`,
		"recall why do we retry uploads", `recall 'flaky "shadow branch" test' --since 2026-01-01`, "ask --all-projects docker cache mount")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	q := conversations.SearchQuery{Order: conversations.Relevance, MaxText: recalledText, MaxWide: recalledText}
	flags := cmd.Flags()
	c.addTime(cmd, "since", "only what was said from this `DATE` on, inclusive", func(s iso8601.Span) { q.Since = &s.First })
	c.addTime(cmd, "until", "only what was said up to this `DATE`, inclusive", func(s iso8601.Span) { q.Until = &s.Last })
	limit := flags.Uint("limit", 8, "print at most `N` passages, 1 or more")
	addScopes(cmd, &q.Scopes)
	addSources(cmd, &q.Sources)
	flags.BoolVar(&q.Hidden, "hidden", false, "hidden conversations too")
	c.addJSON(cmd, "json")
	return c.reading(cmd, func(ctx context.Context, args []string) error {
		q.Question, q.Limit, q.Own = strings.TrimSpace(strings.Join(args, " ")), int(*limit), isOwn(family)
		switch {
		case q.Question == "" && flags.NFlag() == 0:
			return cmd.Help()
		case q.Question == "" || q.Limit == 0:
			return misused("say what you want to know, and ask for 1 passage or more", "there is no question, or nothing to answer it with")
		}
		return c.recall(ctx, q, without(flags))
	})
}

// recall prints the answer to a question, or notes what to try if there is none.
func (c *commands) recall(ctx context.Context, q conversations.SearchQuery, try []string) error {
	library, err := c.open()
	if err != nil {
		return err
	}
	r, err := library.Search(ctx, q)
	if err != nil {
		return err
	}
	c.warnOf(r.Aside.Problems)
	before := ""
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
	switch {
	case before != "" || c.out.json:
		c.noteMissing(r.Words)
	case len(r.Words) == 0:
		c.note("the question has no word to look for")
	default:
		quotes := either(strings.Contains(q.Question, `"`), "words without quotes", "")
		c.explainWords(r.Words, append(try, quotes, either(c.allProjects, "", "--all-projects"), "other words")...)
	}
	return foundAny(before != "")
}

// passages returns the passages of a conversation below a heading.
func (c *commands) passages(found *conversations.Matched, hits []*conversations.Hit, words []conversations.Word) string {
	shown := c.out.style(styleID, string(found.ID))
	if last := hits[len(hits)-1].Time; !last.IsZero() {
		shown += "  " + last.In(c.host.Now().Location()).Format(time.DateOnly)
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

// occurrences returns the spans of a line that begin as the words of a question do.
func occurrences(line string, words []conversations.Word) iter.Seq[excerpt.Span] {
	var spans []excerpt.Span
	for _, w := range words {
		spans = slices.AppendSeq(spans, excerpt.Occurrences(line, w.Term))
	}
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	return slices.Values(spans)
}
