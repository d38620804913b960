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
	answerChars    = 3000 // of the answer to a request: who reads the one wants the other
	// callReach is how far from a tool call its result is looked for, in events:
	// several calls may be made at once.
	callReach = 16
)

// readEvent reads one event, or a part of it, and with the first part its neighbours.
func (r *reading) readEvent(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	number, part, around := *r.params.Event, 1, defaultAround
	if r.params.Part != nil {
		part = *r.params.Part
	}
	if r.params.Around != nil {
		around = *r.params.Around
	}
	n := neighbours{include: r.params.Include, around: around, calls: toolCalls{}}
	parts := 1
	q := conversations.ReadQuery{
		ID: r.params.ID, Events: conversations.EventRange{First: number, Last: number},
		Part: part, MaxText: partChars, MaxJSON: partChars,
		Event: func(e *conversations.Event) error {
			parts = max(1, (e.Chars+partChars-1)/partChars)
			n.only, n.callID = newPart(e, part, parts), e.CallID
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
	events := []event{n.only}
	if part == 1 && around > 0 {
		if events, err = n.read(ctx, source, r.params.ID); err != nil {
			return nil, err
		}
	}
	return r.fitted(events, number, part, parts), nil
}

// newPart is a part of an event.
func newPart(e *conversations.Event, part, parts int) event {
	kind := kindOf(e.Kind)
	made := newEvent(&conversations.Event{
		Number: e.Number, Turn: e.Turn, Request: e.Request, Time: e.Time, Name: e.Name, IsError: e.IsError, Encoding: e.Encoding,
	}, kind)
	made.chars = e.Chars
	if parts > 1 {
		made.shown.Part, made.shown.Parts, made.shown.Chars = part, parts, e.Chars
	}
	if kind == kindToolCall && parts == 1 {
		made.body = whole(string(e.Text))
	} else {
		made.body = whole(text.Visible(string(e.Text)))
	}
	return made
}

// neighbours are an event and those around it. Its partner is one of them wherever
// it is: the result of a tool call, the call of a result, or the answer to a request.
type neighbours struct {
	include []string
	around  int
	only    event // the event
	callID  string
	calls   toolCalls

	events  []event
	partner *event
}

// errEnough ends a reading that has all it is for.
var errEnough = errors.New("enough is read")

// read returns the events in order.
func (n *neighbours) read(ctx context.Context, source conversations.Source, id string) ([]event, error) {
	number := n.only.shown.Event
	between := conversations.EventRange{First: number - n.around, Last: number + n.around}
	switch {
	case n.only.shown.EventKind == kindUser:
		between.Last = 0 // to the next request
	case n.only.shown.EventKind == kindToolCall && n.callID != "":
		between.Last = number + max(n.around, callReach)
	case n.only.shown.EventKind == kindToolResult && n.callID != "":
		between.First = number - max(n.around, callReach)
	}
	between.First = max(between.First, 1)
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: id, Events: between, MaxText: readAhead, MaxJSON: readAhead,
		Kinds: func(k transcript.Kind) bool {
			kind := kindOf(k)
			return kind == n.only.shown.EventKind || n.mayBePartner(kind) || includes(n.include, kind, true)
		},
		Event: func(e *conversations.Event) error {
			if !n.add(e) {
				return errEnough
			}
			return ctx.Err()
		},
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if n.partner != nil {
		n.events = slices.DeleteFunc(n.events, func(e event) bool { return e.shown.Event == n.partner.shown.Event })
		n.events = append(n.events, *n.partner)
		slices.SortFunc(n.events, byNumber)
	}
	return n.events, nil
}

// mayBePartner reports whether the partner is of a kind.
func (n *neighbours) mayBePartner(kind string) bool {
	switch n.only.shown.EventKind {
	case kindUser:
		return isSaid(kind)
	case kindToolCall:
		return kind == kindToolResult
	case kindToolResult:
		return kind == kindToolCall
	default:
		return false
	}
}

// add takes the next event, and reports whether more are needed.
func (n *neighbours) add(recorded *conversations.Event) bool {
	kind, distance := kindOf(recorded.Kind), recorded.Number-n.only.shown.Event
	call := n.calls.match(recorded, kind)
	if distance == 0 {
		n.only.call = call
		n.events = append(n.events, n.only)
		return true
	}
	isNear := -n.around <= distance && distance <= n.around
	isNextExchange := recorded.Request != n.only.request || recorded.Turn != n.only.turn
	if n.mayBePartner(kind) {
		switch n.only.shown.EventKind {
		case kindUser:
			if e := newEvent(recorded, kind).shortened(answerChars); distance > 0 && !isNextExchange && !e.isBlank() {
				n.partner = &e // the last one
			}
		default:
			isFirst := distance < 0 || n.partner == nil // a result of the call, or the last call before the result
			if (distance > 0) == (kind == kindToolResult) && isFirst && recorded.CallID == n.callID && n.callID != "" {
				e := newEvent(recorded, kind).shortened(neighbourChars)
				e.call = call
				n.partner = &e
			}
		}
	}
	if isNear && includes(n.include, kind, true) {
		e := newEvent(recorded, kind).shortened(neighbourChars)
		e.call = call
		n.events = append(n.events, e)
	}
	return isNear || distance < 0 || n.only.shown.EventKind != kindUser || !isNextExchange
}

// fitted is the answer with an event and its neighbours. Where it is too long, these
// are shortened and left out, the farthest first.
func (r *reading) fitted(events []event, number, part, parts int) *conversation.ReadEnvelope {
	omitted := 0
	for limit := 8 * neighbourChars; ; limit /= 2 {
		e := r.aroundEnvelope(events, number, part, parts, omitted)
		if chars(e) <= conversation.ReadMaxChars {
			return e
		}
		switch {
		case limit > neighbourChars/2:
			for i := range events {
				if events[i].shown.Event != number {
					events[i] = events[i].shortened(limit / 2)
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

func distance(e *event, number int) int { return max(e.shown.Event-number, number-e.shown.Event) }

func (r *reading) aroundEnvelope(events []event, number, part, parts, omitted int) *conversation.ReadEnvelope {
	var turns []turn
	for _, e := range events {
		if len(turns) == 0 || turns[len(turns)-1].number != e.turn {
			turns = append(turns, turn{number: e.turn})
		}
		last := &turns[len(turns)-1]
		last.events = append(last.events, e)
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
