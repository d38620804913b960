package conversationcli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// printing is the command line of print, and a conversation being printed.
type printing struct {
	*commands
	turns      turnFlags
	event      int
	style      string
	noMetadata bool

	several bool              // conversations are printed
	any     bool              // an event of this one was printed
	turn    int               // that was printed last
	events  []json.RawMessage // of this one, where several are printed
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
		RunE: p.print,
	}
	flags := cmd.Flags()
	p.turns.addFlags(flags)
	flags.FuncP("event", "e", "only event `N`, whole, as recall numbers events", number(&p.event, 1, "events are numbered from 1"))
	oneOf(cmd, &p.style, "style", "s", "how `much`: user, chat, brief (default of text) or full", "user", "chat", "brief", "full")
	flags.BoolVar(&p.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	return cmd
}

func (p *printing) print(cmd *cobra.Command, args []string) error {
	if !p.out.format.json && p.noMetadata {
		return usageError("add --format=json", "--no-metadata is about JSON output")
	}
	p.style = cmp.Or(p.style, either(p.event > 0, "full", "brief"))
	args = p.turns.arguments(cmd.Flags(), args)
	err1 := excluded(cmd.Flags(), "turn last first")
	err2 := excluded(cmd.Flags(), "event turn", "event last", "event first")
	ids, err3 := p.targets(cmd.Context(), args, "")
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	source, err := p.open()
	if err != nil {
		return err
	}
	p.several = len(ids) > 1
	if p.several { // nothing is printed where one is not there
		if _, err := p.all(cmd.Context(), conversations.Filter{IDs: ids}); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		ids = []string{""} // the one that was activated last
	}
	for _, id := range ids {
		r, err := source.Read(cmd.Context(), conversations.ReadQuery{
			ID: id, Turns: p.turns.selected, Events: conversations.EventRange{First: p.event, Last: p.event}, Kinds: p.shows,
			Opened: func(r *conversations.Reading) error { return p.opened(r, id != "") }, Event: p.add,
		})
		switch {
		case err != nil:
			return err
		case p.out.format.json && p.several:
			p.out.add("", about(r.ID, r.Title, "events", p.events))
		case !p.any && !p.out.format.json:
			p.note("nothing to print: %s has %s, and style %s shows none of the selected events", r.ID, plural(r.Turns, "turn"), p.style)
		}
		if err := p.out.flush(); err != nil {
			return err
		}
	}
	return nil
}

