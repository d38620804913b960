package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/conversations"
)

// What of a text is shown where the call names what it looks for, in characters.
const (
	aboutWhole = 800     // a text of no more is shown whole
	aboutEvent = 1600    // of the event that is asked for, or the answer to it
	aboutAside = 600     // of a request beside its answer
	aboutOne   = 600     // of each of several events
	aboutRead  = 4000    // of several events together, about
	aboutAhead = 200_000 // of a text, looked at
	// passageBlock is how long a passage is at most: a paragraph, an item, some lines of code.
	passageBlock = 500
	// foundShare is the part of what is shown, in percent, that passages have for the words
	// they hold. What stands around the best ones has the rest.
	foundShare = 70
	// outcomeShare is how much of it, in percent, the last passage may have to be shown too.
	outcomeShare = 25
	// leastValue is the part of the value of the best passage, in percent, that others have
	// that are shown.
	leastValue = 35
)

// wordSet is words of a subject, by their place.
type wordSet uint64

const _ = uint(64 - conversations.MaxWords) // a set has room for all

// sum adds the weights of the words.
func (set wordSet) sum(weights []float64) float64 {
	total := 0.0
	for word, weight := range weights {
		if set&(1<<word) != 0 {
			total += weight
		}
	}
	return total
}

// wordCounts is how many texts there are, and how many of them hold each word.
type wordCounts struct {
	texts   int
	holding [conversations.MaxWords]int
}

func (c *wordCounts) add(set wordSet) {
	c.texts++
	for word := range c.holding {
		if set&(1<<word) != 0 {
			c.holding[word]++
		}
	}
}

// weights are what the words tell: what few texts hold tells more.
func (c *wordCounts) weights() []float64 {
	weights := make([]float64, len(c.holding))
	for word, n := range c.holding {
		if n > 0 {
			weights[word] = math.Log(1 + float64(c.texts)/float64(n))
		}
	}
	return weights
}

// subject is what a reader looks for: the stems of the words that name it. It is nil where
// the call does not say.
type subject []string

func newSubject(about *string) subject {
	if about == nil {
		return nil
	}
	var s subject
	words := wordsOf(*about, true)
	isFiller := func(word string) bool { return strings.Contains(fillers, " "+strings.ToLower(word)+" ") }
	if telling := slices.DeleteFunc(slices.Clone(words), isFiller); len(telling) > 0 {
		words = telling
	}
	for _, word := range words {
		if stem := stemOf(strings.ToLower(word)); !slices.Contains(s, stem) {
			s = append(s, stem)
		}
	}
	return s
}

// fillers are words of questions that say nothing of their subject.
const fillers = " the and for with what why how did does was were that this these those not from into out our you your mine had has have are " +
	"when which who whom where then than but its about all any can could would should there they them been being will may must say said " +
	"some just like over also after before between because while "

// stemOf is a word without the ending of its form, where enough is left.
func stemOf(word string) string {
	for _, ending := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		least := 4
		if ending == "s" {
			least = 3
		}
		if stem, ok := strings.CutSuffix(word, ending); ok && utf8.RuneCountInString(stem) >= least {
			return stem
		}
	}
	return word
}

// passage is some lines of a text that stay together.
type passage struct {
	from, to, chars int
	heading         int // the passage that is the heading above it; -1 for none
	isHeading       bool
	isCode          bool // it begins inside of a fence
	holds           wordSet
	kept            bool
}

// isBeside reports whether a passage is worth showing with another that is near.
func (p *passage) isBeside(other *passage) bool {
	return !p.kept && !p.isHeading && p.isCode == other.isCode && p.heading == other.heading
}

// on returns the passages of a text that hold words of a subject, with the headings above
// them, in at most about limit characters. It is false where none does.
func (t *body) on(s subject, limit int) (body, bool) {
	lines := split(t.lines())
	passages := passagesOf(lines, s)
	var counts wordCounts
	for i := range passages {
		counts.add(passages[i].holds)
	}
	weights := counts.weights()
	room, isAny := limit*foundShare/100, false
	keep := func(i int) {
		for ; i >= 0 && !passages[i].kept; i = passages[i].heading {
			passages[i].kept = true
			room -= passages[i].chars
		}
	}
	value := func(p *passage) float64 {
		sum := p.holds.sum(weights)
		if p.heading >= 0 {
			sum += (passages[p.heading].holds &^ p.holds).sum(weights) / 2
		}
		if p.isCode {
			sum /= 2
		}
		return sum
	}
	var ranked []int
	for i := range passages {
		if p := &passages[i]; !p.isHeading && value(p) > 0 {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(value(&passages[b]), value(&passages[a])) })
	var best []int
	for _, i := range ranked {
		if isAny && (passages[i].chars+maxMark > room || value(&passages[i])*100 < value(&passages[ranked[0]])*leastValue) {
			continue
		}
		keep(i)
		room -= maxMark
		best, isAny = append(best, i), true
	}
	if !isAny {
		return *t, false
	}
	room += limit * (100 - foundShare) / 100
	if last := len(passages) - 1; passages[last].chars <= limit*outcomeShare/100 && !passages[last].isCode {
		keep(last) // a text says at its end what it comes to
	}
	for _, step := range []int{1, -1, 2, -2, 3} {
		if step != 1 && step != -1 && limit-room > aboutWhole {
			break
		}
		for _, i := range best {
			if at := i + step; 0 <= at && at < len(passages) && passages[at].isBeside(&passages[i]) && passages[at].chars <= room {
				keep(at)
			}
		}
	}
	for i := range passages {
		for at := passages[i].from; at < passages[i].to; at++ {
			lines[at].kept = passages[i].kept && !lines[at].isGap
		}
	}
	keepSmall(lines)
	keepShortEnds(lines)
	var b bodyBuilder
	for i := range lines {
		if lines[i].kept {
			b.keep(lines[i].text)
		} else {
			b.skip(lines[i].chars)
		}
	}
	shorter := b.done()
	shorter.inside = t.inside
	return shorter, true
}

