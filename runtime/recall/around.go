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

// readEvent reads one event, or a part of it, and with the first part its neighbours.
func (r *reading) readEvent(ctx context.Context, source conversations.Source) (*conversation.ReadEnvelope, error) {
	number, part, around := *r.params.Event, 1, defaultAround
	if r.params.Part != nil {
		part = *r.params.Part
	}
	if r.params.Around != nil {
		around = *r.params.Around
	}
	n := neighbours{include: r.params.Include, around: around, isGiven: r.params.Around != nil, calls: toolCalls{}}
	at := portion{number: number, part: part, size: partChars}
	if r.params.Part == nil && r.params.About != nil {
		if err := r.rank(ctx, source, conversations.EventRange{First: number, Last: number}); err != nil {
			return nil, err
		}
		n.about, at.size, at.isSubject = r.about, aboutAhead, true
	}
	q := conversations.ReadQuery{
		ID: r.params.ID, Events: conversations.EventRange{First: number, Last: number},
		Event: func(e *conversations.Event) error {
			at.chars = e.Chars
			if n.only, n.callID = newPart(e, at), e.CallID; at.isSubject {
				n.only = newEvent(e, n.only.shown.EventKind)
			}
			return ctx.Err()
		},
	}
	read := func() (err error) {
		q.Part, q.MaxText, q.MaxJSON = at.part, at.size, at.size
		if at.isSubject {
			q.Part = 0 // of a text that is longer, the beginning and the end
		}
		r.Reading, err = source.Read(ctx, q)
		return err
	}
	if err := read(); err != nil {
		return nil, err
	}
	if piece := part - at.parts(); piece > 0 {
		refusal := contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.", number, count(at.parts(), "part", "parts"), partChars, part))
		if at.part = (piece-1)/piecesOfPart + 1; at.part > at.parts() {
			return nil, refusal
		}
		if err := read(); err != nil {
			return nil, err
		}
		fits := r.fitsAlone(n.only, at)
		if at.part, at.size = piece, pieceChars; fits || at.part > at.parts() {
			return nil, refusal
		}
		if err := read(); err != nil {
			return nil, err
		}
	} else if at.isSubject {
		if n.only = r.about(n.only, aboutEvent); !r.fitsAlone(n.only, at) {
			r.params.About = nil
			return r.readEvent(ctx, source)
		}
	} else if !r.fitsAlone(n.only, at) {
		at = at.pieces()
		if err := read(); err != nil {
			return nil, err
		}
	}
	events := []event{n.only}
	if part == 1 && around > 0 {
		var err error
		if events, err = n.read(ctx, source, r.params.ID); err != nil {
			return nil, err
		}
	}
	return r.fitted(events, at), nil
}

// fitsAlone reports whether an answer has room for a part of an event, with notes.
func (r *reading) fitsAlone(e event, at portion) bool {
	return chars(r.aroundEnvelope([]event{e}, at, 0)) <= conversation.ReadMaxChars-maxNotes
}

// portion is a part of an event, or a piece: pieces are counted on from the parts, and
// are for those parts that do not fit.
type portion struct {
	number int // of the event
	part   int // of size characters, from 1
	size   int
	chars  int // of the event

	isSubject bool // it is what the event has on a subject, and in no parts
}

// parts is how many parts of this size the event has.
func (p portion) parts() int {
	if p.isSubject {
		return 1
	}
	return max(1, (p.chars+p.size-1)/p.size)
}

// name is the value of the parameter part that shows this.
func (p portion) name() int {
	if p.size == pieceChars {
		whole := portion{chars: p.chars, size: partChars}
		return whole.parts() + p.part
	}
	return p.part
}

// next is the part behind this one, and behind the last piece of a part the next
// part; false where there is none.
func (p portion) next() (portion, bool) {
	end := min(p.part*p.size, p.chars)
	if p.isSubject {
		end = p.chars
	}
	p.part++
	if p.size == pieceChars && end%partChars == 0 {
		p.part, p.size = end/partChars+1, partChars
	}
	return p, end < p.chars
}

// pieces is the first piece of a part.
func (p portion) pieces() portion {
	p.part, p.size = (p.part-1)*piecesOfPart+1, pieceChars
	return p
}

