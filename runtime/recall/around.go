package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// An event is shown in parts, which are small where making the text visible makes it much
	// longer: it has up to nine characters for one that is recorded.
	partChars, smallPart = 8000, 1000
	defaultAround        = 1
	neighbourChars       = 300
	// wholeNeighbour is how many characters of a neighbour are never cut, as an answer would
	// lack what another call then costs more to show.
	wholeNeighbour = 500
	// A request of no more than replyChars answers what was said before it, as yes does.
	replyChars = 50
	// The answer to a request is shown up to wholeAnswer characters, and of a longer one
	// answerChars: who reads the one wants the other.
	wholeAnswer = 4500
	answerChars = 3000
	// callReach is how far from a tool call its result is looked for, in events:
	// several calls may be made at once.
	callReach = 16
	maxNotes  = maxRemarks + 400 // all that may be noted beside one event
)

// around is the reading of one event, or a part of it, and with the first part its neighbours.
type around struct {
	*reading
	number, part int
	parts        int
	most         int  // neighbours on each side
	isSubject    bool // what the call looks for is shown, in no parts

	only   event
	answer int // the event of the answer to the request that it is
}

func (r *reading) readEvent(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	a := &around{reading: r, number: *r.params.Event, part: max(given(r.params.Part), 1), most: defaultAround}
	if r.params.Around != nil {
		a.most = *r.params.Around
	}
	if a.isSubject = r.params.About != nil && r.params.Part == nil; a.isSubject {
		a.ahead = math.MaxInt
		if err := r.rank(ctx, source, conversations.EventRange{First: a.number, Last: a.number}); err != nil {
			return nil, err
		}
	}
	var err error
	a.Reading, err = source.Read(ctx, conversations.ReadQuery{
		ID: a.params.ID, Events: conversations.EventRange{First: a.number, Last: a.number},
		Event: func(e *conversations.Event) error {
			if a.only = newEvent(e, math.MaxInt); a.isSubject {
				a.only = a.about(a.only, aboutEvent)
				return ctx.Err()
			}
			return cmp.Or(a.choosePart(e), ctx.Err())
		},
	})
	events := []event{a.only}
	if err == nil && a.part == 1 && a.most > 0 {
		events, err = a.neighbours(ctx, source)
	}
	if err != nil {
		return nil, err
	}
	return a.fitted(events), nil
}

// choosePart leaves the part of the event that is asked for.
func (a *around) choosePart(e *conversations.Event) error {
	size := partChars
	parts := partsOf(string(e.Text), size)
	if slices.ContainsFunc(parts, func(part string) bool { return visibleChars(part) > conversation.ReadMaxChars-maxNotes }) {
		size = smallPart
		parts = partsOf(string(e.Text), size)
	}
	a.parts = len(parts)
	if a.part > a.parts {
		return contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.", a.number, text.Count(a.parts, "part", "parts"), size, a.part))
	}
	if a.parts > 1 {
		a.only.shown.Part, a.only.shown.Chars, a.only.shown.Parts = a.part, a.only.chars, a.parts
		a.only.body = ends(parts[a.part-1], math.MaxInt, a.only.kind == transcript.KindToolCall)
	}
	return nil
}

// partsOf are the parts of a text, one at least, of so many characters.
func partsOf(s string, chars int) (parts []string) {
	from, n := 0, 0
	for at := range s {
		if n == chars {
			parts, from, n = append(parts, s[from:at]), at, 0
		}
		n++
	}
	return append(parts, s[from:])
}

// visibleChars is about how many characters a text takes in an answer.
func visibleChars(s string) int {
	const closing = "]]>"
	return utf8.RuneCountInString(text.Visible(s)) + strings.Count(s, closing)*len("]]<![CDATA[>")
}

// neighbours returns the event and those around it, in order. Its partner is one of them wherever
// it is: the result of a tool call, the call of a result, or the answer to a request.
func (a *around) neighbours(ctx context.Context, source conversations.Source) ([]event, error) {
	reach := a.most
	switch a.only.kind {
	case transcript.KindUser:
		requests, err := readOutline(ctx, source, a.params.ID)
		if err != nil {
			return nil, err
		}
		a.answer = requests.answerTo(a.number)
	case transcript.KindToolCall, transcript.KindToolResult:
		reach = max(reach, callReach)
	}
	var events []event
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: a.params.ID, Events: conversations.EventRange{First: max(a.number-reach, 1), Last: max(a.number+reach, a.answer)},
		Event: func(recorded *conversations.Event) error {
			call := a.calls.match(recorded)
			if recorded.Number == a.number {
				a.only.call = call
				events = append(events, a.only)
			} else if recorded.Number <= a.number+reach || recorded.Number == a.answer {
				e := newEvent(recorded, a.ahead)
				e.call = call
				events = append(events, e)
			}
			return ctx.Err()
		},
	})
	var shown []event
	for _, e := range events {
		switch isPartner := a.isPartner(&e); {
		case e.shown.Event == a.number:
			shown = append(shown, e)
		case !e.isBlank && (isPartner || a.isOfUse(&e)):
			shown = append(shown, a.neighbour(e, isPartner))
		}
	}
	return shown, err
}

