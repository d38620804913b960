package conversationcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
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

// recallOptions is the command line of recall.
type recallOptions struct {
	since, until    string
	scopes, sources []string
	limit           int
	hidden, json    bool
}

// Recall returns the command "recall". What the tools of family recorded of themselves is left out.
func Recall(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		c := &recallCommand{commands{host: host}, family}
		return c.command()
	}
}

// recallCommand is the command "recall" being executed.
type recallCommand struct {
	commands
	family *toolset.Family
}

// isOwn reports whether a recorded tool is one of the family.
func (c *recallCommand) isOwn(recorded string) bool {
	return slices.ContainsFunc(c.family.Declared(), func(tool contract.Tool) bool { return transcript.IsTool(recorded, append(tool.Aliases, tool.Name)...) })
}

func (c *recallCommand) command() *cobra.Command {
	host := c.host
	var o recallOptions
	cmd := &cobra.Command{
		Use:     "recall WORDS…",
		Aliases: []string{"ask"},
		Short:   "Ask past conversations a question",
		Long: `Prints the passages of past conversations that answer a question best, best
conversation first. Ask in your own words: a word finds its other forms, and
words need not stand together. What is between double quotes has to occur as it
stands.

conversation print --event N ID shows an event whole.`,
		Example:           cli.Examples(host.Name, "recall why do we retry uploads", `recall 'flaky "shadow branch" test' --since 2026-01-01`, "ask --all-projects docker cache mount"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			question := strings.TrimSpace(strings.Join(args, " "))
			if question == "" && cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			if question == "" {
				return usageError("say what you want to know", "there is no question")
			}
			if o.limit < 1 {
				return usageError("use 1 or more", "--limit cannot be %d", o.limit)
			}
			return c.recall(cmd.Context(), question, o)
		},
	}
	cmd.SetFlagErrorFunc(flagError)
	flags := cmd.Flags()
	flags.StringVar(&o.since, "since", "", "only what was said from this `DATE` on, ISO 8601, inclusive")
	flags.StringVar(&o.until, "until", "", "only what was said up to this `DATE`, ISO 8601, inclusive")
	flags.IntVar(&o.limit, "limit", 8, "print at most `N` passages")
	flags.StringSliceVarP(&o.scopes, "scope", "s", nil, "only in this `SCOPE`: "+strings.Join(scopeNames(), ", ")+"; repeatable")
	flags.StringSliceVar(&o.sources, "source", nil, "only conversations that this `PROGRAM` recorded; repeatable")
	flags.BoolVar(&o.hidden, "hidden", false, "hidden conversations too")
	flags.BoolVar(&o.json, "json", false, "print the answer for programs, as JSON")
	flags.BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	cli.Rare(flags, "hidden", "json", "source")
	c.completeFlags(cmd, map[string][]string{"scope": scopeNames(), "source": conversations.Sources()})
	c.page(cmd)
	return cmd
}

// How long passages are that people are shown, in bytes.
const recalledText = 600

// recall asks a question, and prints the answer.
func (c *recallCommand) recall(ctx context.Context, question string, o recallOptions) error {
	q := conversations.RankQuery{
		Filter: conversations.Filter{Hidden: o.hidden, Sources: o.sources}, Text: question,
		Own: c.isOwn, MaxPassages: o.limit, MaxText: recalledText, MaxWide: recalledText,
	}
	var err error
	if len(o.scopes) > 0 {
		if q.Scopes, err = parseScopes(o.scopes); err != nil {
			return err
		}
	}
	if err := cmp.Or(bound("--since", o.since, func(s iso8601.Span) { q.Since = &s.First }), bound("--until", o.until, func(s iso8601.Span) { q.Until = &s.Last })); err != nil {
		return err
	}
	if c.formatFlag = "auto"; o.json {
		c.formatFlag = "json"
	}
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	r, err := source.Rank(ctx, q)
	if err != nil {
		return sourceFailure(err, nil)
	}
	c.warnOf(r.Aside.Problems, false)
	if err := c.writeRanking(r, f); err != nil {
		return err
	}
	c.noteWords(r)
	return found(slices.ContainsFunc(r.Conversations, func(c conversations.RankedConversation) bool { return len(c.Passages) > 0 }))
}

