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
)

const (
	partChars = 8000 // of one event in one answer
	// pieceChars is how many there are in a piece of a part that does not fit: what is
	// made visible has up to nine characters for one that is recorded.
	pieceChars     = 1000
	piecesOfPart   = partChars / pieceChars
	defaultAround  = 1
	neighbourChars = 300
	// wholeNeighbour is how many characters of a neighbour are never cut, as an answer would
	// lack what another call then costs more to show.
	wholeNeighbour = 500
	asideChars     = 120 // of a neighbour that is work beside what was said, or what was said before a request
	// A request of no more than replyChars answers what was said before it, as yes does.
	replyChars = 50
	// The answer to a request is shown up to wholeAnswer characters, and of a longer one
	// answerChars, pastes of more than pastedAnswer aside: who reads the one wants the
	// other.
	wholeAnswer  = 4500
	answerChars  = 3000
	pastedAnswer = 600
	// callReach is how far from a tool call its result is looked for, in events:
	// several calls may be made at once.
	callReach = 16
	maxNotes  = maxRemarks + 400 // all that may be noted beside one event
)

// around is the reading of one event, or a part of it, and with the first part its neighbours.
type around struct {
	*reading
	number, part int
	piece        int  // of a part that does not fit; else 0
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
	piece := a.part - a.parts()
	if piece > 0 {
		refusal := contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.", a.number, count(a.parts(), "part", "parts"), partChars, a.part))
		if a.part = (piece-1)/piecesOfPart + 1; a.part > a.parts() || (piece-1)*pieceChars >= a.only.chars {
			return nil, refusal
		}
		if err := a.read(ctx, source); err != nil {
			return nil, err
		}
		if a.fits() {
			return nil, refusal
		}
	} else if !a.fits() {
		if a.isSubject {
			r.params.About = nil
			return r.readEvent(ctx, source)
		}
		piece = (a.part-1)*piecesOfPart + 1
	}
	if a.piece = max(piece, 0); a.piece > 0 {
		if err := a.read(ctx, source); err != nil {
			return nil, err
		}
	}
	var err error
	events := []event{a.only}
	if a.part == 1 && a.piece <= 1 && a.most > 0 {
		if events, err = a.neighbours(ctx, source); err != nil {
			return nil, err
		}
	}
	return a.fitted(events), nil
}

// read reads the event, or the part of it.
func (a *around) read(ctx context.Context, source conversations.Source) (err error) {
	q := conversations.ReadQuery{
		ID: a.params.ID, Events: conversations.EventRange{First: a.number, Last: a.number}, Part: a.part, MaxText: partChars,
		Event: func(e *conversations.Event) error {
			a.only, a.callID = a.newOnly(*e), e.CallID
			return ctx.Err()
		},
	}
	switch {
	case a.isSubject:
		q.Part, q.MaxText = 0, aboutAhead
	case a.piece > 0:
		q.Part, q.MaxText = a.piece, pieceChars
	}
	q.MaxJSON = q.MaxText
	a.Reading, err = source.Read(ctx, q)
	return err
}

// fits reports whether an answer has room for the part, with notes.
func (a *around) fits() bool {
	return chars(a.envelope([]event{a.only}, 0)) <= conversation.ReadMaxChars-maxNotes
}

// parts is how many parts the event has.
func (a *around) parts() int {
	if a.isSubject {
		return 1
	}
	return max(1, (a.only.chars+partChars-1)/partChars)
}

// next is the value of the parameter part that shows what is behind this part; 0 where there is
// nothing. Pieces are counted on from the parts, and behind the last one of a part is the next part.
func (a *around) next() int {
	end := a.part * partChars
	if a.piece > 0 {
		end = a.piece * pieceChars
	}
	switch {
	case a.isSubject || end >= a.only.chars:
		return 0
	case end%partChars == 0:
		return end/partChars + 1
	}
	return a.parts() + a.piece + 1
}

// newOnly is the event, or the part of it, of which e has the text.
func (a *around) newOnly(e conversations.Event) event {
	kind := kindOf(e.Kind)
	if a.isSubject {
		return a.about(newEvent(&e, kind), aboutEvent)
	}
	all := e.Chars
	e.Chars, e.Head = 0, 0
	made := newEvent(&e, kind)
	made.chars = all
	switch parts := max(1, (all+partChars-1)/partChars); {
	case a.piece > 0:
		made.shown.Part, made.shown.Chars = parts+a.piece, all
	case parts > 1:
		made.shown.Part, made.shown.Chars, made.shown.Parts = a.part, all, parts
	default:
		return made
	}
	made.body = whole(text.Visible(string(e.Text)))
	return made
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
	ahead := readAhead
	if a.isSubject {
		ahead = aboutAhead
	}
	var events []event
	partner := -1 // where it is in events
	calls := toolCalls{}
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: a.params.ID, Events: between, MaxText: ahead, MaxJSON: ahead,
		Event: func(recorded *conversations.Event) error {
			kind := kindOf(recorded.Kind)
			call := calls.match(recorded, kind)
			e, isShown := a.only, true
			if recorded.Number != a.number {
				e = newEvent(recorded, kind)
				isPartner := a.isPartner(recorded, kind, partner >= 0)
				if isPartner && partner >= 0 && !a.isNear(&events[partner]) {
					events = slices.Delete(events, partner, partner+1)
				}
				switch {
				case isPartner:
					partner = len(events)
					e = a.shownPartner(e)
				case a.isOfUse(&e):
					e = a.shownBeside(e)
				default:
					isShown = false
				}
			}
			if e.call = call; isShown && (recorded.Number == a.number || !e.isBlank()) {
				events = append(events, e)
			}
			return ctx.Err()
		},
	})
	return events, err
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

func (a *around) shownPartner(e event) event {
	limit, most := wholeAnswer, answerChars
	switch {
	case a.only.shown.EventKind != kindUser:
		limit, most = wholeNeighbour, neighbourChars
	case a.isSubject:
		return a.about(e, aboutEvent)
	}
	if e.body.length() <= limit {
		return e
	}
	if a.only.shown.EventKind != kindUser {
		return e.brief(most)
	}
	return e.withoutPastes(pastedAnswer).shortened(most)
}

// isWork reports whether an event is work beside what was said: what the assistant says on the
// way announces the call behind it.
func (a *around) isWork(e *event) bool {
	kind, only := e.shown.EventKind, a.only.shown.EventKind
	isBeside := only == kindUser || isSaid(only) && e.shown.Event < a.number
	return kind == kindReasoning || isBeside && kind != kindUser && !isSaid(kind)
}

// isOfUse reports whether a neighbour is shown: any that the call asks for, and else no work, and
// of a request what was said before it only where it replies to that.
func (a *around) isOfUse(e *event) bool {
	isBefore := a.only.shown.EventKind == kindUser && e.shown.Event < a.number
	return a.isNear(e) && (a.params.Around != nil || !a.isSubject && !a.isWork(e) && (!isBefore || a.only.chars <= replyChars))
}

func (a *around) shownBeside(e event) event {
	switch {
	case e.body.length() <= wholeNeighbour:
		return e
	case a.isWork(&e):
		return e.brief(asideChars)
	case a.only.shown.EventKind == kindUser && e.shown.Event < a.number:
		return e.ending(asideChars)
	}
	return e.brief(neighbourChars)
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
	if next := a.next(); next > 0 {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", a.number, next))
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