// newPart is a part of an event.
func newPart(e *conversations.Event, at portion) event {
	kind := kindOf(e.Kind)
	made := newEvent(&conversations.Event{
		Number: e.Number, Turn: e.Turn, Request: e.Request, Time: e.Time, Name: e.Name, IsError: e.IsError, Encoding: e.Encoding,
	}, kind)
	made.chars = e.Chars
	if at.parts() > 1 {
		made.shown.Part, made.shown.Chars = at.name(), e.Chars
	}
	if at.size == partChars && at.parts() > 1 {
		made.shown.Parts = at.parts()
	}
	if kind == kindToolCall && at.parts() == 1 {
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
	isGiven bool                           // around is what the call asks for
	only    event                          // the event
	about   func(e event, limit int) event // makes what the call looks for of one; nil where it does not say
	callID  string
	calls   toolCalls

	events  []event
	partner *event
	// Of a request, the answer is the partner. Where it is an announcement that the next
	// request of the turn interrupts, the last answer in the turn is.
	announces, interrupted bool
	answer                 *event // in the turn, before the latest request
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
	ahead := readAhead
	if n.about != nil {
		ahead = aboutAhead
	}
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: id, Events: between, MaxText: ahead, MaxJSON: ahead,
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
	if kind == kindUser && n.only.shown.EventKind == kindUser && distance > 0 && recorded.Turn == n.only.turn {
		if n.announces {
			n.partner, n.announces = n.answer, false
			n.interrupted = n.interrupted || n.answer == nil
		}
		n.answer = n.partner
	}
	if n.mayBePartner(kind) {
		switch n.only.shown.EventKind {
		case kindUser:
			e := newEvent(recorded, kind)
			if n.about != nil {
				e = n.about(e, aboutEvent)
			} else if e.body.length() > wholeAnswer {
				e = e.withoutPastes(pastedAnswer)
				if e.body.length() > answerChars {
					e = e.shortened(answerChars)
				}
			}
			if distance > 0 && (!isNextExchange || n.interrupted && recorded.Turn == n.only.turn) && !e.isBlank() {
				n.partner, n.announces = &e, isAnnouncement(recorded.Text) // the last one
			}
		default:
			isFirst := distance < 0 || n.partner == nil // a result of the call, or the last call before the result
			if (distance > 0) == (kind == kindToolResult) && isFirst && recorded.CallID == n.callID && n.callID != "" {
				e := newEvent(recorded, kind)
				if e.body.length() > wholeNeighbour {
					e = e.brief(neighbourChars)
				}
				e.call = call
				n.partner = &e
			}
		}
	}
	// What the assistant says on the way announces the call behind it.
	isBeside := n.only.shown.EventKind == kindUser || isSaid(n.only.shown.EventKind) && distance < 0
	isWork := kind == kindReasoning || isBeside && kind != kindUser && !isSaid(kind)
	isBefore := n.only.shown.EventKind == kindUser && distance < 0
	isOfUse := !isWork && (!isBefore || n.only.chars <= replyChars) && n.about == nil
	if isNear && includes(n.include, kind, true) && (n.isGiven || isOfUse) {
		e := newEvent(recorded, kind)
		switch {
		case e.body.length() <= wholeNeighbour:
		case isWork:
			e = e.brief(asideChars)
		case isBefore:
			e = e.ending(asideChars)
		default:
			e = e.brief(neighbourChars)
		}
		if !e.isBlank() {
			e.call = call
			n.events = append(n.events, e)
		}
	}
	return isNear || distance < 0 || n.only.shown.EventKind != kindUser || !isNextExchange || n.interrupted && recorded.Turn == n.only.turn
}

// fitted is the answer with an event, for which there is room, and its neighbours. Where it is
// too long, these are shortened and left out, the farthest first.
func (r *reading) fitted(events []event, at portion) *conversation.ReadEnvelope {
	omitted := 0
	for limit := 8 * neighbourChars; ; limit /= 2 {
		e := r.aroundEnvelope(events, at, omitted)
		if chars(e) <= conversation.ReadMaxChars || len(events) == 1 {
			return e
		}
		if limit > neighbourChars/2 {
			for i := range events {
				if events[i].shown.Event != at.number {
					events[i] = events[i].brief(limit / 2)
				}
			}
			continue
		}
		far := 0
		for i := range events {
			if distance(&events[i], at.number) > distance(&events[far], at.number) {
				far = i
			}
		}
		events = slices.Delete(events, far, far+1)
		omitted++
	}
}

// cutAnswer is the event of the answer to a request, where not all of that is among the
// events; 0 for none.
func (r *reading) cutAnswer(events []event, number int) int {
	last := &events[len(events)-1]
	isRequest := slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number && e.shown.EventKind == kindUser })
	if !isRequest || last.shown.Event <= number || !isSaid(last.shown.EventKind) || !last.body.isShortened() {
		return 0
	}
	return last.shown.Event
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

func (r *reading) aroundEnvelope(events []event, at portion, omitted int) *conversation.ReadEnvelope {
	isShown := func(number int) bool {
		return slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number })
	}
	e := r.bare(inTurns(events), at.number)
	var says []string
	if next, more := at.next(); more {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", at.number, next.name()))
	}
	where := fmt.Sprintf("Event %d of %d", at.number, r.Events)
	if before := at.number - 1; before >= 1 && !isShown(before) {
		where += fmt.Sprintf("; before: event=%d", before)
	}
	if after := at.number + 1; after <= r.Events && !isShown(after) {
		where += fmt.Sprintf("; after: event=%d", after)
	}
	says = append(says, where+".")
	if at.isSubject {
		says = append(says, r.subjectNote(events)...)
	} else if cut := r.cutAnswer(events, at.number); cut > 0 {
		says = append(says, fmt.Sprintf("Of the answer: event=%d shows all, conversation_grep with ids, event=%d and context=3 one passage.", cut, cut))
	}
	if omitted > 0 {
		e.Truncated = true
		says = append(says, fmt.Sprintf("%s did not fit.", count(omitted, "neighbour", "neighbours")))
	}
	e.Notes = append(append(e.Notes, strings.Join(says, " ")), r.damageNotes()...)
	return e
}
