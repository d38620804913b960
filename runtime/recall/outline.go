package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
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
	answer       int       // the event of its answer; 0 for none
	answerChars  int
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
	r := newReading(contract.Call{}, conversation.ReadParams{})
	r.isOutline = true
	err := r.collect(ctx, source, conversations.ReadQuery{
		ID: id, Kinds: func(kind transcript.Kind) bool { return kind == transcript.KindUser || isSaid(kindOf(kind)) },
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
		case e.shown.EventKind == kindUser:
			r := request{number: e.shown.Event, turn: e.turn, at: e.at, chars: e.chars, text: e.begins}
			if answer.turn != e.turn {
				answer = last
			}
			if answer.turn == e.turn {
				r.answer, r.answerChars = answer.shown.Event, answer.chars
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
		if o.requests[i].number == number {
			return o.requests[i].answer
		}
	}
	return 0
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
