package conversationcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/web/document"
)

// printing is the command line of print, and the conversation that is being printed.
type printing struct {
	*commands
	counts
	turns      func(of int) (first, last int) // nil for all
	events     conversations.EventRange
	event      int // must exist; 0 for none
	style      string
	noMetadata bool

	document bool                  // one file in HTML or Markdown is written
	shown    []conversations.Event // of the document

	several bool              // there are several conversations
	any     bool              // an event of the current conversation was printed
	written []json.RawMessage // events of the current conversation, if there are several
}

// printCommand returns "conversation print", which prints conversations, some of their turns, or one event.
func (c *commands) printCommand() *cobra.Command {
	p := printing{commands: c}
	cmd := c.newCommand("print [ID]…", "p", "Print conversations, or some turns of them",
		`Prints conversations, or some turns of them. Without an ID it is the active one,
or the one that was activated last.

JSON for one conversation is an array of its events; for several it is an array
of objects with the id, the title and the events of each. HTML and Markdown are
one file to send: it loads nothing, recorded text in it stays text, and secrets
are left out.`,
		"conversation print --last", "conversation print --turn 2..3 jp-c17737387251",
		"conversation print --event 17 --format json jp-c17737387251", "conversation print --format html jp-c17737387251 >talk.html")
	flags := cmd.Flags()
	anyOf(cmd, flags, "format", "F", "`format`", append(formats(), "html", "markdown"), func(format string) { c.format = format })
	flags.Func("turn", "only turn `N`, or turns A..B, A.. or ..B, counted from 1", p.parseTurns)
	p.addCounts(flags, "", "")
	event := flags.UintP("event", "e", 0, "only event `N`, whole, as recall numbers events from 1")
	oneOf(cmd, &p.style, "style", "s", "how `much` (brief for text)", "user", "chat", "brief", "full")
	secrets := "hide"
	oneOf(cmd, &secrets, "secrets", "", "`how` HTML and Markdown have secrets", "hide", "show")
	flags.BoolVar(&p.noMetadata, "no-metadata", false, "leave the metadata of events out of JSON output")
	return c.reading(cmd, func(ctx context.Context, args []string) error {
		if flags.Changed("event") && *event == 0 {
			return misused("events are numbered from 1", "there is no event 0")
		}
		args = p.takeCounts(flags, args)
		p.document = c.format == "html" || c.format == "markdown"
		if flags.Changed("secrets") && !p.document {
			return misused("only HTML and Markdown leave secrets out", "--secrets is for a file to send")
		}
		c.hideSecrets = p.document && secrets == "hide"
		p.style = cmp.Or(p.style, either(*event > 0 || p.document, "full", "brief"))
		p.events = conversations.EventRange{First: int(*event), Last: int(*event)} // without --event zero, which selects all
		if p.last != nil {
			p.turns = func(of int) (first, last int) { return max(of-*p.last+1, 1), of }
		}
		if p.first != nil {
			p.turns = func(of int) (first, last int) { return 1, min(*p.first, of) }
		}
		return p.print(ctx, args)
	}, "turn last first", "event turn", "event last", "event first") // groups of flags that exclude each other
}

// messageCommand returns "search show", which prints events of a conversation of any project.
func (c *commands) messageCommand() *cobra.Command {
	p := printing{commands: c, style: "full"}
	cmd := paged(c.newCommand("show ID EVENT", "", "Print one message, whole",
		"Prints the message with the id and the event that search prints, whole.", "search show jp-c17737387251 16 --before 2"))
	cmd.Args = cobra.RangeArgs(1, 2) // ID:EVENT too
	before := cmd.Flags().Uint32("before", 0, "print `N` messages before it too")
	after := cmd.Flags().Uint32("after", 0, "print `N` messages after it too")
	return c.command(cmd, func(ctx context.Context, args []string) error {
		id, event, _ := strings.Cut(strings.Join(args, ":"), ":")
		n, err := strconv.ParseUint(event, 10, 31)
		if err != nil || n == 0 {
			return misused("write the id and the event as search prints them, such as jp-c17648402467:12", "there is no event %q", event)
		}
		p.event = int(n)
		p.events = conversations.EventRange{First: max(p.event-int(*before), 1), Last: p.event + int(*after)}
		return p.print(ctx, []string{id})
	})
}

