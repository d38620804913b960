package recall

import (
	"cmp"
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
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// An event is shown in parts, which are small where making the text visible
	// makes it much longer: one recorded character has up to nine then.
	partChars, smallPart = 8000, 1000
	// answerChars are shown of the answer to a request.
	answerChars = 4500
	// callReach is how far from a tool call its result is looked for, in events: several calls may be made at once.
	callReach = 16
	// maxNotes is how many characters the notes beside one event have.
	maxNotes = maxRemarks + 400
)

// around is a call of conversation_read for one event or a part of it. With the first part it shows the partner and the
// neighbours of the event.
type around struct {
	*reading
	number  int
	part    int
	parts   int  // that the event has
	most    int  // neighbours on each side, as the call says; 0 if it does not
	byAbout bool // the event is shown as the passages that answer the parameter about, and not in parts

	only    event   // the one that is asked for
	partner int     // its number: the result of a call, the call of a result, or the answer to a request; 0 for none
	beside  []event // the partner, and the neighbours
}

// readEvent answers a call that asks for one event. With the first part it shows events beside the event, unless the
// parameter around is 0. If the call has about but not part, it shows the passages of the event that answer about.
func (r *reading) readEvent(ctx context.Context) (*conversation.ReadEnvelope, error) {
	a := &around{reading: r, number: *r.params.Event, part: max(given(r.params.Part), 1), most: given(r.params.Around)}
	a.byAbout = r.params.About != nil && r.params.Part == nil
	if a.byAbout {
		if err := r.rankEvents(ctx, conversations.EventRange{First: a.number, Last: a.number}); err != nil {
			return nil, err
		}
	}
	near, err := a.readNear(ctx)
	if err != nil {
		return nil, err
	}
	if showsBeside := r.params.Around == nil || a.most > 0; showsBeside && a.part == 1 {
		a.chooseBeside(near)
	}
	return fit(len(a.beside), conversation.ReadMaxChars, a.answerWith), nil
}

// readNear sets a.only to the event that is asked for. It returns the events near a.only, with answers marked:
// max(a.most, callReach) before it, as many after it, and the rest of the turn up to the next request.
func (a *around) readNear(ctx context.Context) (near []event, err error) {
	reach := max(a.most, callReach)
	r, all, err := a.source.Read(ctx, conversations.ReadQuery{ID: a.params.ID, Events: conversations.EventRange{First: max(a.number-reach, 1)}})
	_, isOutside := errors.AsType[*conversations.RangeError](err)
	if err != nil && !isOutside {
		return nil, err
	}
	a.Reading = r
	if isOutside || a.number > r.Events {
		return nil, &conversations.RangeError{Events: true, N: a.number, Of: r.Events}
	}
	calls := map[string]int{}
	for recorded := range all {
		e := newEvent(recorded)
		e.linkCall(recorded, calls)
		beginsNext := e.turn != a.only.turn || e.kind == transcript.KindUser // e begins the next turn or request
		if beginsNext && recorded.Number > a.number+reach {
			break
		}
		if recorded.Number == a.number {
			a.only = e
			err = a.choosePart(string(recorded.Body()))
		} else if !isBlank(recorded) {
			near = append(near, e)
		}
	}
	markAnswers(near)
	return near, cmp.Or(err, ctx.Err())
}

// choosePart sets the text of a.only to what is shown of whole, the whole text of the event: the passages that answer
// the parameter about, or the part that is asked for. choosePart returns an error if there is no such part.
func (a *around) choosePart(whole string) error {
	if a.byAbout {
		a.only = a.cutToAbout(a.only, aboutEvent)
		return nil
	}
	size := partChars
	parts := partsOf(whole, size)
	if slices.ContainsFunc(parts, isTooLong) { // escaping makes a part longer than an answer
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
		a.only.setText(parts[a.part-1])
	}
	return nil
}

// partsOf splits a text into parts of a number of characters. There is at least one part, and the last may be shorter.
func partsOf(s string, chars int) (parts []string) {
	from, n := 0, 0 // the beginning of the next part, and its characters so far
	for offset := range s {
		if n == chars {
			parts, from, n = append(parts, s[from:offset]), offset, 0
		}
		n++
	}
	return append(parts, s[from:])
}

// isTooLong reports whether an answer has no room for a text, as its writer escapes it.
func isTooLong(s string) bool {
	shown := strings.ReplaceAll(text.Visible(s), "]]>", "]]]]><![CDATA[>")
	return utf8.RuneCountInString(shown) > conversation.ReadMaxChars-maxNotes
}