// keepShortEnds keeps what is no longer than a mark before the first line that is kept, and
// behind the last.
func keepShortEnds(lines []line) {
	first := slices.IndexFunc(lines, func(l line) bool { return l.kept })
	last := len(lines) - 1
	for ; last >= 0 && !lines[last].kept; last-- {
	}
	for _, end := range [][]line{lines[:max(first, 0)], lines[last+1:]} {
		chars := 0
		for i := range end {
			chars += end[i].chars
		}
		if chars <= len(mark(10)) && !slices.ContainsFunc(end, func(l line) bool { return l.isGap }) {
			for i := range end {
				end[i].kept = true
			}
		}
	}
}

// split returns lines of which none is longer than a passage.
func split(lines []line) []line {
	var parts []line
	for _, l := range lines {
		for !l.isGap && l.chars > passageBlock {
			head := startOf(l.text, passageBlock)
			for _, end := range []string{`\n`, ". "} { // of a line in a JSON string, of a sentence
				if at := strings.LastIndex(head, end) + len(end); at > len(head)/2 {
					head = head[:at]
					break
				}
			}
			parts = append(parts, line{text: head, chars: utf8.RuneCountInString(head)})
			l = line{text: l.text[len(head):], chars: l.chars - utf8.RuneCountInString(head)}
		}
		parts = append(parts, l)
	}
	return parts
}

// passagesOf divides lines into passages.
func passagesOf(lines []line, s subject) []passage {
	var passages []passage
	heading, fence := -1, ""
	for i := 0; i < len(lines); {
		p := passage{from: i, heading: heading, isCode: fence != ""}
	lines:
		for ; i < len(lines); i++ {
			l := &lines[i]
			bare := strings.TrimSpace(l.text)
			_, marked := headingOf(bare)
			isHeading := fence == "" && (marked || isBold(bare))
			opens := ""
			if fence == "" {
				opens = fenceOf(bare)
			}
			begins := isHeading || l.isGap || opens != "" || fence == "" && isItem(bare) || p.chars+l.chars > passageBlock
			if i > p.from && (begins || p.isHeading && bare != "") {
				break
			}
			p.isHeading = p.isHeading || isHeading
			p.chars += l.chars
			switch {
			case fence != "" && closes(bare, fence):
				i++
				fence = ""
				break lines
			case opens != "":
				fence, p.isCode = opens, true
			}
			if bare == "" && !p.isHeading && fence == "" {
				i++
				break
			}
		}
		p.to = i
		var held strings.Builder
		for _, l := range lines[p.from:p.to] {
			held.WriteString(l.text)
		}
		p.holds = s.in(held.String())
		passages = append(passages, p)
		if p.isHeading {
			passages[len(passages)-1].heading = -1
			heading = len(passages) - 1
		}
	}
	return passages
}

// on is the event with the passages of its text that are on a subject, of at most about
// limit characters where it has more than aboutWhole. Where none is, it is shortened as
// ever.
func (e event) on(s subject, limit int) event {
	if e.body.length() <= max(limit, aboutWhole) {
		return e
	}
	shorter, found := e.body.on(s, limit)
	if !found {
		return e.shortened(aboutWhole)
	}
	e.body = shorter
	return e
}

// in is the words of the subject that a text holds.
func (s subject) in(text string) wordSet {
	folded := strings.ToLower(text)
	var set wordSet
	for word, stem := range s {
		if strings.Contains(folded, stem) {
			set |= 1 << word
		}
	}
	return set
}

// mostRelevant is how many events on a subject are returned at once, and maxRelevant how
// many are kept to choose them from.
const (
	mostRelevant = 12
	maxRelevant  = 400
	leastEvent   = 50 // percent of the value of the best one
	workShare    = 60 // percent of the value of what was said that work has
)

// relevant are events that hold words of a subject.
type relevant struct {
	all, found int        // events that were looked at, and those of them that hold a word
	counts     wordCounts // in passages
	events     []relevantEvent
	own        map[int]bool // calls of these tools, by event
}

