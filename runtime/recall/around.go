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
	callID string
	answer int // the event of the answer to the request that it is
}

func (r *reading) readEvent(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	a := &around{reading: r, number: *r.params.Event, part: 1, most: defaultAround}
	if r.params.Part != nil {
		a.part = *r.params.Part
	}
	if r.params.Around != nil {
		a.most = *r.params.Around
	}
	if a.isSubject = r.params.About != nil && r.params.Part == nil; a.isSubject {
		if err := r.rank(ctx, source, conversations.EventRange{First: a.number, Last: a.number}); err != nil {
			return nil, err
		}
	}
	if err := a.read(ctx, source); err != nil {
		return nil, err
	}
	events := []event{a.only}
	if a.part == 1 && a.most > 0 {
		var err error
		if events, err = a.neighbours(ctx, source); err != nil {
			return nil, err
		}
	}
	return a.fitted(events), nil
}

// read reads the event, or the part of it.
func (a *around) read(ctx context.Context, source conversations.Source) (err error) {
	a.Reading, err = source.Read(ctx, conversations.ReadQuery{
		ID: a.params.ID, Events: conversations.EventRange{First: a.number, Last: a.number},
		Event: func(e *conversations.Event) error {
			a.callID = e.CallID
			a.only = newEvent(e, kindOf(e.Kind), math.MaxInt)
			if a.isSubject {
				a.only = a.about(a.only, aboutEvent)
				return ctx.Err()
			}
			return cmp.Or(a.choosePart(e), ctx.Err())
		},
	})
	return err
}

// choosePart leaves the part of the event that is asked for.
func (a *around) choosePart(e *conversations.Event) error {
	isJSON := a.only.shown.EventKind == kindToolCall
	size := partChars
	parts := partsOf(string(e.Text), size)
	if slices.ContainsFunc(parts, func(part string) bool { return visibleChars(part) > conversation.ReadMaxChars-maxNotes }) {
		size = smallPart
		parts = partsOf(string(e.Text), size)
	}
	a.parts = len(parts)
	if a.part > a.parts {
		return contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.", a.number, count(a.parts, "part", "parts"), size, a.part))
	}
	if a.parts > 1 {
		a.only.shown.Part, a.only.shown.Chars, a.only.shown.Parts = a.part, a.only.chars, a.parts
		a.only.body = ends(parts[a.part-1], math.MaxInt, isJSON)
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
	between := conversations.EventRange{First: a.number - a.most, Last: a.number + a.most}
	switch kind := a.only.shown.EventKind; {
	case kind == kindUser:
		requests, err := readOutline(ctx, source, a.params.ID)
		if err != nil {
			return nil, err
		}
		a.answer = requests.answerTo(a.number)
		between.Last = max(between.Last, a.answer)
	case kind == kindToolCall && a.callID != "":
		between.Last = max(between.Last, a.number+callReach)
	case kind == kindToolResult && a.callID != "":
		between.First = min(between.First, a.number-callReach)
	}
	between.First = max(between.First, 1)
	var events []event
	partner := -1 // where it is in events
	calls := toolCalls{}
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: a.params.ID, Events: between,
		Event: func(recorded *conversations.Event) error {
			kind := kindOf(recorded.Kind)
			call := calls.match(recorded, kind)
			e, isShown := a.only, true
			if recorded.Number != a.number {
				e = newEvent(recorded, kind, a.ahead())
				isPartner := a.isPartner(recorded, kind, partner >= 0)
				if isPartner && partner >= 0 && !a.isNear(&events[partner]) {
					events = slices.Delete(events, partner, partner+1)
				}
				if isPartner {
					partner = len(events)
				}
				e, isShown = a.shown(e, isPartner), isPartner || a.isOfUse(&e)
			}
			if e.call = call; isShown && (recorded.Number == a.number || !e.isBlank()) {
				events = append(events, e)
			}
			return ctx.Err()
		},
	})
	return events, err
}

// ahead is how many characters of a neighbour are looked at.
func (a *around) ahead() int {
	if a.isSubject {
		return math.MaxInt
	}
	return readAhead
}

