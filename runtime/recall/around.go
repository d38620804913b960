package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	partChars      = 8000 // of one event in one answer
	defaultAround  = 1
	neighbourChars = 300
	// callReach is how far from a tool call its result is looked for, in events:
	// several calls may be made at once.
	callReach = 16
)

// placed is an event and the turn it is in.
type placed struct {
	event
	turn int
}

// readEvent reads one event, or a part of it, and with the first part its neighbours.
func (r *reading) readEvent(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	number, part, around := *r.params.Event, 1, defaultAround
	if r.params.Part != nil {
		part = *r.params.Part
	}
	if r.params.Around != nil {
		around = *r.params.Around
	}
	var only placed
	var callID string
	parts := 1
	q := conversations.ReadQuery{
		ID: r.params.ID, Events: conversations.EventRange{First: number, Last: number},
		Part: part, MaxText: partChars, MaxJSON: partChars,
		Event: func(e *conversations.Event) error {
			parts = max(1, (e.Chars+partChars-1)/partChars)
			only = placed{newPart(e, kindOf(e.Kind), part, parts), e.Turn}
			callID = e.CallID
			return ctx.Err()
		},
	}
	var err error
	if r.Reading, err = source.Read(ctx, q); err != nil {
		return nil, err
	}
	if part > parts {
		return nil, contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.", number, count(parts, "part", "parts"), partChars, part))
	}
	events := []placed{only}
	if part == 1 && around > 0 {
		if events, err = r.neighbours(ctx, source, only, callID, around); err != nil {
			return nil, err
		}
	}
	return r.fitted(events, number, part, parts), nil
}

// newPart is a part of an event.
func newPart(e *conversations.Event, kind string, part, parts int) event {
	made := newEvent(&conversations.Event{
		Number: e.Number, Request: e.Request, Time: e.Time, Name: e.Name, IsError: e.IsError, Encoding: e.Encoding,
	}, kind)
	made.chars = e.Chars
	switch {
	case parts > 1:
		made.shown.Part, made.shown.Parts, made.shown.Chars = part, parts, e.Chars
		made.body = whole(text.Visible(string(e.Text)))
	case kind == kindToolCall:
		made.body = whole(string(e.Text))
	default:
		made.body = whole(text.Visible(string(e.Text)))
	}
	return made
}

// neighbours returns the event and those around it. The result of a tool call, and
// the call of a result, is one of them also where it is a little farther.
func (r *reading) neighbours(ctx context.Context, source conversations.Source, only placed, callID string, around int) ([]placed, error) {
	number, kind := only.shown.Event, only.shown.EventKind
	other := map[string]string{kindToolCall: kindToolResult, kindToolResult: kindToolCall}[kind]
	if callID == "" {
		other = ""
	}
	reach := around
	if other != "" {
		reach = max(reach, callReach)
	}
	near := func(e *placed) bool {
		return e.shown.Event >= number-around && e.shown.Event <= number+around && includes(r.params.Include, e.shown.EventKind, true)
	}
	var events []placed
	var joined []int // by number
	q := conversations.ReadQuery{
		ID: r.params.ID, Events: conversations.EventRange{First: max(1, number-reach), Last: number + reach},
		MaxText: readAhead, MaxJSON: readAhead,
		Kinds: func(k transcript.Kind) bool {
			name := kindOf(k)
			return name != "" && (name == kind || name == other || includes(r.params.Include, name, true))
		},
		Event: func(e *conversations.Event) error {
			found := placed{newEvent(e, kindOf(e.Kind)).shortened(neighbourChars), e.Turn}
			call := r.calls.match(e, found.shown.EventKind)
			if e.Number == number {
				found = only
			} else if found.shown.EventKind == other && e.CallID == callID {
				joined = append(joined, e.Number)
			}
			found.call = call
			events = append(events, found)
			return ctx.Err()
		},
	}
	if _, err := source.Read(ctx, q); err != nil {
		return nil, err
	}
	partner := 0 // the last such call before a result, the first such result behind a call
	for _, n := range joined {
		if other == kindToolCall && n < number || other == kindToolResult && n > number && partner == 0 {
			partner = n
		}
	}
	return slices.DeleteFunc(events, func(e placed) bool {
		return e.shown.Event != number && e.shown.Event != partner && !near(&e)
	}), nil
}

// fitted is the answer with an event and its neighbours. Where it is too long, these
// are shortened and left out, the farthest first.
func (r *reading) fitted(events []placed, number, part, parts int) *conversation.ReadEnvelope {
	omitted := 0
	for limit := neighbourChars; ; limit /= 2 {
		e := r.aroundEnvelope(events, number, part, parts, omitted)
		if chars(e) <= conversation.ReadMaxChars {
			return e
		}
		switch {
		case limit > neighbourChars/4:
			for i := range events {
				if events[i].shown.Event != number {
					events[i].event = events[i].shortened(limit / 2)
				}
			}
		case len(events) > 1:
			far := 0
			for i := range events {
				if distance(&events[i], number) > distance(&events[far], number) {
					far = i
				}
			}
			events = slices.Delete(events, far, far+1)
			omitted++
		default:
			// Characters that are written longer than they were recorded.
			over := chars(e) - conversation.ReadMaxChars
			events[0].body = events[0].body.shorten(max(events[0].body.length()-max(over/8, 1), maxMark), output())
		}
	}
}

func distance(e *placed, number int) int { return max(e.shown.Event-number, number-e.shown.Event) }

func (r *reading) aroundEnvelope(events []placed, number, part, parts, omitted int) *conversation.ReadEnvelope {
	var turns []turn
	for _, e := range events {
		if len(turns) == 0 || turns[len(turns)-1].number != e.turn {
			turns = append(turns, turn{number: e.turn})
		}
		last := &turns[len(turns)-1]
		last.events = append(last.events, e.event)
	}
	e := r.bare(turns)
	var says []string
	if part < parts {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", number, part+1))
	}
	switch before, after := number > 1, number < r.Events; {
	case before && after:
		says = append(says, fmt.Sprintf("Before: event=%d; after: event=%d (of %d).", number-1, number+1, r.Events))
	case before:
		says = append(says, fmt.Sprintf("Before: event=%d; this is the last event.", number-1))
	case after:
		says = append(says, fmt.Sprintf("After: event=%d (of %d).", number+1, r.Events))
	}
	if len(events) == 1 && events[0].body.isShortened() {
		says = append(says, fmt.Sprintf("Its characters are written longer than they were recorded: the middle does not fit, and conversation_grep with event=%d finds lines of it.", number))
	}
	if omitted > 0 {
		e.Truncated = true
		says = append(says, fmt.Sprintf("%s did not fit.", count(omitted, "neighbour", "neighbours")))
	}
	if len(says) > 0 {
		e.Notes = append(e.Notes, strings.Join(says, " "))
	}
	e.Notes = append(e.Notes, r.damageNotes()...)
	return e
}
