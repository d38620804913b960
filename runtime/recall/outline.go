package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on outlines, in characters.
const (
	maxBeginning = 120      // of a request, shown
	maxScanned   = 64 << 10 // of a request, looked at to find how it begins: a question may be behind a paste
)

// outline is the requests of one conversation, in order, or the first and the last of them.
type outline struct {
	requests []conversation.ListRequest
	left     int  // requests that are left out
	before   int  // index of the request that those stand before
	unread   bool // the conversation could not be read
}

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	r := newReading(contract.Call{}, conversation.ReadParams{})
	r.ahead = 0
	err := r.collect(ctx, source, conversations.ReadQuery{
		ID: id, Kinds: func(kind transcript.Kind) bool { return kind == transcript.KindUser || isSaid(kind) },
	})
	return outlineOf(r.events), err
}

// outlineOf is the outline of some events, all requests and answers among them. A request that the
// next one came before an answer to has the last answer of its turn.
func outlineOf(events []event) (o outline) {
	var answer, last event // the one before the next request, and that of the turn
	for _, e := range slices.Backward(events) {
		switch {
		case e.isAnswer:
			if answer = e; last.turn != e.turn {
				last = e
			}
		case e.kind == transcript.KindUser:
			r := conversation.ListRequest{Turn: e.turn, Event: e.shown.Event, Chars: e.chars, Text: e.begins}
			if !e.at.IsZero() {
				r.Day = e.at.UTC().Format(time.DateOnly)
			}
			if answer.turn != e.turn {
				answer = last
			}
			if answer.turn == e.turn {
				r.Answer, r.AnswerChars = answer.shown.Event, answer.chars
			}
			o.requests = append(o.requests, r)
			answer = event{}
		}
	}
	slices.Reverse(o.requests)
	return o
}

// answerTo is the event of the answer to a request; 0 for none.
func (o *outline) answerTo(number int) int {
	for i := range o.requests {
		if o.requests[i].Event == number {
			return o.requests[i].Answer
		}
	}
	return 0
}

// rows are the requests as the envelope shows them, with so many characters of each: without what
// is as in the row before, and what is not worth saying of an answer.
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

// without is the whole outline without the n requests that are nearest to its middle.
func (o *outline) without(n int) outline {
	from := (len(o.requests) - n + 1) / 2
	return outline{requests: slices.Concat(o.requests[:from], o.requests[from+n:]), left: n, before: from}
}

// beginning is how a request begins: one line of at most maxBeginning characters, made visible,
// in which the lines of the prose are joined. Code, quotations, tables, elements and headings
// are left out of it, before the prose without a mark and inside as "…"; a request that has no
// prose begins with them.
func beginning(said string) string {
	rest := said[:min(len(said), maxScanned)]
	var prose, others []string
	end, isWrapped := "", false // what ends the block that is open, and whether the line before is prose
	for line := range strings.Lines(rest) {
		rest = rest[len(line):]
		bare := strings.TrimSpace(line)
		if end != "" {
			if strings.HasPrefix(bare, end) || end[0] == '<' && strings.HasSuffix(bare, end) {
				end = ""
			} else {
				others = append(others, bare)
			}
			continue
		}
		if end = opens(bare, rest); end == "" && !isAside(line, bare, isWrapped) {
			if isWrapped = bare != ""; isWrapped {
				prose = append(prose, bare)
			}
			continue
		}
		if isWrapped = false; len(prose) > 0 && prose[len(prose)-1] != "…" {
			prose = append(prose, "…")
		}
		if end == "" {
			others = append(others, strings.TrimLeft(bare, "#>|- "))
		}
	}
	shown := strings.TrimSuffix(oneLine(strings.Join(prose, " ")), " …")
	return text.Cut(cmp.Or(shown, oneLine(strings.Join(others, " ")), oneLine(said)), maxBeginning)
}

// opens is what ends the block that a line opens: of code, or an element that ends in rest.
func opens(line, rest string) string {
	if fence := fenceOf(line); fence != "" {
		return fence
	}
	if !strings.HasPrefix(line, "<") || !strings.HasSuffix(line, ">") {
		return ""
	}
	name := line[1:strings.IndexAny(line, " >")]
	if end := "</" + name + ">"; !strings.HasSuffix(line, end) && strings.Contains(rest, end) {
		return end
	}
	return ""
}

