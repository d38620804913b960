package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on outlines, in characters.
const (
	maxBeginning = 120      // of a request, shown
	maxScanned   = 64 << 10 // of a request, looked at for how it begins
	outlineChars = 6000     // of an outline in a refusal
)

// outline is the requests of one conversation, in order, or the first
// and the last of them.
type outline struct {
	requests []conversation.ListRequest
	left     int  // requests that are left out
	before   int  // the index of the request that those are before
	unread   bool // the conversation could not be read
}

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	isChat := func(kind transcript.Kind) bool {
		return kind == transcript.KindUser || isSaid(kind)
	}
	q := conversations.ReadQuery{ID: id, Kinds: isChat}
	events, _, err := readEvents(ctx, source, q, 0)
	return outlineOf(events), err
}

// outlineOf returns the outline of events with all requests and answers
// among them. The answer to a request is the next one in its turn.
func outlineOf(events []event) (o outline) {
	var answer event
	for _, e := range slices.Backward(events) {
		if e.isAnswer {
			answer = e
		}
		if e.kind != transcript.KindUser {
			continue
		}
		r := conversation.ListRequest{
			Turn: e.turn, Event: e.shown.Event, Chars: e.chars, Text: e.begins,
		}
		if !e.at.IsZero() {
			r.Day = e.at.UTC().Format(time.DateOnly)
		}
		if answer.turn == e.turn {
			r.Answer, r.AnswerChars = answer.shown.Event, answer.chars
		}
		o.requests = append(o.requests, r)
	}
	slices.Reverse(o.requests)
	return o
}

// rows returns the requests as the envelope shows them, with so many
// characters of each: without what is as in the row before, and what is
// not worth saying of an answer.
func (o *outline) rows(most int) []conversation.ListRequest {
	rows := slices.Clone(o.requests)
	for i := range rows {
		row := &rows[i]
		row.Text = text.Cut(row.Text, most)
		if row.AnswerChars <= longAnswer {
			row.AnswerChars = 0
			if row.Answer == row.Event+1 {
				row.Answer = 0
			}
		}
		if i > 0 && row.Day == o.requests[i-1].Day {
			row.Day = ""
		}
	}
	return rows
}

// without returns a whole outline without the n requests that are
// nearest to its middle.
func (o *outline) without(n int) outline {
	from := (len(o.requests) - n + 1) / 2
	rest := slices.Concat(o.requests[:from], o.requests[from+n:])
	return outline{requests: rest, left: n, before: from}
}

// lines returns the outline with a request to a line, and with about
// what reading its turn takes. The middle is left out where it is long.
func (o *outline) lines(sizes map[int]int) string {
	form := func(k int) string {
		some := o.without(k)
		var lines []string
		for i, r := range some.requests {
			if k > 0 && i == some.before {
				lines = append(lines, fmt.Sprintf("[... %s ...]", text.Count(k, "request", "requests")))
			}
			size := ""
			if n := sizes[r.Turn]; n > 0 && (i == 0 || some.requests[i-1].Turn != r.Turn) {
				size = " (" + short(min(n, conversation.ReadMaxChars)) + ")"
			}
			lines = append(lines, fmt.Sprintf("turn=%d event=%d%s: %s", r.Turn, r.Event, size, r.Text))
		}
		return strings.Join(lines, "\n")
	}
	return form(sort.Search(len(o.requests), func(k int) bool { return len(form(k)) <= outlineChars }))
}

// beginning returns how a request begins: one line of at most
// maxBeginning characters, made visible, in which the lines of its
// prose are joined. Code, quotations, tables, elements and headings
// inside are "…"; a request that has no prose begins with them.
func beginning(said string) string {
	var prose, others []string
	rest, end := said[:min(len(said), maxScanned)], "" // end is of the block that is open
	for line := range strings.Lines(rest) {
		rest = rest[len(line):]
		line = strings.TrimSpace(line)
		switch opened := opens(line, rest); {
		case end != "" && strings.HasPrefix(line, end):
			end = ""
			continue
		case end == "" && opened != "":
			end = opened
		case end != "" || isAside(line):
			others = append(others, strings.TrimLeft(line, "#>|- "))
		default:
			prose = append(prose, line)
			continue
		}
		if len(prose) > 0 && prose[len(prose)-1] != "…" {
			prose = append(prose, "…")
		}
	}
	shown := strings.TrimSuffix(oneLine(prose...), " …")
	return text.Cut(cmp.Or(shown, oneLine(others...), oneLine(said)), maxBeginning)
}

// opens returns the beginning of the line that ends the block that a
// line opens: of code, or an element that ends in rest. It is empty
// where none is opened.
func opens(line, rest string) string {
	if strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`") {
		return "```"
	}
	name, isElement := strings.CutPrefix(line, "<")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, ">"), " ")
	if end := "</" + name + ">"; isElement && strings.Contains(rest, end) {
		return end
	}
	return ""
}

// isAside reports whether a line, without the space around it, is no
// prose: a heading, a quotation, a row of a table, a rule, or an element.
func isAside(line string) bool {
	isRule := len(line) >= 3 && strings.Trim(line, "-=*_ ") == ""
	isElement := strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">")
	return isRule || isElement || line != "" && strings.ContainsRune("#>|", rune(line[0]))
}

// oneLine makes lines visible as one, without runs of spaces.
func oneLine(lines ...string) string {
	words := strings.Fields(text.Line(strings.Join(lines, " ")))
	return strings.Join(words, " ")
}

// short writes a size the way people say it: 812, 31k, 1.05M. It rounds
// up.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n <= 999_000:
		return fmt.Sprintf("%dk", (n+999)/1000)
	default:
		return fmt.Sprintf("%.2fM", math.Ceil(float64(n)/10_000)/100)
	}
}
