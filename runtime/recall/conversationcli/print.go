package conversationcli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// printOptions is the command line of print.
type printOptions struct {
	turns      turnOptions
	event      int
	style      string
	compacted  bool
	noMetadata bool
	maxText    int
}

func (c *commands) printCommand() *cobra.Command {
	var opts printOptions
	cmd := &cobra.Command{
		Use:     "print [ID]…",
		Aliases: []string{"p"},
		Short:   "Print conversations, or some turns of them",
		Long: `Prints conversations, or some turns of them. Without an ID it is the one that
was activated last.

As JSON, one is an array of its events, and several are an array of objects with
the id, the title and the events of each. --format=markdown writes markdown, in
which what was said is quoted.

` + targetsHelp,
		Example: `  convtools conversation print --last
  convtools conversation print --turn 2..3 jp-c17737387251
  convtools conversation print --event 17 --format json jp-c17737387251`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return opts.turns.complete(cmd, args, word, c.completeIDs)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := opts.turns.takeCounts(args)
			if err != nil {
				return err
			}
			return c.print(cmd.Context(), cmd, opts, args)
		},
	}
	flags := cmd.Flags()
	opts.turns.addFlags(flags)
	flags.IntVarP(&opts.event, "event", "e", 0, "only event `N`, whole, as recall numbers events")
	flags.StringVarP(&opts.style, "style", "s", "", "how `much`: user, chat, brief (default of text) or full")
	flags.BoolVar(&opts.compacted, "compacted", false, "as JP sends it to a model, with summaries")
	flags.BoolVar(&opts.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	flags.IntVar(&opts.maxText, "max-text", 0, "cut texts of more than `N` characters in the middle in JSON output; 0 means no limit")
	cli.Rare(flags, "max-text", "no-metadata")
	c.addSummaryFlag(cmd)
	cli.Rare(flags, "summary")
	c.completeFlags(cmd, map[string][]string{"style": printStyles()})
	return cmd
}

// printStyles returns the values of --style.
func printStyles() []string { return []string{"user", "chat", "brief", "full"} }