type relevantEvent struct {
	event
	holds    wordSet
	passages []wordSet // those that are in no other
}

// isOwn reports whether an event is a call of these very tools or its result, which hold
// whatever was looked for.
func (r *relevant) isOwn(e *conversations.Event, kind string, call int) bool {
	if kind == kindToolCall && isRecallTool()(e.Name) {
		if r.own == nil {
			r.own = map[int]bool{}
		}
		r.own[e.Number] = true
		return true
	}
	return kind == kindToolResult && r.own[call]
}

func (r *relevant) add(e event, s subject) {
	r.all++
	found := relevantEvent{event: e}
	for _, p := range passagesOf(split(e.body.lines()), s) {
		r.counts.add(p.holds)
		found.holds |= p.holds
		isIn := func(other wordSet) bool { return p.holds&^other == 0 }
		if p.holds == 0 || slices.ContainsFunc(found.passages, isIn) {
			continue
		}
		found.passages = append(slices.DeleteFunc(found.passages, func(other wordSet) bool { return other&^p.holds == 0 }), p.holds)
	}
	if found.holds == 0 {
		return
	}
	r.found++
	found.event = e.on(s, aboutOne)
	r.events = append(r.events, found)
	if len(r.events) == 2*maxRelevant {
		r.rank()
		r.events = slices.Clone(r.events[:maxRelevant])
	}
}

// rank puts the events first that tell most, the latest first where they tell the same,
// and returns how much each does: what its best passage does, and a little for the rest.
func (r *relevant) rank() []float64 {
	weights := r.counts.weights()
	value := func(e *relevantEvent) float64 {
		best := 0.0
		for _, p := range e.passages {
			best = max(best, p.sum(weights))
		}
		best += e.holds.sum(weights) / 4
		if kind := e.shown.EventKind; kind != kindUser && !isSaid(kind) {
			best = best * workShare / 100
		}
		return best
	}
	values := make(map[int]float64, len(r.events))
	for i := range r.events {
		values[r.events[i].shown.Event] = value(&r.events[i])
	}
	slices.SortStableFunc(r.events, func(a, b relevantEvent) int {
		return cmp.Or(cmp.Compare(values[b.shown.Event], values[a.shown.Event]), byNumber(b.event, a.event))
	})
	sorted := make([]float64, len(r.events))
	for i := range r.events {
		sorted[i] = values[r.events[i].shown.Event]
	}
	return sorted
}

// joinEqual leaves out the events of which the same is shown as of one before, and their
// values.
func (r *relevant) joinEqual(values []float64) []float64 {
	seen := map[string]bool{}
	events, left := r.events[:0], values[:0]
	for i, e := range r.events {
		if text := strings.Join(e.body.parts, "\n"); !seen[text] {
			seen[text] = true
			events, left = append(events, e), append(left, values[i])
		}
	}
	r.events = events
	return left
}

// aboutSubject is the answer with the events that tell most on a subject.
func (r *reading) aboutSubject() *conversation.ReadEnvelope {
	values := r.onSubject.rank()
	values = r.onSubject.joinEqual(values)
	n := 0
	for n < min(len(values), mostRelevant) && values[n]*100 >= values[0]*leastEvent {
		n++
	}
	build := func(n int) *conversation.ReadEnvelope {
		var turns []turn
		events := slices.Clone(r.onSubject.events[:n])
		slices.SortFunc(events, func(a, b relevantEvent) int { return byNumber(a.event, b.event) })
		for _, e := range events {
			if len(turns) == 0 || turns[len(turns)-1].number != e.turn {
				turns = append(turns, turn{number: e.turn})
			}
			last := &turns[len(turns)-1]
			last.events = append(last.events, e.event)
		}
		e := r.bare(turns, 0)
		note := fmt.Sprintf("No event holds a word of about; %s looked at.", count(r.onSubject.all, "event was", "events were"))
		if n > 0 {
			note = fmt.Sprintf("%d of %s that hold words of about, of %d", n, count(r.onSubject.found, "event", "events"), r.onSubject.all)
			if n < r.onSubject.found {
				note += ", those that tell most"
			}
			note += "; event=N shows one in full, with about its passages."
		}
		e.Truncated = e.Truncated || n < r.onSubject.all
		e.Notes = append(append(e.Notes, note), r.damageNotes()...)
		return e
	}
	for n > 1 && chars(build(n)) > aboutRead {
		n--
	}
	return build(n)
}

// subjectNote says what is shown of events that are not whole.
func (r *reading) subjectNote(events []event) []string {
	isShort, isOn := false, false
	for i := range events {
		isShort = isShort || events[i].body.isShortened()
		isOn = isOn || r.subject.in(events[i].body.String()) != 0
	}
	switch {
	case !isShort:
		return nil
	case !isOn:
		return []string{"No word of about stands here; without about an event is whole."}
	default:
		return []string{"Shown are the passages on about; without it an event is whole."}
	}
}
