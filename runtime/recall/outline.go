package recall

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on outlines, in characters.
const (
	maxBeginning = 90   // of a request
	outlineChars = 6000 // of an outline in a refusal
	// A longer answer is worth a search in it in place of reading it.
	longAnswer = answerChars
)

// outline is the requests of one conversation, in order.
type outline []conversation.ListRequest

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	isChat := func(kind transcript.Kind) bool {
		return kind == transcript.KindUser || isSaid(kind)
	}
	events, _, err := readEvents(ctx, source, conversations.ReadQuery{ID: id, Kinds: isChat})
	return outlineOf(events), err
}

// outlineOf returns the outline of events, which hold all requests and
// answers. The answer to a request is the next one in its turn.
func outlineOf(events []event) (o outline) {
	var answer event
	for _, e := range slices.Backward(events) {
		if e.isAnswer {
			answer = e
		}
		if e.kind != transcript.KindUser {
			continue
		}
		r := conversation.ListRequest{Turn: e.turn, Event: e.shown.Event, Chars: e.chars, Text: beginning(e.text)}
		if !e.at.IsZero() {
			r.Day = e.at.UTC().Format(time.DateOnly)
		}
		if answer.turn == e.turn {
			r.Answer, r.AnswerChars = answer.shown.Event, answer.chars
		}
		o = append(o, r)
	}
	slices.Reverse(o)
	return o
}

// rows returns the requests as the envelope shows them: the day where it
// changes, the answer where it is not the next event, its size where it is long.
func (o outline) rows() outline {
	rows := slices.Clone(o)
	for i := range rows {
		row := &rows[i]
		if row.AnswerChars <= longAnswer {
			row.AnswerChars = 0
			if row.Answer == row.Event+1 {
				row.Answer = 0
			}
		}
		if i > 0 && row.Day == o[i-1].Day {
			row.Day = ""
		}
	}
	return rows
}

// lines returns the latest requests, a line each, with about how many
// characters a read of their turns returns.
func (o outline) lines(sizes map[int]int) string {
	form := func(omitted int) string {
		var lines []string
		if omitted > 0 {
			lines = append(lines, fmt.Sprintf("[... %s ...]", text.Count(omitted, "request", "requests")))
		}
		for i, r := range o[omitted:] {
			size := ""
			if n := sizes[r.Turn]; n > 0 && (i == 0 || o[omitted+i-1].Turn != r.Turn) {
				size = " (" + short(min(n, conversation.ReadMaxChars)) + ")"
			}
			lines = append(lines, fmt.Sprintf("turn=%d event=%d%s: %s", r.Turn, r.Event, size, r.Text))
		}
		return strings.Join(lines, "\n")
	}
	return form(sort.Search(len(o), func(omitted int) bool { return len(form(omitted)) <= outlineChars }))
}

// beginning returns how a request begins, on one line.
func beginning(said string) string {
	line := strings.ReplaceAll(store.Request(said), "\n", " ")
	return text.Cut(text.Line(line), maxBeginning)
}

// short returns a number of characters in thousands, rounded up.
func short(n int) string { return fmt.Sprintf("%dk", (n+999)/1000) }