func (c *commands) print(ctx context.Context, cmd *cobra.Command, opts printOptions, args []string) error {
	f, err := c.printFormat()
	if err != nil {
		return err
	}
	isOne := cmd.Flags().Changed("event")
	usual := "brief"
	if isOne {
		usual = "full"
	}
	opts.style = cmp.Or(opts.style, usual)
	if err := cmp.Or(oneOf("style", opts.style, printStyles()...), notNegative("max-text", opts.maxText)); err != nil {
		return err
	}
	if !f.json && (opts.maxText > 0 || opts.noMetadata) {
		return usageError("add --format=json", "--max-text and --no-metadata are about JSON output")
	}
	turns, err := opts.turns.parse(cmd.Flags())
	if err != nil {
		return err
	}
	switch {
	case isOne && opts.event < 1:
		return usageError("events are numbered from 1", "--event cannot be %d", opts.event)
	case isOne && (turns != selection{} || opts.compacted):
		return usageError("give --event alone", "--event excludes --turn, --last, --first, --from, --to and --compacted")
	}
	ids, err := c.targets(ctx, args, "")
	if err != nil {
		return err
	}
	if len(ids) > 1 && c.summary {
		return usageError("leave --summary away, or print one conversation", "--summary is about one conversation, and %d are named", len(ids))
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	p := &printing{commands: c, results: c.newResults(f), opts: opts, turns: turns, several: len(ids) > 1}
	p.links = c.links(ctx, f)
	defer p.links.close()
	if len(ids) == 0 {
		ids = []string{""}
	}
	if p.several { // nothing is printed where one is not there
		if _, err := c.all(ctx, conversations.Filter{IDs: ids}); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := p.conversation(ctx, source, id); err != nil {
			return err
		}
	}
	return p.close()
}

// conversation prints a conversation; without an id the one that was activated
// last.
func (p *printing) conversation(ctx context.Context, source conversations.Source, id string) error {
	q := conversations.ReadQuery{ID: id, Turns: p.turns.Turns, Kinds: p.shows, NoText: p.format.json, Event: p.text}
	if p.opts.event > 0 {
		q.Events = conversations.EventRange{First: p.opts.event, Last: p.opts.event}
	}
	if p.format.json {
		q.Event = p.json
	}
	if p.opts.compacted {
		p.view = &compactedView{names: map[string]string{}}
		to := q.Event
		q.Compaction = p.view.add
		q.Kinds = nil // of a turn that has a summary, any event leads to it
		q.Event = func(e *conversations.Event) error {
			return p.view.pass(e, func(e *conversations.Event) error {
				if !p.shows(e.Kind) {
					return nil
				}
				return to(e)
			})
		}
	}
	none := !p.format.json && p.turns.none()
	if none {
		q.Event = nil
	}
	said := false
	opened := func(r *conversations.Reading) error {
		if said {
			return nil
		}
		said = true
		if p.view != nil {
			p.view.begin(r.Turns)
		}
		return p.opened(r, id != "")
	}
	q.Opened = opened
	r, err := source.Read(ctx, q)
	var turn *conversations.TurnRangeError
	beyond := errors.As(err, &turn) && p.turns.between && turn.Turn > turn.Turns
	if beyond {
		err = nil // as JP has it: nothing
	}
	if err == nil || !said {
		if failed := opened(&r); failed != nil {
			return failed
		}
	}
	if errors.As(err, &turn) {
		return p.turns.outOfRange(turn)
	}
	var event *conversations.EventRangeError
	if errors.As(err, &event) {
		return failedHint("recall shows the numbers of events", "event %d out of range (conversation has %s)", event.Number, plural(event.Events, "event"))
	}
	if err != nil {
		var ids []string
		if id != "" {
			ids = []string{id}
		}
		return sourceFailure(err, ids)
	}
	if none {
		p.note("no turns were asked for: --last and --first take how many turns to print")
		return nil
	}
	return p.finish(&r)
}

// printing is a conversation being printed.
type printing struct {
	*commands
	*results
	opts    printOptions
	turns   selection
	links   links
	several bool           // conversations are printed
	any     bool           // an event of this one was printed
	turn    int            // that was printed last
	view    *compactedView // nil unless it is asked for
	buf     []byte
}

// opened writes what is to be known of a conversation before it is printed.
func (p *printing) opened(r *conversations.Reading, named bool) error {
	p.warnOf(r.Aside.Problems, named)
	if r.ID != "" && !named {
		p.note("printing %s, the conversation activated last", r.ID)
	}
	if r.Damage != nil && r.Damage.Kind == conversations.DamagedEvents {
		p.warn("%s: events.json is damaged, events before the damage are printed: %v", r.ID, r.Damage.Err)
	}
	if r.ID == "" || !p.several && !p.format.markdown {
		return nil
	}
	before := ""
	if p.any {
		before = "\n"
	}
	p.any = false
	switch {
	case p.format.markdown:
		p.write([]byte(before + markdownTitle(r)))
	case p.format.json:
		p.begin()
		head := appendValue(nil, about(r.ID, r.Title, "events", []object(nil)))
		p.part(bytes.TrimSuffix(head, []byte("]}")))
	default:
		title := strings.TrimRight(fmt.Sprintf("══ %s ══ %s", p.links.id(r.ID), text.Cell(r.Title)), " ")
		p.write([]byte(before + rule(title, 0, p.format) + "\n"))
	}
	return p.err
}

// shows reports whether the style shows events of a kind.
func (p *printing) shows(kind transcript.Kind) bool {
	switch p.opts.style {
	case "user":
		return kind == transcript.KindUser
	case "chat":
		return kind == transcript.KindUser || kind == transcript.KindAssistant || kind == transcript.KindStructured
	}
	return true
}

func (p *printing) json(e *conversations.Event) error {
	p.buf = e.AppendJSON(p.buf[:0], transcript.JSONOptions{Turn: true, OmitMetadata: p.opts.noMetadata, MaxText: p.opts.maxText})
	switch {
	case !p.several:
		p.element(p.buf)
	case p.any:
		p.part(append([]byte{','}, p.buf...))
	default:
		p.part(p.buf)
	}
	p.any = true
	return p.err
}

// finish ends the output of a conversation.
func (p *printing) finish(r *conversations.Reading) error {
	switch {
	case p.format.json && p.several:
		p.any = false
		p.part([]byte("]}"))
	case p.summary:
		p.add("", object{"summary", readingObject(r)})
	case !p.format.json && !p.any:
		p.note("nothing to print: %s has %s, and style %s shows none of the selected events", r.ID, plural(r.Turns, "turn"), p.opts.style)
	}
	return p.flush()
}

// readingObject is what --summary has of a conversation.
func readingObject(r *conversations.Reading) object {
	return about(r.ID, r.Title, "turns", r.Turns, "first_turn", orNull(r.FirstTurn), "last_turn", orNull(r.LastTurn),
		"archived", r.Archived, "hidden", r.Hidden, "created_at", r.CreatedAt, "damaged", damageOf(r.Damage))
}

// damageOf is what is wrong with a conversation; nil for nothing.
func damageOf(p *conversations.Problem) any {
	if p == nil {
		return nil
	}
	return p.Err
}
