package recall

import (
	"context"
	"errors"
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

// errEnough ends a reading that has all it is for.
var errEnough = errors.New("enough is read")

// neighbours returns the event and those around it. What an event is for is one of
// them also where it is farther: the result of a tool call, the call of a result, and
// the answer to a request, of which more is shown.
func (r *reading) neighbours(ctx context.Context, source conversations.Source, only placed, callID string, around int) ([]placed, error) {
	number, kind := only.shown.Event, only.shown.EventKind
	other := map[string]string{kindToolCall: kindToolResult, kindToolResult: kindToolCall}[kind]
	if callID == "" {
		other = ""
	}
	reach := around
	if other != "" {
		reach = max(around, callReach)
	}
	last := number + reach
	if kind == kindUser {
		last = 0 // its answer may be any number of events behind it
	}
	near := func(e *conversations.Event, name string) bool {
		return e.Number >= number-around && e.Number <= number+around && includes(r.params.Include, name, true)
	}
	var events []placed
	var joined []int // events with the same call, by number
	var answer *placed
	ended := kind != kindUser // no answer can follow
	q := conversations.ReadQuery{
		ID: r.params.ID, Events: conversations.EventRange{First: max(1, number-reach), Last: last},
		MaxText: readAhead, MaxJSON: readAhead,
		Kinds: func(k transcript.Kind) bool {
			name := kindOf(k)
			return name != "" && (name == kind || name == other || includes(r.params.Include, name, true) || kind == kindUser && isSaid(name))
		},
		Event: func(e *conversations.Event) error {
			name := kindOf(e.Kind)
			call := r.calls.match(e, name)
			found := func(limit int) placed {
				made := placed{newEvent(e, name).shortened(limit), e.Turn}
				made.call = call
				return made
			}
			if e.Number > number && (name == kindUser || e.Turn != only.turn) {
				ended = true
			}
			switch {
			case e.Number == number:
				only.call = call
				events = append(events, only)
			case !ended && e.Number > number && isSaid(name):
				if said := found(maxText); !said.isBlank() {
					answer = &said
				}
				if near(e, name) {
					events = append(events, found(neighbourChars))
				}
			case name == other && e.CallID == callID:
				joined = append(joined, e.Number)
				events = append(events, found(neighbourChars))
			case near(e, name):
				events = append(events, found(neighbourChars))
			case ended && e.Number > number+around && kind == kindUser:
				return errEnough
			}
			return ctx.Err()
		},
	}
	if _, err := source.Read(ctx, q); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	partner := 0 // the last such call before a result, the first such result behind a call
	for _, n := range joined {
		if other == kindToolCall && n < number || other == kindToolResult && n > number && partner == 0 {
			partner = n
		}
	}
	events = slices.DeleteFunc(events, func(e placed) bool {
		return answer != nil && e.shown.Event == answer.shown.Event ||
			slices.Contains(joined, e.shown.Event) && e.shown.Event != partner && distance(&e, number) > around
	})
	if answer != nil {
		events = append(events, *answer)
		slices.SortFunc(events, func(a, b placed) int { return byNumber(a.event, b.event) })
	}
	return events, nil
}

// fitted is the answer with an event and its neighbours. Where it is too long, these
// are shortened and left out, the farthest first.
func (r *reading) fitted(events []placed, number, part, parts int) *conversation.ReadEnvelope {
	omitted := 0
	for limit := 2 * neighbourChars; ; limit /= 2 {
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