// isAside reports whether a line is no prose. Behind one that is, an indented line goes on with it.
func isAside(line, bare string, isWrapped bool) bool {
	if bare == "" {
		return false
	}
	isIndented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	isRule := len(bare) >= 3 && strings.Trim(bare, "-=*_ ") == ""
	isElement := bare[0] == '<' && bare[len(bare)-1] == '>' && (len(bare) == 1 || strings.Contains(bare, "</") || strings.Count(bare, ">") == 1)
	return strings.ContainsRune("#>|", rune(bare[0])) || isRule || isElement || isIndented && !isWrapped
}

// oneLine makes text visible on one line without runs of spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(text.Line(s), func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}

// outlineChars is how many characters an outline has in a refusal.
const outlineChars = 6000

// refusal says why several turns cannot be returned at once, with numbers that
// work: each call it names was measured, and fits. The outline says where to look.
func (r *reading) refusal(asked view) error {
	message := fmt.Sprintf("Conversation %s is %s, %s characters", r.ID, text.Count(len(r.turns), "turn", "turns"), short(r.chars))
	if len(r.turns) < r.Turns {
		message = fmt.Sprintf("The last %s of conversation %s are %s characters", text.Count(len(r.turns), "turn", "turns"), r.ID, short(r.chars))
	}
	size := func(v view) string { return short(chars(r.fitted(v))) }
	ways := []string{"event=N", "turn=N", "last=1"} // of which the least important is shortened first
	n := asked.most(r.fits)
	if last := asked.latest(n); n > 1 || n == 1 && chars(r.envelope(last, last.events)) <= usualRead {
		ways[2] = fmt.Sprintf("last=%d (%s)", n, size(last))
	}
	results := []string{"requests", "answers"}
	if slices.ContainsFunc(r.params.Include, func(i string) bool { return !slices.Contains(results, i) }) {
		// Worth naming where it shows more turns.
		all := r.view((*event).isResult)
		more := all.most(r.fits)
		switch last := all.latest(more); {
		case more == len(r.turns) && r.params.Last == nil:
			ways = append(ways, fmt.Sprintf(`include=%s (%s)`, list(results), size(last)))
		case more > n:
			ways = append(ways, fmt.Sprintf(`last=%d, include=%s (%s)`, more, list(results), size(last)))
		}
	}
	return &contract.Error{
		Message: fmt.Sprintf("%s: more than the %d of one answer, even shortened. What fits: %s.\n\nIts requests, with about what reading the turn takes:\n%s",
			message, conversation.ReadMaxChars, strings.Join(ways, "; "), r.outlined(asked)),
		Caller: true, Err: errTooMuch,
	}
}

// outlined is the outline of what is asked for, a request to a line.
func (r *reading) outlined(asked view) string {
	sizes := map[int]int{}
	for i := range asked.events {
		v := view{events: asked.events[i : i+1]}
		sizes[asked.events[i].turn] += v.cost()
	}
	all := outlineOf(r.events)
	rows := func(k int) string {
		o := all.without(k)
		seen := 0
		var rows []string
		for i := range o.requests {
			if o.left > 0 && i == o.before {
				rows = append(rows, fmt.Sprintf("[... %s ...]", text.Count(o.left, "request", "requests")))
			}
			q, size := &o.requests[i], ""
			if cost := sizes[q.Turn]; cost > 0 && q.Turn != seen {
				size = fmt.Sprintf(" (%s)", short(min(cost, conversation.ReadMaxChars)))
			}
			seen = q.Turn
			rows = append(rows, fmt.Sprintf("turn=%d event=%d%s: %s", q.Turn, q.Event, size, q.Text))
		}
		return strings.Join(rows, "\n")
	}
	return rows(sort.Search(len(all.requests), func(k int) bool { return envelope.Chars([]byte(rows(k))) <= outlineChars }))
}

// short writes a size the way people say it: 812, 31k, 1.05M. It rounds up.
func short(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n <= 999_000:
		return fmt.Sprintf("%dk", (n+999)/1000)
	default:
		return fmt.Sprintf("%.2fM", float64((n+9_999)/10_000)/100)
	}
}