// chooseBeside sets a.partner to the number of the event that belongs to a.only: the answer to a request, the result of
// a call, or the call of a result; 0 if near has no such event. It sets a.beside to this event, followed by up to
// a.most neighbours on each side, of the kinds that the parameter include asks for, all shortened.
func (a *around) chooseBeside(near []event) {
	isRequest := a.only.kind == transcript.KindUser
	a.partner = a.only.shown.Call // the number of the call of a result; 0 for any other event
	for _, e := range near {
		n := e.shown.Event
		isAnswer := isRequest && e.isAnswer && n > a.number && e.turn == a.only.turn
		isResult := e.shown.Call == a.number
		if a.partner == 0 && (isAnswer || isResult) {
			a.partner = n
		}
	}
	var partner, neighbours []event
	for _, e := range near {
		n := e.shown.Event
		distance := max(n-a.number, a.number-n)
		isIncluded := e.kind.Scope()&a.answers != 0 // a.answers are all scopes that include asks for
		switch {
		case n == a.partner && isRequest && a.byAbout: // of the answer only passages, as of a.only
			partner = []event{a.cutToAbout(e, aboutOne)}
		case n == a.partner:
			partner = []event{e.shortened(either(isRequest, answerChars, briefChars))}
		case distance <= a.most && isIncluded:
			neighbours = append(neighbours, e.shortened(briefChars))
		}
	}
	a.beside = append(partner, neighbours...)
}

// answerWith returns the answer with the event that is asked for, the first n of a.beside, and notes on what is missing.
func (a *around) answerWith(n int) *conversation.ReadEnvelope {
	events := append(slices.Clone(a.beside[:n]), a.only)
	slices.SortFunc(events, func(x, y event) int { return x.shown.Event - y.shown.Event })
	e := a.page(turnsOf(events), events)
	var sentences []string
	if a.part < a.parts {
		sentences = append(sentences, fmt.Sprintf("Next part: event=%d, part=%d.", a.number, a.part+1))
	}
	where := fmt.Sprintf("Event %d of %d", a.number, a.Events)
	addUnshown := func(name string, number int) {
		isShown := slices.ContainsFunc(events, func(e event) bool { return e.shown.Event == number })
		if 1 <= number && number <= a.Events && !isShown {
			where += fmt.Sprintf("; %s: event=%d", name, number)
		}
	}
	addUnshown("before", a.number-1)
	addUnshown("after", a.number+1)
	sentences = append(sentences, where+".")
	last := &events[len(events)-1]
	isAnswer := a.only.kind == transcript.KindUser && last.shown.Event == a.partner // the partner of a request is its answer
	if a.byAbout {
		sentences = append(sentences, a.subjectNote(events)...)
	} else if isAnswer && last.isCut {
		sentences = append(sentences, fmt.Sprintf("Of the answer: event=%d shows all, conversation_grep with ids, event=%d and context=3 one passage.", a.partner, a.partner))
	}
	if omitted := len(a.beside) - n; omitted > 0 {
		e.Truncated = true
		sentences = append(sentences, text.Count(omitted, "neighbour", "neighbours")+" did not fit.")
	}
	e.Notes = append(append(e.Notes, strings.Join(sentences, " ")), a.damageNotes()...)
	return e
}

// What is shown of a text where the call has about, in characters.
const (
	aboutWhole    = 3000    // a text of no more is never cut
	aboutEvent    = 1600    // of a longer one that is asked for, or of its answer
	aboutOne      = 600     // of each of several longer ones
	aboutPassage  = 500     // one passage
	aboutRead     = 4500    // several events together, with their tags
	aboutAhead    = 200_000 // of a text, looked at
	aboutHeadings = 400     // headings outside of the passages, with their marks
)

// mostRelevant is how many events are ranked.
const mostRelevant = 48

// rankEvents ranks a range of events by how well they answer the question in r.params.About, and sets r.ranking.
func (r *reading) rankEvents(ctx context.Context, events conversations.EventRange) error {
	ranking, err := r.source.Search(ctx, conversations.SearchQuery{
		Filter:   conversations.Filter{IDs: []string{r.params.ID}},
		Question: *r.params.About, Order: conversations.Relevance,
		Scopes: r.answers, Events: events, Own: isRecallTool(),
		Limit: mostRelevant, MaxText: aboutPassage, MaxWide: aboutPassage,
	})
	r.ranking = ranking
	return err
}

// passages returns the passages of a text that answer the question in the parameter about. All passages together have
// at most limit bytes. Only the first aboutAhead characters of the text are searched. rankEvents must be called before.
func (r *reading) passages(s string, limit int) []excerpt.Span {
	first, _, _ := text.Ends(s, aboutAhead, 0)
	return r.ranking.Passages(first, aboutPassage, limit)
}

