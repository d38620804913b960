package conversationcli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// printing is the command line of print, and a conversation being printed.
type printing struct {
	*commands
	turns      turnFlags
	event      int
	style      string
	compacted  bool
	noMetadata bool
	maxText    int

	query   conversations.ReadQuery
	heading string            // the id of the one to be printed, as a link
	several bool              // conversations are printed
	any     bool              // an event of this one was printed
	turn    int               // that was printed last
	events  []json.RawMessage // of this one, where several are printed
	view    *compactedView    // nil unless it is asked for
}

func (c *commands) printCommand() *cobra.Command {
	p := printing{commands: c}
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
		ValidArgsFunction: p.turns.completing(c.completeIDs),
		RunE:              p.print,
	}
	flags := cmd.Flags()
	p.turns.addFlags(flags)
	flags.FuncP("event", "e", "only event `N`, whole, as recall numbers events", number(&p.event, 1, "events are numbered from 1"))
	oneOf(cmd, &p.style, "style", "s", "how `much`: user, chat, brief (default of text) or full", "user", "chat", "brief", "full")
	flags.BoolVar(&p.compacted, "compacted", false, "as JP sends it to a model, with summaries")
	flags.BoolVar(&p.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	flags.Func("max-text", "cut texts of more than `N` characters in the middle in JSON output; 0 means no limit", number(&p.maxText, 0, noLimit))
	c.addSummaryFlag(cmd)
	cli.Rare(flags, "max-text", "no-metadata", "summary")
	return c.paged(cmd)
}

func (p *printing) print(cmd *cobra.Command, args []string) error {
	if !p.out.format.json && (p.maxText > 0 || p.noMetadata) {
		return usageError("add --format=json", "--max-text and --no-metadata are about JSON output")
	}
	p.style = cmp.Or(p.style, map[bool]string{true: "full", false: "brief"}[p.event > 0])
	args, err1 := p.turns.arguments(cmd.Flags(), args)
	turns, err2 := p.turns.selected(cmd.Flags())
	err3 := excluded(cmd.Flags(), "event turn", "event last", "event first", "event from", "event to", "event compacted")
	ids, err4 := p.targets(cmd.Context(), args, "")
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	if p.several = len(ids) > 1; p.several && p.summary {
		return usageError("leave --summary away, or print one conversation", "--summary is about one conversation, and %d are named", len(ids))
	}
	p.query = conversations.ReadQuery{Turns: turns, Events: conversations.EventRange{First: p.event, Last: p.event}, NoText: p.out.format.json, Opened: p.opened}
	if p.several { // nothing is printed where one is not there
		if _, err := p.all(cmd.Context(), conversations.Filter{IDs: ids}); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		ids = []string{""}
	}
	for _, id := range ids {
		if err := p.conversation(cmd, id); err != nil {
			return err
		}
	}
	return nil
}

// conversation prints a conversation; without an id the one that was activated last.
func (p *printing) conversation(cmd *cobra.Command, id string) error {
	source, err := p.open()
	if err != nil {
		return err
	}
	p.heading = p.linked(cmd.Context(), transcript.ID(id))
	q := &p.query
	q.ID, q.Kinds, q.Event = id, p.shows, p.add
	if p.compacted {
		p.view = &compactedView{names: map[string]string{}}
		q.Compaction = p.view.add
		q.Kinds = nil // of a turn that has a summary, any event leads to it
		q.Event = func(e *conversations.Event) error { return p.view.pass(e, p.add) }
	}
	r, err := source.Read(cmd.Context(), *q)
	var turn *conversations.TurnRangeError
	if errors.As(err, &turn) && turn.Turn > turn.Turns && (cmd.Flags().Changed("from") || cmd.Flags().Changed("to")) {
		err = p.opened(&r) // as JP has it: nothing
	}
	if err != nil {
		return err
	}
	switch {
	case p.out.format.json && p.several:
		p.out.add("", about(r.ID, r.Title, "events", p.events))
	case p.summary:
		p.out.add("", object{"summary", about(r.ID, r.Title, "turns", r.Turns, "first_turn", orNull(r.FirstTurn), "last_turn", orNull(r.LastTurn),
			"archived", r.Archived, "hidden", r.Hidden, "created_at", r.CreatedAt, "damaged", r.Damage)})
	case p.any || p.out.format.json:
	case q.Turns.First == (conversations.Bound{Kind: conversations.CountBack}) || q.Turns.Last == (conversations.Bound{Kind: conversations.Count}):
		p.note("no turns were asked for: --last and --first take how many turns to print")
	default:
		p.note("nothing to print: %s has %s, and style %s shows none of the selected events", r.ID, plural(r.Turns, "turn"), p.style)
	}
	return p.out.show()
}

// opened writes what is to be known of a conversation before it is printed.
func (p *printing) opened(r *conversations.Reading) error {
	isNamed := p.query.ID != ""
	p.warnOf(r.Aside.Problems, isNamed)
	if !isNamed {
		p.note("printing %s, the conversation activated last", r.ID)
	}
	if r.Damage != nil && r.Damage.Kind == conversations.DamagedEvents {
		p.warn("%s: events.json is damaged, events before the damage are printed: %v", r.ID, r.Damage.Err)
	}
	if p.view != nil {
		p.view.begin(r.Turns)
	}
	before := map[bool]string{true: "\n", false: ""}[p.any]
	p.any, p.events = false, nil
	switch f := p.out.format; {
	case f.markdown:
		p.out.write(before + markdownTitle(r))
	case p.several && !f.json:
		title := strings.TrimRight(fmt.Sprintf("══ %s ══ %s", p.heading, text.Cell(r.Title)), " ")
		p.out.write(before + rule(title, 0, f) + "\n")
	}
	return p.out.err
}

// shows reports whether the style shows events of a kind.
func (p *printing) shows(kind transcript.Kind) bool {
	switch p.style {
	case "user":
		return kind == transcript.KindUser
	case "chat":
		return slices.Contains([]transcript.Kind{transcript.KindUser, transcript.KindAssistant, transcript.KindStructured}, kind)
	}
	return true
}

// add prints an event.
func (p *printing) add(e *conversations.Event) error {
	role := p.role(e)
	switch {
	case !p.shows(e.Kind):
		return nil
	case p.out.format.json:
		written := json.RawMessage(e.AppendJSON(nil, transcript.JSONOptions{Turn: true, OmitMetadata: p.noMetadata, MaxText: p.maxText}))
		if p.several {
			p.events = append(p.events, written)
		} else {
			p.out.add("", written)
		}
	case role == "":
		return nil
	default:
		body := text.Visible(p.body(e))
		shown := p.head(e, role) + withLineEnd(body)
		if p.out.format.markdown {
			shown = p.markdownHead(e, role) + markdownBody(e, body)
		}
		p.out.write(map[bool]string{true: "\n", false: ""}[p.any] + shown)
	}
	p.any, p.turn = true, e.Turn
	return p.out.err
}

func withLineEnd(body string) string {
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return body
}
