package conversationcli

import (
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
  convtools conversation print --style full --format json jp-c17737387251`,
		Args: cobra.ArbitraryArgs,
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
	flags.StringVarP(&opts.style, "style", "s", "", "how `much`: user, chat, brief (default of text) or full")
	flags.BoolVar(&opts.compacted, "compacted", false, "as JP sends it to a model, with summaries")
	flags.BoolVar(&opts.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	flags.IntVar(&opts.maxText, "max-text", 0, "cut texts of more than `N` characters in the middle in JSON output; 0 means no limit")
	cli.Rare(flags, "max-text", "no-metadata")
	c.addSummary(cmd)
	cli.Rare(flags, "summary")
	c.completeFlags(cmd, map[string][]string{"style": printStyles()})
	return cmd
}

// printStyles returns the values of --style.
func printStyles() []string { return []string{"user", "chat", "brief", "full"} }

func (c *commands) print(ctx context.Context, cmd *cobra.Command, opts printOptions, args []string) error {
	f := format{markdown: c.format == markdownFormat}
	if !f.markdown {
		var err error
		if f, err = c.resolveFormat(); err != nil {
			return err
		}
	} else if c.summary {
		return usageError("add --format=json", "--summary is an element of JSON output")
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
	turns, err := opts.turns.parse(cmd.Flags())
	if err != nil {
		return err
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
	p := &printing{commands: c, opts: opts, turns: turns, format: f, out: newOutput(c.host.Stdout), several: len(ids) > 1}
	if f.json {
		p.array = c.newArray(p.out, f)
	}
	p.links = c.links(ctx, f)
	defer p.links.close()
	if len(ids) == 0 {
		return p.conversation(ctx, source, "")
	}
	if p.several { // nothing is printed where one is not there
		if _, err := source.List(ctx, conversations.ListQuery{Filter: conversations.Filter{IDs: ids}, NoEvents: true}); err != nil {
			return sourceFailure(err, ids)
		}
	}
	for _, id := range ids {
		if err := p.conversation(ctx, source, id); err != nil {
			return err
		}
	}
	if p.several && f.json {
		return p.array.close()
	}
	return p.out.flush()
}

// conversation prints a conversation; without an id the one that was activated
// last.
func (p *printing) conversation(ctx context.Context, source conversations.Source, id string) error {
	q := conversations.ReadQuery{ID: id, Turns: p.turns.Turns, Kinds: p.shows, NoText: p.format.json, Event: p.text}
	switch {
	case p.format.json:
		q.Event = p.json
	case p.format.markdown:
		q.Event = p.markdown
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
	opts    printOptions
	turns   selection
	format  format
	out     output
	array   *array // nil for text output
	links   links
	several bool           // conversations are printed
	any     bool           // an event of this one was printed
	turn    int            // that was printed last, as markdown
	view    *compactedView // nil unless it is asked for
	buf     []byte
	body    []byte
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
	if p.format.markdown {
		return p.out.write(append([]byte(before), markdownTitle(r)...))
	}
	if p.array == nil {
		title := strings.TrimRight(fmt.Sprintf("══ %s ══ %s", p.links.id(r.ID), text.Cell(r.Title)), " ")
		return p.out.write(append(appendRule([]byte(before), title, 0, p.format.colour), '\n'))
	}
	var head record
	head.reset()
	head.about(string(r.ID), r.Title)
	head.key("events")
	if err := p.array.next(); err != nil {
		return err
	}
	return p.array.part(append(head.buf, '['))
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
	if !p.several {
		return p.array.add(p.buf)
	}
	if p.any {
		if err := p.array.part([]byte{','}); err != nil {
			return err
		}
	}
	p.any = true
	return p.array.part(p.buf)
}

// finish ends the output.
func (p *printing) finish(r *conversations.Reading) error {
	switch {
	case p.array != nil && p.several:
		p.any = false
		return p.array.part([]byte("]}"))
	case p.array == nil && !p.any:
		p.note("nothing to print: %s has %s, and style %s shows none of the selected events", r.ID, counted(r.Turns), p.style())
		fallthrough
	case p.array == nil:
		return p.out.flush()
	case p.summary:
		if err := p.array.addSummary(func(s *record) { s.reading(r) }); err != nil {
			return err
		}
	}
	return p.array.close()
}

func (r *record) reading(read *conversations.Reading) {
	r.about(string(read.ID), read.Title)
	r.int("turns", read.Turns)
	r.positive("first_turn", read.FirstTurn)
	r.positive("last_turn", read.LastTurn)
	r.bool("archived", read.Archived)
	r.bool("hidden", read.Hidden)
	r.time("created_at", read.CreatedAt)
	if read.Damage != nil {
		r.string("damaged", read.Damage.Err.Error())
	} else {
		r.null("damaged")
	}
}