// headings returns the headings of a text that fit into aboutHeadings characters. A heading that does not fit is left out.
func headings(s string) (spans []excerpt.Span) {
	start, room := 0, aboutHeadings
	for line := range strings.Lines(s) {
		end, cost := start+len(line), len(line)+maxMark // with the mark that keepSpans puts before a heading
		if cost <= room && isHeading(strings.TrimSpace(line)) {
			spans, room = append(spans, excerpt.Span{Start: start, End: end}), room-cost
		}
		start = end
	}
	return spans
}

// hasWord reports whether an event has a word of the question in the parameter about.
func (r *reading) hasWord(e event) bool {
	return len(r.passages(e.text, aboutPassage)) > 0
}

// cutToAbout returns an event with its text cut to the headings and the passages on the parameter about, of at most limit
// characters. A text without such a passage keeps its two ends. A text of at most aboutWhole characters stays whole.
func (r *reading) cutToAbout(e event, limit int) event {
	if utf8.RuneCountInString(e.text) <= aboutWhole {
		return e
	}
	spans := r.passages(e.text, limit)
	if len(spans) == 0 {
		return e.shortened(limit)
	}
	e.text, e.isCut = keepSpans(e.text, append(headings(e.text), spans...)), true
	return e
}

// relevant returns the events of r.asked that answer the question in the parameter about: at most mostRelevant, the
// best first. It cuts a long text to the passages that answer the question, of at most aboutOne characters together.
func (r *reading) relevant(ctx context.Context) (events []event, err error) {
	if len(r.asked) == 0 {
		return nil, nil
	}
	asked := map[int]event{}
	for _, e := range r.asked {
		asked[e.shown.Event] = e
	}
	first, last := r.asked[0].shown.Event, r.asked[len(r.asked)-1].shown.Event
	if err := r.rankEvents(ctx, conversations.EventRange{First: first, Last: last}); err != nil {
		return nil, err
	}
	for _, h := range r.ranking.Hits {
		if e, isAsked := asked[h.Number]; isAsked && r.hasWord(e) {
			events = append(events, r.cutToAbout(e, aboutOne))
		}
	}
	return events, nil
}

// readAbout returns the best relevant events: as many as fit into aboutRead characters, but at least one if any.
func (r *reading) readAbout(ctx context.Context) (*conversation.ReadEnvelope, error) {
	relevant, err := r.relevant(ctx)
	if err != nil {
		return nil, err
	}
	least := min(len(relevant), 1)
	return fit(len(relevant)-least, aboutRead, func(more int) *conversation.ReadEnvelope {
		n := least + more // how many events are shown
		events := slices.Clone(relevant[:n])
		slices.SortFunc(events, func(a, b event) int { return a.shown.Event - b.shown.Event })
		e := r.page(turnsOf(events), events)
		e.Truncated = e.Truncated || n < len(r.asked) // r.asked are all events that the call asks for, relevant or not
		e.Notes = append(append(e.Notes, r.aboutNote(n, relevant[n:])), r.damageNotes()...)
		return e
	}), nil
}

// aboutNote returns a note for an answer to a call with the parameter about. The note says how many of the events that
// were asked for are shown, and gives the numbers of the best in others, the relevant events that are not shown. If no
// event is shown, it has the words that occur nowhere.
func (r *reading) aboutNote(shown int, others []event) string {
	asked := text.Count(len(r.asked), "event", "events")
	if shown == 0 {
		note := "No event holds a word of about; " + asked + " looked at."
		if r.ranking != nil {
			note = strings.TrimSpace(note + " " + nowhere(r.ranking.Words))
		}
		return note
	}
	note := fmt.Sprintf("%d of %s, what tells most of about; event=N shows one whole, with about its passages.", shown, asked)
	var next []string
	for _, e := range others {
		next = append(next, fmt.Sprint(e.shown.Event))
	}
	if len(next) > 0 {
		note += " Next best: event=" + bounded(next, ", ", maxListed) + "."
	}
	return note
}

// nowhere returns a sentence that names the words that no event has; "" if there is none.
func nowhere(words []conversations.Word) string {
	var missing []string
	for _, w := range words {
		if w.Events == 0 {
			missing = append(missing, text.Quote(w.Word))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "Not found: " + bounded(missing, ", ", maxNames) + "."
}

// subjectNote returns a note if no event has a word of the parameter about, or one is cut to passages; nil otherwise.
func (r *reading) subjectNote(events []event) []string {
	isCut := func(e event) bool { return e.isCut }
	switch {
	case !slices.ContainsFunc(events, r.hasWord):
		return []string{"No word of about is here; without about an event is whole."}
	case slices.ContainsFunc(events, isCut):
		return []string{"Shown are the passages on about; without it an event is whole."}
	}
	return nil
}
