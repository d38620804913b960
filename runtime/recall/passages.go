package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
)

// What of a text is shown where the call names what it looks for, in characters.
const (
	aboutWhole = 800     // a text of no more is shown whole
	aboutEvent = 2000    // of the event that is asked for, or the answer to it
	aboutAside = 700     // of a request beside its answer
	aboutOne   = 900     // of each of several events
	aboutRead  = 4500    // of several events together, about
	aboutAhead = 200_000 // of a text, looked at
	// passageBlock is how long a passage is at most: a paragraph, an item, some lines of code.
	passageBlock = 500
	// foundShare is the part of what is shown, in percent, that passages have for the words
	// they hold. What stands around the best ones has the rest.
	foundShare = 70
	// leastValue is the part of the value of the best passage, in percent, that others have
	// that are shown.
	leastValue = 35
)

// subject is what a reader looks for: the stems of the words that name it. It is nil where
// the call does not say.
type subject []string

func newSubject(about *string) subject {
	if about == nil {
		return nil
	}
	var s subject
	for _, word := range wordsOf(*about, true) {
		if stem := stemOf(strings.ToLower(word)); !slices.Contains(s, stem) {
			s = append(s, stem)
		}
	}
	return s
}

// stemOf is a word without the ending of its form, where enough is left.
func stemOf(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && utf8.RuneCountInString(stem) > 3 {
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
	isCode          bool  // it begins inside of a fence
	holds           []int // words of the subject
	kept            bool
}

// on returns the passages of a text that hold words of a subject, with the headings above
// them, in at most about limit characters. It is false where none does.
func (t *body) on(s subject, limit int) (body, bool) {
	lines := split(t.lines())
	passages := passagesOf(lines, s)
	holding := make([]int, len(s))
	for i := range passages {
		for _, word := range passages[i].holds {
			holding[word]++
		}
	}
	weights := s.weights(len(passages), holding)
	room, isAny := limit*foundShare/100, false
	keep := func(i int) {
		for ; i >= 0 && !passages[i].kept; i = passages[i].heading {
			passages[i].kept = true
			room -= passages[i].chars
		}
	}
	value := func(p *passage) float64 {
		sum := 0.0
		for _, word := range p.holds {
			sum += weights[word]
		}
		if p.heading >= 0 {
			for _, word := range passages[p.heading].holds {
				if !slices.Contains(p.holds, word) {
					sum += weights[word] / 2
				}
			}
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
	for _, step := range []int{1, -1, 2} {
		for _, i := range best {
			if at := i + step; 0 <= at && at < len(passages) && !passages[at].kept && !passages[at].isHeading && passages[at].chars <= room {
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
			if at := strings.LastIndex(head, ". ") + 2; at > len(head)/2 {
				head = head[:at]
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
		for ; i < len(lines); i++ {
			l := &lines[i]
			bare := strings.TrimSpace(l.text)
			_, marked := headingOf(bare)
			isHeading := fence == "" && (marked || isBold(bare))
			begins := isHeading || l.isGap || fence == "" && isItem(bare) || p.chars+l.chars > passageBlock
			if i > p.from && (begins || p.isHeading && bare != "") {
				break
			}
			p.isHeading = p.isHeading || isHeading
			p.chars += l.chars
			switch {
			case fence != "" && closes(bare, fence):
				fence = ""
			case fence == "":
				fence = fenceOf(bare)
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
		return e.shortened(limit)
	}
	e.body = shorter
	return e
}

// holds reports which words of the subject a text holds.
func (s subject) in(text string) []int {
	folded := strings.ToLower(text)
	var holds []int
	for word, stem := range s {
		if strings.Contains(folded, stem) {
			holds = append(holds, word)
		}
	}
	return holds
}

// weights are what the words of a subject tell, of which some of all texts hold each: what
// few hold tells more.
func (s subject) weights(all int, holding []int) []float64 {
	weights := make([]float64, len(s))
	for word, n := range holding {
		if n > 0 {
			weights[word] = math.Log(1 + float64(all)/float64(n))
		}
	}
	return weights
}

// mostRelevant is how many events on a subject are returned at once, and maxRelevant how
// many are kept to choose them from.
const (
	mostRelevant = 12
	maxRelevant  = 400
	workShare    = 60 // percent of the value of what was said that work has
)

// relevant are events that hold words of a subject.
type relevant struct {
	all, found int // events that were looked at, and those of them that hold a word
	holding    []int
	events     []relevantEvent
}

type relevantEvent struct {
	event
	holds []int
}

func (r *relevant) add(e event, s subject) {
	r.all++
	if r.holding == nil {
		r.holding = make([]int, len(s))
	}
	holds := s.in(e.body.String())
	if len(holds) == 0 {
		return
	}
	r.found++
	for _, word := range holds {
		r.holding[word]++
	}
	r.events = append(r.events, relevantEvent{e.on(s, aboutOne), holds})
	if len(r.events) == 2*maxRelevant {
		r.rank(s)
		r.events = slices.Clone(r.events[:maxRelevant])
	}
}

// rank puts the events first that tell most, the latest first where they tell the same.
func (r *relevant) rank(s subject) []float64 {
	weights := s.weights(r.all, r.holding)
	value := func(e relevantEvent) float64 {
		sum := 0.0
		for _, word := range e.holds {
			sum += weights[word]
		}
		if kind := e.shown.EventKind; kind != kindUser && !isSaid(kind) {
			sum = sum * workShare / 100
		}
		return sum
	}
	slices.SortStableFunc(r.events, func(a, b relevantEvent) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), byNumber(b.event, a.event))
	})
	values := make([]float64, len(r.events))
	for i, e := range r.events {
		values[i] = value(e)
	}
	return values
}

// aboutSubject is the answer with the events that tell most on a subject.
func (r *reading) aboutSubject() *conversation.ReadEnvelope {
	values := r.onSubject.rank(r.subject)
	n := 0
	for n < min(len(values), mostRelevant) && values[n]*100 >= values[0]*leastValue {
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