// isNear reports whether an event is one of the neighbours that are asked for.
func (a *around) isNear(e *event) bool {
	return distance(e, a.number) <= a.most && includes(a.params.Include, e.shown.EventKind, true)
}

// isPartner reports whether an event, of which there may be one before, is the partner.
func (a *around) isPartner(e *conversations.Event, kind string, isSecond bool) bool {
	if a.only.shown.EventKind == kindUser {
		return e.Number == a.answer
	}
	if a.callID == "" || e.CallID != a.callID {
		return false
	}
	isCall := kind == kindToolCall && a.only.shown.EventKind == kindToolResult && e.Number < a.number
	return isCall || kind == kindToolResult && a.only.shown.EventKind == kindToolCall && e.Number > a.number && !isSecond
}

// isOfUse reports whether a neighbour is shown: any that the call asks for, and else what was
// said, before a request only where it replies to that; of a call and its result the work too.
func (a *around) isOfUse(e *event) bool {
	kind, only := e.shown.EventKind, a.only.shown.EventKind
	switch isSaid := isSaidOrAsked(kind); {
	case !a.isNear(e), a.isSubject && a.params.Around == nil:
		return false
	case a.params.Around != nil:
		return true
	case only == kindUser && e.shown.Event < a.number:
		return isSaid && a.only.chars <= replyChars
	default:
		return isSaid || kind != kindReasoning && !isSaidOrAsked(only)
	}
}

// isSaidOrAsked reports whether events of a kind are what the user or the assistant said.
func isSaidOrAsked(kind string) bool { return kind == kindUser || isSaid(kind) }

// shown is a neighbour, or the partner, as it is shown.
func (a *around) shown(e event, isPartner bool) event {
	isAnswer := isPartner && a.only.shown.EventKind == kindUser
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
	omitted := 0
	for limit := 4 * neighbourChars; ; limit /= 2 {
		e := a.envelope(events, omitted)
		if chars(e) <= conversation.ReadMaxChars || len(events) == 1 {
			return e
		}
		if limit >= neighbourChars/2 {
			for i := range events {
				if events[i].shown.Event != a.number {
					events[i] = events[i].brief(limit)
				}
			}
			continue
		}
		far := slices.MaxFunc(events, func(x, y event) int { return distance(&x, a.number) - distance(&y, a.number) })
		events = slices.DeleteFunc(events, func(e event) bool { return e.shown.Event == far.shown.Event })
		omitted++
	}
}

// inTurns are the turns of events, which are in their order.
func inTurns(events []event) []turn {
	var turns []turn
	for _, e := range events {
		if len(turns) == 0 || turns[len(turns)-1].number != e.turn {
			turns = append(turns, turn{number: e.turn})
		}
		last := &turns[len(turns)-1]
		last.events = append(last.events, e)
	}
	return turns
}

func distance(e *event, number int) int { return max(e.shown.Event-number, number-e.shown.Event) }

func (a *around) envelope(events []event, omitted int) *conversation.ReadEnvelope {
	isShown := func(number int) bool {
		return slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number })
	}
	e := a.bare(inTurns(events), a.number)
	var says []string
	if a.part < a.parts {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", a.number, a.part+1))
	}
	where := fmt.Sprintf("Event %d of %d", a.number, a.Events)
	if before := a.number - 1; before >= 1 && !isShown(before) {
		where += fmt.Sprintf("; before: event=%d", before)
	}
	if after := a.number + 1; after <= a.Events && !isShown(after) {
		where += fmt.Sprintf("; after: event=%d", after)
	}
	says = append(says, where+".")
	if a.isSubject {
		says = append(says, a.subjectNote(events)...)
	} else if last := &events[len(events)-1]; a.answer > 0 && last.shown.Event == a.answer && last.body.isShortened() {
		says = append(says, fmt.Sprintf("Of the answer: event=%d shows all, conversation_grep with ids, event=%d and context=3 one passage.", a.answer, a.answer))
	}
	if omitted > 0 {
		e.Truncated = true
		says = append(says, fmt.Sprintf("%s did not fit.", count(omitted, "neighbour", "neighbours")))
	}
	e.Notes = append(append(e.Notes, strings.Join(says, " ")), a.damageNotes()...)
	return e
}
