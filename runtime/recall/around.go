package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// An event is shown in parts, which are small where making the text visible
	// makes it much longer: one recorded character has up to nine then.
	partChars, smallPart = 8000, 1000
	// answerChars are shown of the answer to a request.
	answerChars = 4500
	// callReach is how far from a tool call its result is looked for, in events:
	// several calls may be made at once.
	callReach = 16
	// maxNotes is how many characters the notes beside one event have.
	maxNotes = maxRemarks + 400
)

// around is the reading of one event, or a part of it, and with the first part
// its partner and its neighbours.
type around struct {
	*reading
	number    int
	part      int
	parts     int  // that the event has
	most      int  // neighbours on each side
	isSubject bool // passages on about are shown, and no parts

	only    event
	partner int     // the result of a call, the call of a result, or the answer to a request
	beside  []event // partner and neighbours, the nearest first
}

func (r *reading) readEvent(ctx context.Context) (*conversation.ReadEnvelope, error) {
	a := &around{reading: r, number: *r.params.Event, part: max(given(r.params.Part), 1), most: given(r.params.Around)}
	if a.isSubject = r.params.About != nil && r.params.Part == nil; a.isSubject {
		if err := r.rank(ctx, conversations.EventRange{First: a.number, Last: a.number}); err != nil {
			return nil, err
		}
	}
	near, err := a.readNear(ctx)
	if err != nil {
		return nil, err
	}
	if a.part == 1 && (r.params.Around == nil || a.most > 0) {
		a.choose(near)
	}
	return fit(len(a.beside), conversation.ReadMaxChars, a.answerWith), nil
}

// errEnough ends the reading of events.
var errEnough = errors.New("no more events are needed")

// readNear reads the event, and returns those that may be shown beside it: of
// a request all up to its answer.
func (a *around) readNear(ctx context.Context) (near []event, err error) {
	reach := max(a.most, callReach)
	calls := map[string]int{}
	q := conversations.ReadQuery{ID: a.params.ID, Events: conversations.EventRange{First: max(a.number-reach, 1)}}
	q.Event = func(recorded *conversations.Event) error {
		e := newEvent(recorded)
		e.joinCall(recorded, calls)
		switch {
		case recorded.Number == a.number:
			a.only = e
			return a.choosePart(string(recorded.Text))
		case recorded.Number > a.number+reach && (e.turn != a.only.turn || e.kind == transcript.KindUser):
			return errEnough
		case !isBlank(recorded):
			near = append(near, e)
		}
		return ctx.Err()
	}
	a.Reading, err = a.source.Read(ctx, q)
	var outside *conversations.RangeError
	if errors.As(err, &outside) || err == nil && a.only.shown.Event == 0 {
		return nil, &conversations.RangeError{ID: a.ID, Events: true, N: a.number, Of: a.Events}
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	markAnswers(near)
	return near, err
}

// choosePart leaves the part of the text that is asked for, or what it
// has on the subject.
func (a *around) choosePart(whole string) error {
	if a.isSubject {
		a.only = a.about(a.only, aboutEvent)
		return nil
	}
	size := partChars
	parts := partsOf(whole, size)
	if slices.ContainsFunc(parts, isTooLong) {
		size = smallPart
		parts = partsOf(whole, size)
	}
	a.parts = len(parts)
	if a.part > a.parts {
		return contract.Fixable(fmt.Sprintf("Event %d has %s of %d characters, and part=%d is none of them.",
			a.number, text.Count(a.parts, "part", "parts"), size, a.part))
	}
	if a.parts > 1 {
		a.only.shown.Part, a.only.shown.Parts = a.part, a.parts
		a.only.shown.Chars = a.only.chars
		a.only.hold(parts[a.part-1])
	}
	return nil
}

// partsOf returns the parts of a text, one at least, of so many
// characters.
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

// isTooLong reports whether an answer has no room for a text.
func isTooLong(s string) bool {
	shown := strings.ReplaceAll(text.Visible(s), "]]>", "]]]]><![CDATA[>")
	return utf8.RuneCountInString(shown) > conversation.ReadMaxChars-maxNotes
}

// choose chooses the events that are shown beside the event.
func (a *around) choose(near []event) {
	isRequest := a.only.kind == transcript.KindUser
	a.partner = a.only.shown.Call
	for _, e := range near {
		n := e.shown.Event
		isAnswer := isRequest && e.isAnswer && n > a.number && e.turn == a.only.turn
		if a.partner == 0 && (isAnswer || e.shown.Call == a.number) {
			a.partner = n
		}
	}
	for _, e := range near {
		isPartner := e.shown.Event == a.partner
		switch {
		case isPartner && isRequest && a.isSubject:
			e = a.about(e, aboutEvent)
		case isPartner && isRequest:
			e = e.shortened(answerChars)
		case isPartner || a.distance(&e) <= a.most && a.includes(e.kind, true):
			e = e.shortened(briefChars)
		default:
			continue
		}
		a.beside = append(a.beside, e)
	}
	slices.SortStableFunc(a.beside, func(x, y event) int { return a.distance(&x) - a.distance(&y) })
}

// distance returns how far an event is from the one that is asked for; the
// partner is nearest.
func (a *around) distance(e *event) int {
	n := e.shown.Event
	if n == a.partner {
		return 0
	}
	return max(n-a.number, a.number-n)
}

// answerWith returns the answer with the n nearest neighbours.
func (a *around) answerWith(n int) *conversation.ReadEnvelope {
	events := append(slices.Clone(a.beside[:n]), a.only)
	slices.SortFunc(events, func(x, y event) int { return x.shown.Event - y.shown.Event })
	e := a.page(turnsOf(events), events)
	var says []string
	if a.part < a.parts {
		says = append(says, fmt.Sprintf("Next part: event=%d, part=%d.", a.number, a.part+1))
	}
	where := fmt.Sprintf("Event %d of %d", a.number, a.Events)
	for i, name := range []string{"before", "after"} {
		number := a.number - 1 + 2*i
		if 1 <= number && number <= a.Events && !slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number }) {
			where += fmt.Sprintf("; %s: event=%d", name, number)
		}
	}
	says = append(says, where+".")
	last := &events[len(events)-1]
	if a.isSubject {
		says = append(says, a.subjectNote(events)...)
	} else if a.only.kind == transcript.KindUser && last.shown.Event == a.partner && last.isCut {
		says = append(says, fmt.Sprintf("Of the answer: event=%d shows all, conversation_grep with ids, event=%d and context=3 one passage.", a.partner, a.partner))
	}
	if omitted := len(a.beside) - n; omitted > 0 {
		e.Truncated = true
		says = append(says, text.Count(omitted, "neighbour", "neighbours")+" did not fit.")
	}
	e.Notes = append(append(e.Notes, strings.Join(says, " ")), a.damageNotes()...)
	return e
}