// opened writes what is to be known of a conversation before it is printed.
func (p *printing) opened(r *conversations.Reading, isNamed bool) error {
	p.warnOf(r.Aside.Problems, isNamed)
	if !isNamed {
		p.note("printing %s, the conversation activated last", r.ID)
	}
	if r.Damage != nil && r.Damage.Kind == conversations.DamagedEvents {
		p.warn("%s: events.json is damaged, events before the damage are printed: %v", r.ID, r.Damage.Err)
	}
	before := either(p.any, "\n", "")
	p.any, p.events = false, nil
	switch f := p.out.format; {
	case f.markdown:
		p.out.write(before + markdownTitle(r))
	case p.several && !f.json:
		title := strings.TrimRight(fmt.Sprintf("══ %s ══ %s", r.ID, text.Cell(r.Title)), " ")
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
		written := json.RawMessage(eventtext.AppendJSON(nil, e.Recorded, transcript.JSONOptions{Turn: true, OmitMetadata: p.noMetadata}))
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
		p.out.write(either(p.any, "\n", "") + shown)
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

// What the style brief shows of tool calls and results.
const (
	briefCallChars  = 200
	briefLines      = 10
	briefLineChars  = 200
	maxRuleWidth    = 100
	defaultRuleSize = 72
)

// head is the heading of an event.
func (p *printing) head(e *conversations.Event, role string) string {
	width := min(cmp.Or(p.host.Width, defaultRuleSize), maxRuleWidth)
	title := fmt.Sprintf("── %s ── turn %d ──", role, e.Turn)
	if !e.Time.IsZero() {
		title += e.Time.Format(" " + fullTime + " ──")
	}
	return rule(title, width, p.out.format)
}

// rule is a heading filled up to a width.
func rule(title string, width int, f format) string {
	title += strings.Repeat("─", max(width-utf8.RuneCountInString(title), 0))
	return f.style(styleDim, title) + "\n"
}

// markdownHead is the headings of an event, and of its turn where that begins.
func (p *printing) markdownHead(e *conversations.Event, role string) string {
	head := "### " + strings.ToUpper(role[:1]) + role[1:]
	if !p.any || p.turn != e.Turn {
		head = fmt.Sprintf("## Turn %d\n\n%s", e.Turn, head)
	}
	if !e.Time.IsZero() {
		head += e.Time.Format(", " + fullTime)
	}
	return head + "\n\n"
}

// markdownBody is the text of an event. What was said is a quotation, and what tools got
// and returned is fenced, so that nothing in them can begin a section of the
// conversation, or keep one from beginning.
func markdownBody(e *conversations.Event, body string) string {
	body = strings.TrimRight(body, "\n")
	switch e.Kind {
	case transcript.KindToolCall, transcript.KindToolResult, transcript.KindStructured:
		return fenced(body)
	}
	return quotation(body)
}

func quotation(said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		b.WriteString(strings.TrimRight("> "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// fenced is a text in a fence that is longer than any in it.
func fenced(said string) string {
	fence := "```"
	for strings.Contains(said, fence) {
		fence += "`"
	}
	return fence + "\n" + withLineEnd(said) + fence + "\n"
}

// markdownTitle is what a conversation begins with.
func markdownTitle(r *conversations.Reading) string {
	escaped := ""
	for _, c := range text.Cell(r.Title) {
		escaped += either(strings.ContainsRune("\\`*_[]<>#&!|~", c), "\\", "") + string(c)
	}
	if escaped == "" {
		return "# " + string(r.ID) + "\n\n"
	}
	return "# " + escaped + " (" + string(r.ID) + ")\n\n"
}

// role names who speaks in an event, or is empty when the style leaves it out.
func (p *printing) role(e *conversations.Event) string {
	switch isFull := p.style == "full"; e.Kind {
	case transcript.KindUser, transcript.KindAssistant, transcript.KindStructured:
		return e.Kind.String()
	case transcript.KindToolCall:
		return "tool call"
	case transcript.KindToolResult:
		return either(e.IsError, "tool error", "tool result")
	case transcript.KindReasoning, transcript.KindInquiry, transcript.KindSystem:
		return either(isFull, e.Kind.String(), "")
	case transcript.KindInquiryResponse:
		return either(isFull, "answer", "")
	}
	return ""
}

// body is the text of an event, which is not safe to show yet.
func (p *printing) body(e *conversations.Event) string {
	said, isFull := string(e.Text), p.style == "full"
	switch {
	case e.Kind == transcript.KindInquiryResponse && !e.JSON && said != "":
		return string(transcript.AppendQuoted(nil, e.Text))
	case e.Kind == transcript.KindInquiryResponse, e.Kind == transcript.KindStructured:
		return said
	case e.Kind == transcript.KindToolCall:
		call := e.Name
		if said != "" && said != "{}" && said != "[]" {
			call += "\n" + said
		}
		if isFull {
			return call
		}
		return cutChars(strings.Join(strings.Fields(call), " "), briefCallChars)
	case e.JSON:
		said = "" // something else was recorded than a text
	case e.Kind == transcript.KindToolResult && !isFull:
		said = brief(said)
	}
	if e.Kind == transcript.KindToolResult && e.Encoding == transcript.Base64 {
		said = "(stored as base64 that is no text)\n" + said
	}
	return said
}

// brief is the first lines of a text, each cut to a length, with how much is left out.
func brief(said string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(said) {
		if n++; n <= briefLines {
			b.WriteString(cutChars(strings.TrimRight(line, "\r\n"), briefLineChars) + "\n")
		}
	}
	if n > briefLines {
		fmt.Fprintf(&b, "… %d more lines; --style=full prints them\n", n-briefLines)
	}
	return b.String()
}

// cutChars is at most n characters of a line, with the number of those left out.
func cutChars(line string, n int) string {
	first, _, omitted := text.Ends(line, n, 0)
	if omitted == 0 {
		return line
	}
	return fmt.Sprintf("%s… %d more characters", first, omitted)
}