// isPartner reports whether an event is the partner.
func (a *around) isPartner(e *event) bool {
	number := e.shown.Event
	return number == a.answer || number == a.only.call || e.call == a.number
}

// isOfUse reports whether a neighbour is shown: any that the call asks for, and else what was
// said, before a request only where it replies to that; of a call and its result the work too.
func (a *around) isOfUse(e *event) bool {
	kind, only := e.kind, a.only.kind
	isSaid := isSaidOrAsked(kind)
	switch {
	case distance(e, a.number) > a.most, !a.includes(kind, true), a.isSubject && a.params.Around == nil:
		return false
	case a.params.Around != nil:
		return true
	case only == transcript.KindUser && e.shown.Event < a.number:
		return isSaid && a.only.chars <= replyChars
	default:
		return isSaid || kind != transcript.KindReasoning && !isSaidOrAsked(only)
	}
}

// isSaidOrAsked reports whether events of a kind are what the user or the assistant said.
func isSaidOrAsked(kind transcript.Kind) bool { return kind == transcript.KindUser || isSaid(kind) }

// neighbour is a neighbour, or the partner, as it is shown.
func (a *around) neighbour(e event, isPartner bool) event {
	isAnswer := isPartner && a.only.kind == transcript.KindUser
	switch {
	case isAnswer && a.isSubject:
		return a.about(e, aboutEvent)
	case isAnswer && e.body.length() > wholeAnswer:
		return e.shortened(answerChars)
	case !isAnswer && e.body.length() > wholeNeighbour:
		return e.brief(neighbourChars)
	}
	return e
}

// fitted is the answer with an event, for which there is room, and its neighbours. Where it is
// too long, these are shortened and left out, the farthest first.
func (a *around) fitted(events []event) *conversation.ReadEnvelope {
	limits := []int{math.MaxInt, 4 * neighbourChars, 2 * neighbourChars, neighbourChars, neighbourChars / 2}
	far := slices.Clone(events) // the nearest first
	slices.SortStableFunc(far, func(x, y event) int { return distance(&x, a.number) - distance(&y, a.number) })
	return longest(len(limits)+len(events)-1, conversation.ReadMaxChars, func(k int) *conversation.ReadEnvelope {
		level := min(k, len(limits)-1)
		kept := slices.Clone(far[:len(far)-(k-level)])
		for i := range kept[1:] {
			kept[i+1] = kept[i+1].brief(limits[level])
		}
		slices.SortFunc(kept, byNumber)
		return a.envelope(kept, k-level)
	})
}

func distance(e *event, number int) int { return max(e.shown.Event-number, number-e.shown.Event) }

func (a *around) envelope(events []event, omitted int) *conversation.ReadEnvelope {
	e := a.bare(inTurns(events), a.number)
	var says []string
	if a.part < a.parts {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", a.number, a.part+1))
	}
	where := fmt.Sprintf("Event %d of %d", a.number, a.Events)
	for name, number := range []int{a.number - 1, a.number + 1} {
		isShown := slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number })
		if !isShown && number >= 1 && number <= a.Events {
			where += fmt.Sprintf("; %s: event=%d", []string{"before", "after"}[name], number)
		}
	}
	says = append(says, where+".")
	if a.isSubject {
		says = append(says, a.subjectNote(events)...)
	} else if last := &events[len(events)-1]; a.answer > 0 && last.shown.Event == a.answer && last.body.isShortened() {
		says = append(says, fmt.Sprintf("Of the answer: event=%d shows all, conversation_grep with ids, event=%d and context=3 one passage.", a.answer, a.answer))
	}
	if omitted > 0 {
		e.Truncated = true
		says = append(says, fmt.Sprintf("%s did not fit.", text.Count(omitted, "neighbour", "neighbours")))
	}
	e.Notes = append(append(e.Notes, strings.Join(says, " ")), a.damageNotes()...)
	return e
}
