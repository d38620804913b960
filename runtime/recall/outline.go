package recall

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on outlines, in characters.
const (
	maxBeginning = 120      // of a request, shown
	maxScanned   = 64 << 10 // of a request, looked at to find how it begins: a question may be behind a paste
)

// request is a request of the user in an outline.
type request struct {
	number, turn int
	at           time.Time // zero where not known
	chars        int       // of the whole request
	text         string    // how it begins, as by beginning
	answer       int       // the event of the last that the assistant said before the next request; 0 for none
	announces    bool      // it ends as an announcement does
	interrupted  bool      // the next request of the turn came before an answer: it has that of the turn
	answerChars  int       // of it
}

// newRequest makes an entry of an event of the user.
func newRequest(e *conversations.Event) request {
	said := string(e.Text)
	return request{number: e.Number, turn: e.Turn, at: e.Time, chars: utf8.RuneCountInString(said), text: beginning(said)}
}

// outline is the requests of one conversation, in order, or the first and the last of them.
type outline struct {
	requests []request
	left     int  // requests that are left out
	before   int  // index of the request that those stand before
	unread   bool // the conversation could not be read
}

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	var o outline
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID:    id,
		Kinds: func(kind transcript.Kind) bool { return kind == transcript.KindUser || isSaid(kindOf(kind)) },
		Event: func(e *conversations.Event) error {
			if e.Kind == transcript.KindUser {
				o.add(newRequest(e))
			} else if len(strings.TrimSpace(string(e.Text))) > 0 {
				o.answered(e)
			}
			return ctx.Err()
		},
	})
	o.answerInterrupted()
	return o, err
}

// answerTo is the event of the answer to a request; 0 for none.
func (o *outline) answerTo(number int) int {
	for i := range o.requests {
		if o.requests[i].number == number {
			return o.requests[i].answer
		}
	}
	return 0
}

// answerInterrupted gives each interrupted request the last answer in its turn.
func (o *outline) answerInterrupted() {
	var last request // with an answer
	for i := len(o.requests) - 1; i >= 0; i-- {
		switch r := &o.requests[i]; {
		case r.interrupted:
			if r.turn != last.turn {
				continue
			}
			r.answer, r.answerChars = last.answer, last.answerChars
		case r.answer > 0 && r.turn != last.turn:
			last = *r
		}
	}
}

// add adds the next request.
func (o *outline) add(r request) {
	if n := len(o.requests); n > 0 && o.requests[n-1].turn == r.turn && o.requests[n-1].announces {
		before := &o.requests[n-1]
		before.answer, before.answerChars, before.announces, before.interrupted = 0, 0, false, true
	}
	o.requests = append(o.requests, r)
}

// answered adds what the assistant said after the latest request, in the same turn.
func (o *outline) answered(e *conversations.Event) {
	n := len(o.requests)
	if n == 0 || o.requests[n-1].turn != e.Turn {
		return
	}
	last := &o.requests[n-1]
	last.answer, last.answerChars, last.announces = e.Number, utf8.RuneCount(e.Text), isAnnouncement(e.Text)
}

// within is the whole outline with as many requests as cost no more than limit
// together: those nearest to its middle are left out.
func (o *outline) within(limit int, cost func(*request) int) outline {
	total := 0
	for i := range o.requests {
		total += cost(&o.requests[i])
	}
	from := (len(o.requests) + 1) / 2
	to := from
	for total > limit && (from > 0 || to < len(o.requests)) {
		if from > len(o.requests)-to {
			from--
			total -= cost(&o.requests[from])
		} else {
			total -= cost(&o.requests[to])
			to++
		}
	}
	kept := append(o.requests[:from:from], o.requests[to:]...)
	return outline{requests: kept, left: to - from, before: from}
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
