package convcli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// printOptions is the command line of print.
type printOptions struct {
	turns      turnOptions
	style      string
	noMetadata bool
	maxText    int
}

func (c *cli) printCommand() *cobra.Command {
	var opts printOptions
	cmd := &cobra.Command{
		Use:     "print [ID]",
		Aliases: []string{"p"},
		Short:   "Print a conversation, or some turns of it",
		Long: `Prints a conversation, or some turns of it. Without an ID it is the one that was
activated last.`,
		Example: `  convtools conversation print --last
  convtools conversation print --turn 2..3 jp-c17737387251
  convtools conversation print --style full --format json jp-c17737387251`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeIDs(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("print takes one id", "too many arguments: %q", args)
			}
			return c.print(cmd.Context(), cmd, opts, args)
		},
	}
	flags := cmd.Flags()
	opts.turns.addFlags(flags)
	flags.StringVarP(&opts.style, "style", "s", "", "how `much`: user, chat, brief (default of text) or full")
	flags.BoolVar(&opts.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	flags.IntVar(&opts.maxText, "max-text", 0, "cut texts of more than `N` characters in the middle in JSON output; 0 means no limit")
	markRare(flags, "max-text", "no-metadata")
	c.completeFlags(cmd, map[string][]string{"style": printStyles()})
	return cmd
}

// printStyles returns the values of --style.
func printStyles() []string { return []string{"user", "chat", "brief", "full"} }

func (c *cli) print(ctx context.Context, cmd *cobra.Command, opts printOptions, args []string) error {
	f, err := c.resolveFormat()
	if err != nil {
		return err
	}
	if opts.style != "" {
		if err := oneOf("style", opts.style, printStyles()...); err != nil {
			return err
		}
	}
	if err := notNegative("max-text", opts.maxText); err != nil {
		return err
	}
	if !f.json && (opts.maxText > 0 || opts.noMetadata) {
		return usageError("add --format=json", "--max-text and --no-metadata are about JSON output")
	}
	selector, err := opts.turns.parse(cmd.Flags())
	if err != nil {
		return err
	}
	conv, err := c.printed(ctx, cmd, args)
	if err != nil {
		return err
	}
	data, err := conv.ReadEvents(ctx, nil)
	if err != nil {
		return failed(fmt.Errorf("reading conversation %s: %w", conv.ID, err))
	}
	p := &printing{cli: c, conv: conv, data: data, opts: opts, out: newOutput(c.env.Stdout)}
	p.turns, p.damage = transcript.Turns(data)
	if p.damage != nil {
		c.warn("%s: events.json is damaged, events before the damage are printed: %v", conv.ID, p.damage)
	}
	if p.first, p.last, err = selector.resolve(p.turns, p.view(c.env.Now)); err != nil {
		return err
	}
	if !f.json && selector.none() {
		c.note("no turns were asked for: --last and --first take how many turns to print")
		return nil
	}
	if f.json {
		return p.json(c.newArray(p.out, f))
	}
	return p.text(f)
}

// printed returns the conversation to print.
func (c *cli) printed(ctx context.Context, cmd *cobra.Command, args []string) (*workspace.Conversation, error) {
	ids, err := c.parseIDs(args, "")
	if err != nil {
		return nil, err
	}
	if len(ids) > 1 {
		return nil, usageError("print takes one id", "standard input holds %d ids", len(ids))
	}
	ws, err := c.open(cmd)
	if err != nil {
		return nil, err
	}
	if len(ids) == 1 {
		return c.findOne(ctx, ws, ids[0])
	}
	all, err := c.listed(ctx, ws, false, &selection{})
	if err != nil {
		return nil, err
	}
	var latest *workspace.Conversation
	for _, conv := range all {
		if conv.Metadata.Hidden {
			continue
		}
		if latest == nil || !conv.Metadata.LastActivatedAt.Before(latest.Metadata.LastActivatedAt) {
			latest = conv
		}
	}
	if latest == nil {
		return nil, failedHint("conversation ls --archived lists archived ones", "there is no live conversation to print in %s", ws.Root())
	}
	c.note("printing %s, the conversation activated last", latest.ID)
	return latest, nil
}

// printing is a conversation being printed.
type printing struct {
	*cli
	conv   *workspace.Conversation
	data   []byte
	opts   printOptions
	out    output
	turns  int
	damage error

	first, last int // the turns to print; last is before first when there are none
}

// view returns what the selection of turns needs to know about the events.
func (p *printing) view(now func() time.Time) turnView {
	return turnView{
		now: now,
		starts: func() []time.Time {
			starts := make([]time.Time, p.turns+1) // by turn number
			scanner := transcript.NewScanner(p.data)
			for scanner.Next() {
				if e := scanner.Event(); e.Turn > 0 && starts[e.Turn].IsZero() {
					starts[e.Turn], _ = e.Timestamp()
				}
			}
			return starts
		},
		compacted: func() int { return lastCompacted(p.data) },
	}
}

// each calls yield with the events to print.
func (p *printing) each(yield func(*transcript.Event) error) error {
	scanner := transcript.NewScanner(p.data)
	for scanner.Next() {
		e := scanner.Event()
		if e.Kind.Global() || e.Turn < p.first || !p.wanted(e.Kind) {
			continue
		}
		if e.Turn > p.last {
			return nil
		}
		if err := yield(e); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether the style shows events of a kind.
func (p *printing) wanted(kind transcript.Kind) bool {
	switch p.opts.style {
	case "user":
		return kind == transcript.KindUser
	case "chat":
		return kind == transcript.KindUser || kind == transcript.KindAssistant || kind == transcript.KindStructured
	}
	return true
}

func (p *printing) json(list *array) error {
	options := transcript.JSONOptions{Turn: true, OmitMetadata: p.opts.noMetadata, MaxText: p.opts.maxText}
	var buf []byte
	err := p.each(func(e *transcript.Event) error {
		buf = e.AppendJSON(buf[:0], options)
		return list.add(buf)
	})
	if err != nil {
		return err
	}
	if p.summary {
		if err := list.addSummary(p.fillSummary); err != nil {
			return err
		}
	}
	return list.close()
}

func (p *printing) fillSummary(r *record) {
	r.string("id", p.conv.ID.String())
	r.optional("title", p.conv.Metadata.Title)
	r.int("turns", p.turns)
	if p.first <= p.last {
		r.int("first_turn", p.first)
		r.int("last_turn", p.last)
	} else {
		r.null("first_turn")
		r.null("last_turn")
	}
	r.bool("archived", p.conv.Archived)
	r.bool("hidden", p.conv.Metadata.Hidden)
	r.time("created_at", p.conv.ID.Created())
	if p.damage != nil {
		r.string("damaged", p.damage.Error())
	} else {
		r.null("damaged")
	}
}

// lastCompacted returns the last turn, counted from 1, that a compaction covers;
// 0 when there is none.
func lastCompacted(data []byte) int {
	last := 0
	scanner := transcript.NewScanner(data)
	for scanner.Next() {
		e := scanner.Event()
		if e.Kind != transcript.KindCompaction {
			continue
		}
		// The bounds on disk count from 0 and include the last turn. One that
		// cannot be read covers nothing.
		var c struct {
			ToTurn *int `json:"to_turn"`
		}
		if err := json.Unmarshal(e.Raw(), &c); err == nil && c.ToTurn != nil {
			last = max(last, *c.ToTurn+1)
		}
	}
	return last
}