// parseTurns sets p.turns to return the first and the last turn that --turn=N, A..B, A.., ..B or .. selects.
func (p *printing) parseTurns(given string) error {
	from, to, isRange := strings.Cut(given, "..")
	if isRange {
		from = cmp.Or(from, "1")
	} else {
		to = from
	}
	first, errFirst := strconv.ParseUint(from, 10, 31)
	last, errLast := strconv.ParseUint(cmp.Or(to, from), 10, 31)
	if first > last { // or last is not a number, and thus 0
		return errors.New("it ends before it begins")
	}
	p.turns = func(turns int) (int, int) {
		if to == "" { // to the last turn; if there is no turn A, only turn A, which is an error when it is read
			return int(first), max(int(first), turns)
		}
		return int(first), int(last)
	}
	return cmp.Or(errFirst, errLast)
}

// counts has the flags --last and --first, which count turns: --last, --last=3 or --last 3.
type counts struct {
	last, first *int
	bare        []*int // of flags without a number in the same word: an argument may be the number
}

// addCounts defines the flags --last and --first. The parameters are the letters of their short forms; "" for none. A
// flag without a number counts as 1, until takeCounts finds its number in the next argument.
func (c *counts) addCounts(flags *pflag.FlagSet, last, first string) {
	const bare = "1" // the value of a flag without a number in the same word
	add := func(name, short string, to **int) {
		flags.FuncP(name, short, "only the "+name+" `N` turns", func(given string) error {
			n, err := strconv.ParseUint(given, 10, 31)
			*to = new(int(n))
			if given == bare { // also for --last=1, which cannot be told from --last
				c.bare = append(c.bare, *to)
			}
			return err
		})
		flags.Lookup(name).NoOptDefVal = bare
	}
	add("last", last, &c.last)
	add("first", first, &c.first)
}

// takeCounts sets the values in c.bare, those of the flags without a number, to the numbers among args, in order. It
// returns the other args. A number of more than six digits is an id, and so is any number after "--".
func (c *counts) takeCounts(flags *pflag.FlagSet, args []string) (others []string) {
	dash := flags.ArgsLenAtDash() // the number of arguments before "--"; -1 if there is none
	for i, arg := range args {
		n, err := strconv.Atoi(arg)
		if isID := err != nil || len(arg) > 6 || dash >= 0 && i >= dash; isID || len(c.bare) == 0 {
			others = append(others, arg)
			continue
		}
		*c.bare[0] = n
		c.bare = c.bare[1:]
	}
	return others
}

// print prints the conversations that arguments select, or without arguments the one that was activated last.
func (p *printing) print(ctx context.Context, args []string) error {
	ids, err := p.idsOrRecent(ctx, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		p.note("printing %s, the conversation activated last", ids[0])
	}
	p.several = len(ids) > 1
	if p.several && p.document {
		return misused("print each into a file of its own", "%s is for one conversation", p.format)
	}
	for _, id := range ids {
		r, events, err := p.library.Read(ctx, conversations.ReadQuery{ID: id, Turns: p.turns, Events: p.events, Kinds: p.shows})
		if err == nil {
			err = p.begin(&r)
		}
		if err != nil {
			return err
		}
		for e := range events {
			if err := p.add(e); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.document:
			p.out.keep(p.write(&r))
		case p.out.json && p.several:
			p.out.add("", about(r.ID, r.Title, "events", p.written))
		case !p.any && !p.out.json:
			p.note("nothing to print: %s has %s, and style %s shows none of the selected events", r.ID, plural(r.Turns, "turn"), p.style)
		}
		if err := p.out.flush(); err != nil {
			return err
		}
		if !p.several {
			p.resumeNote(&r.Conversation)
		}
	}
	return nil
}

// begin prepares for printing the events of a conversation: it warns of damage, and if several conversations are
// printed it writes the title. It returns an error if the conversation has no event p.event, or if writing fails.
func (p *printing) begin(r *conversations.Reading) error {
	if p.event > r.Events {
		return &conversations.RangeError{Events: true, N: p.event, Of: r.Events}
	}
	p.warnOf(r.Problems)
	if r.Damage != nil {
		p.warn("%s: events.json is damaged, events before the damage are printed: %v", r.ID, r.Damage.Err)
	}
	if p.any && !p.out.json { // an event of the conversation before was printed
		p.out.write("\n")
	}
	p.any, p.written = false, nil // nothing of this conversation is printed yet
	if p.several && !p.out.json {
		title := strings.TrimRight("══ "+string(r.ID)+" ══ "+text.Cell(r.Title), " ")
		p.out.write(p.out.style(styleDim, title) + "\n\n")
	}
	return p.out.err
}

