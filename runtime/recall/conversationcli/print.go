package conversationcli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// printOptions is the command line of print.
type printOptions struct {
	turns      turnOptions
	style      string
	noMetadata bool
	maxText    int
}

func (c *commands) printCommand() *cobra.Command {
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
			args, err := opts.turns.takeCounts(args)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeIDs(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := opts.turns.takeCounts(args)
			if err != nil {
				return err
			}
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
	cli.Rare(flags, "max-text", "no-metadata")
	c.completeFlags(cmd, map[string][]string{"style": printStyles()})
	return cmd
}

// printStyles returns the values of --style.
func printStyles() []string { return []string{"user", "chat", "brief", "full"} }

func (c *commands) print(ctx context.Context, cmd *cobra.Command, opts printOptions, args []string) error {
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
	turns, err := opts.turns.parse(cmd.Flags())
	if err != nil {
		return err
	}
	ids, err := c.parseIDs(args, "")
	if err != nil {
		return err
	}
	if len(ids) > 1 {
		return usageError("print takes one id", "standard input holds %d ids", len(ids))
	}
	source, err := c.open()
	if err != nil {
		return err
	}
	p := &printing{commands: c, opts: opts, format: f, out: newOutput(c.host.Stdout)}
	q := conversations.ReadQuery{Turns: turns.Turns, Kinds: p.shows, NoText: f.json, Event: p.text}
	if len(ids) > 0 {
		q.ID = ids[0]
	}
	if f.json {
		p.array = c.newArray(p.out, f)
		q.Event = p.json
	}
	none := !f.json && turns.none()
	if none {
		q.Event = nil
	}
	said := false
	q.Opened = func(r *conversations.Reading) error {
		said = true
		p.opened(r, len(ids) > 0)
		return nil
	}
	r, err := source.Read(ctx, q)
	if !said {
		p.opened(&r, len(ids) > 0)
	}
	var turn *conversations.TurnRangeError
	if errors.As(err, &turn) {
		return turns.outOfRange(turn)
	}
	if err != nil {
		return sourceFailure(err, ids)
	}
	if none {
		c.note("no turns were asked for: --last and --first take how many turns to print")
		return nil
	}
	return p.finish(&r)
}

// printing is a conversation being printed.
type printing struct {
	*commands
	opts   printOptions
	format format
	out    output
	array  *array // nil for text output
	any    bool   // an event was printed as text
	buf    []byte
	body   []byte
}

// opened writes what is to be known of a conversation before it is printed.
func (p *printing) opened(r *conversations.Reading, named bool) {
	p.warnOf(r.Aside.Problems, named)
	if r.ID != "" && !named {
		p.note("printing %s, the conversation activated last", r.ID)
	}
	if r.Damage != nil && r.Damage.Kind == conversations.DamagedEvents {
		p.warn("%s: events.json is damaged, events before the damage are printed: %v", r.ID, r.Damage.Err)
	}
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
	return p.array.add(p.buf)
}

// finish ends the output.
func (p *printing) finish(r *conversations.Reading) error {
	switch {
	case p.array == nil && !p.any:
		p.note("nothing to print: %s has %d turns, and style %s shows none of the selected events", r.ID, r.Turns, p.style())
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
	r.string("id", string(read.ID))
	r.optional("title", read.Title)
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