// bound reads a date of a flag, where there is one.
func bound(flag, date string, set func(iso8601.Span)) error {
	if date == "" {
		return nil
	}
	span, err := iso8601.Parse(date)
	if err != nil {
		return usageError("use a date such as 2026-03-17 or 2026-03-17T14:30", "%s cannot be %q", flag, date)
	}
	set(span)
	return nil
}

// noteWords says which words of a question occur nowhere.
func (c *commands) noteWords(r conversations.Ranking) {
	var nowhere []string
	for _, w := range r.Words {
		if w.Events == 0 {
			word := text.Quote(w.Word)
			if w.Near != "" {
				word += " (near: " + text.Quote(w.Near) + ")"
			}
			nowhere = append(nowhere, word)
		}
	}
	if len(nowhere) > 0 {
		c.note("occurs nowhere: %s", strings.Join(nowhere, ", "))
	}
}

// writeRanking writes the passages.
func (c *commands) writeRanking(r conversations.Ranking, f format) error {
	results := c.newResults(f)
	first := true
	for i := range r.Conversations {
		conversation := &r.Conversations[i]
		if len(conversation.Passages) == 0 {
			continue
		}
		shown := ""
		if !f.json {
			shown = c.passagesOf(conversation, r.Words, f)
			if !first {
				shown = "\n" + shown
			}
			first = false
		}
		passages := objects(conversation.Passages, func(p conversations.RankedPassage) object {
			return object{
				"event", p.Number, "turn", orNull(p.Turn), "scope", p.Kind.Scope().String(),
				"timestamp", p.Time, "answer", orNull(p.Answer), "text", p.Text,
			}
		})
		results.add(shown, about(conversation.ID, conversation.Title, "source", orNull(conversation.Source), "passages", passages))
	}
	return results.close()
}

// passagesOf is the passages of a conversation below a heading, for people.
func (c *commands) passagesOf(conversation *conversations.RankedConversation, words []conversations.RankedWord, f format) string {
	var b strings.Builder
	b.WriteString(f.style(styleID, string(conversation.ID)))
	if last := conversation.Passages[len(conversation.Passages)-1].Time; !last.IsZero() {
		b.WriteString("  " + last.In(c.host.Now().Location()).Format(time.DateOnly))
	}
	if conversation.Title != "" {
		b.WriteString("  " + text.Cut(text.Line(conversation.Title), maxHeading))
	}
	b.WriteByte('\n')
	for i := range conversation.Passages {
		p := &conversation.Passages[i]
		b.WriteString(f.style(styleDim, "  "+strconv.Itoa(p.Number)+" "+p.Kind.Scope().String()+":"))
		shown := p.Text
		if p.Before {
			shown = "… " + shown
		}
		if p.After {
			shown += " …"
		}
		for line := range strings.SplitSeq(shown, "\n") {
			line = text.Line(line)
			if f.colour {
				line = marked(line, words)
			}
			b.WriteString(fmt.Sprintf("\n    %s", line))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// maxHeading is how many characters of a title stand above passages.
const maxHeading = 70

// marked has the words of a question in a line in colour, and what begins as they do.
func marked(line string, words []conversations.RankedWord) string {
	var spans []excerpt.Span
	for _, w := range words {
		for s := range excerpt.Occurrences(line, w.Term) {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b excerpt.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var b strings.Builder
	end := 0
	for _, s := range spans {
		if s.Start < end {
			continue
		}
		b.WriteString(line[end:s.Start] + styleMatch + line[s.Start:s.End] + styleReset)
		end = s.End
	}
	return b.String() + line[end:]
}