// shows reports whether the style shows events of a kind. In JSON, brief and full show all kinds.
func (p *printing) shows(kind transcript.Kind) bool {
	shown := []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindStructured, transcript.KindToolCall, transcript.KindToolResult,
		transcript.KindReasoning, transcript.KindInquiry, transcript.KindInquiryResponse, transcript.KindSystem,
	}
	n := map[string]int{"user": 1, "chat": 3, "brief": 5, "full": len(shown)}[p.style] // a style shows the first n kinds
	return slices.Contains(shown[:n], kind) || p.out.json && (p.style == "brief" || p.style == "full")
}

// write writes the document of a conversation with the events that add collected.
func (p *printing) write(of *conversations.Reading) error {
	r := document.NewRenderer()
	r.Dir = of.Dir
	if p.format == "html" {
		return r.WriteHTML(p.out.to, of, p.shown)
	}
	return r.WriteMarkdown(p.out.to, of, p.shown)
}

// add prints an event. For a document, and for several conversations in JSON, it collects the event instead.
func (p *printing) add(e *conversations.Event) error {
	if p.document {
		p.shown = append(p.shown, *e)
		return nil
	}
	if !p.out.json {
		body := text.Visible(p.body(e))
		end := either(body == "" || strings.HasSuffix(body, "\n"), "", "\n")
		p.out.write(either(p.any, "\n", "") + p.head(e) + body + end)
		p.any = true
		return p.out.err
	}
	written := json.RawMessage(eventtext.AppendJSON(nil, &e.Event, !p.noMetadata))
	if p.several {
		p.written = append(p.written, written)
	} else {
		p.out.add("", written)
	}
	return p.out.err
}

// roleOf returns the name of the speaker of an event, as a heading has it.
func roleOf(e *conversations.Event) string {
	switch {
	case e.Kind == transcript.KindToolResult && e.Failed:
		return "tool error"
	case e.Kind == transcript.KindInquiryResponse:
		return "answer"
	}
	return strings.ReplaceAll(e.Kind.String(), "_", " ")
}

// head returns the heading of an event: a rule over the width of a terminal, within limits.
func (p *printing) head(e *conversations.Event) string {
	const usual, most = 72, 100
	title := fmt.Sprintf("── %s ── turn %d ──", roleOf(e), e.Turn)
	if !e.Time.IsZero() {
		title += " " + e.Time.Format(fullTime) + " ──"
	}
	width := min(cmp.Or(p.out.width, usual), most)
	title += strings.Repeat("─", max(width-utf8.RuneCountInString(title), 0))
	return p.out.style(styleDim, title) + "\n"
}

// Limits of tool calls and results in style brief.
const (
	briefLines = 10
	briefChars = 200 // of a line
)

// body returns the text of an event as the style shows it. The caller has to make its control characters visible.
func (p *printing) body(e *conversations.Event) string {
	body, isFull := string(e.Body()), p.style == "full"
	switch e.Kind {
	case transcript.KindToolCall:
		if isFull {
			return e.Name + "\n" + body
		}
		return cutChars(strings.Join(strings.Fields(e.Name+" "+either(body == "{}", "", body)), " "))
	case transcript.KindToolResult:
		if len(e.Arguments) > 0 {
			return "" // the result was recorded as JSON, which Arguments has, and not as text
		}
		if !isFull {
			body = brief(body)
		}
		return either(e.Encoding == transcript.Base64, "(stored as base64 that is no text)\n", "") + body
	}
	return body
}

// brief returns the first briefLines lines of a text, each cut by cutChars, and a line that counts the omitted lines.
func brief(body string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(body) {
		if n++; n <= briefLines {
			b.WriteString(cutChars(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	if n > briefLines {
		fmt.Fprintf(&b, "… %d more lines; --style=full prints them\n", n-briefLines)
	}
	return b.String()
}

// cutChars returns the first briefChars characters of a line and, after them, the number of omitted characters.
func cutChars(line string) string {
	first, _, omitted := text.Ends(line, briefChars, 0)
	return first + either(omitted == 0, "", fmt.Sprintf("… %d more characters", omitted))
}
