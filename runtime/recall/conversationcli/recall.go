package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// How long passages are that people are shown, in bytes, and titles, in characters.
const (
	recalledText  = 600
	recalledTitle = 70
)

// Recall returns the command "recall". What the tools of family recorded of themselves is
// left out.
func Recall(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		c := &commands{host: host}
		return c.recallCommand(conversations.SearchQuery{
			Order: conversations.Relevance,
			Own: func(recorded string) bool {
				return slices.ContainsFunc(family.Declared(), func(tool contract.Tool) bool {
					return transcript.IsTool(recorded, append(tool.Aliases, tool.Name)...)
				})
			},
			Limit: 8, MaxText: recalledText, MaxWide: recalledText,
		})
	}
}

func (c *commands) recallCommand(q conversations.SearchQuery) *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:     "recall WORDS…",
		Aliases: []string{"ask"},
		Short:   "Ask past conversations a question",
		Long: `Prints the passages of past conversations that answer a question best, best
conversation first. Ask in your own words: a word finds its other forms, and
words need not stand together. What is between double quotes has to occur as it
stands.

conversation print --event N ID shows an event whole.`,
		Example:           cli.Examples(c.host.Name, "recall why do we retry uploads", `recall 'flaky "shadow branch" test' --since 2026-01-01`, "ask --all-projects docker cache mount"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Question, q.Scopes = strings.TrimSpace(strings.Join(args, " ")), scopesOf(scopes)
			switch {
			case q.Question == "" && cmd.Flags().NFlag() == 0:
				return cmd.Help()
			case q.Question == "":
				return usageError("say what you want to know", "there is no question")
			}
			return c.recall(cmd.Context(), q)
		},
	}
	flags := cmd.Flags()
	flags.Func("since", "only what was said from this `DATE` on, ISO 8601, inclusive", date(func(s iso8601.Span) { q.Since = &s.First }))
	flags.Func("until", "only what was said up to this `DATE`, ISO 8601, inclusive", date(func(s iso8601.Span) { q.Until = &s.Last }))
	flags.Func("limit", "print at most `N` passages", number(&q.Limit, 1, "use 1 or more"))
	flags.Lookup("limit").DefValue = "8"
	addScopes(cmd, &scopes, "only in this `SCOPE`")
	anyOf(cmd, &q.Sources, "source", "", "only conversations that this `PROGRAM` recorded; repeatable", conversations.Sources()...)
	flags.BoolVar(&q.Hidden, "hidden", false, "hidden conversations too")
	addJSON(cmd, "print the answer for programs, as JSON")
	flags.BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	return c.ready(paged(cmd))
}

// recall asks a question, and prints the answer.
func (c *commands) recall(ctx context.Context, q conversations.SearchQuery) error {
	source, err := c.open()
	if err != nil {
		return err
	}
	r, err := source.Search(ctx, q)
	if err != nil {
		return err
	}
	c.warnOf(r.Aside.Problems, false)
	before := ""
	for _, found := range r.Conversations {
		hits := r.Of(found)
		if len(hits) == 0 {
			continue
		}
		passages := objects(hits, func(p *conversations.Hit) object {
			return object{
				"event", p.Number, "turn", orNull(p.Turn), "scope", p.Kind.Scope().String(),
				"timestamp", p.Time, "answer", orNull(p.Answer), "text", p.Text,
			}
		})
		c.out.add(before+c.passagesOf(found, hits, r.Words), about(found.ID, found.Title, "source", orNull(found.Source), "passages", passages))
		before = "\n"
	}
	c.noteWords(r)
	return foundAny(before != "")
}

// noteWords says which words of a question occur nowhere.
func (c *commands) noteWords(r *conversations.Results) {
	var nowhere []string
	for _, w := range r.Words {
		if w.Events > 0 {
			continue
		}
		nowhere = append(nowhere, text.Quote(w.Word)+either(w.Near != "", " (near: "+text.Quote(w.Near)+")", ""))
	}
	if len(nowhere) > 0 {
		c.note("occurs nowhere: %s", strings.Join(nowhere, ", "))
	}
}

// passagesOf is the passages of a conversation below a heading, for people.
func (c *commands) passagesOf(found *conversations.Matched, hits []*conversations.Hit, words []conversations.Word) string {
	f := c.out.format
	var b strings.Builder
	b.WriteString(f.style(styleID, string(found.ID)))
	if last := hits[len(hits)-1].Time; !last.IsZero() {
		b.WriteString("  " + last.In(c.host.Now().Location()).Format(time.DateOnly))
	}
	b.WriteString(either(found.Title != "", "  ", "") + text.Cut(text.Line(found.Title), recalledTitle))
	for _, p := range hits {
		b.WriteString("\n" + f.style(styleDim, fmt.Sprintf("  %d %s:", p.Number, p.Kind.Scope())))
		shown := either(p.Before, "… ", "") + p.Text + either(p.After, " …", "")
		for line := range strings.SplitSeq(shown, "\n") {
			line = text.Line(line)
			if f.colour {
				line = marked(line, words)
			}
			b.WriteString("\n    " + line)
		}
	}
	return b.String() + "\n"
}

// marked has the words of a question in a line in colour, and what begins as they do.
func marked(line string, words []conversations.Word) string {
	var spans []excerpt.Span
	for _, w := range words {
		spans = slices.AppendSeq(spans, excerpt.Occurrences(line, w.Term))
	}
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	return coloured(line, slices.Values(spans), styleReset)
}
