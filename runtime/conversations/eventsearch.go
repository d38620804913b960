package conversations

import (
	"bytes"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// eventSearch is the search of one conversation for events.
type eventSearch struct {
	*eventQuery
	buffer *store.Buffer
	found  func(*EventMatch) error // handed each event that matches; nil only counts

	id transcript.ID
	eventCounts
	numbering transcript.Numbering
	calls     ownCalls
	maybe     []bool     // by word: whether the text that is searched may hold it
	finding   search     // of lines in one text
	match     EventMatch // what found gets
}

// eventCounts is what is counted in a conversation.
type eventCounts struct {
	numbered int   // events that have a number
	matches  int   // as [EventMatches.Total]
	own      int   // as [EventMatches.Own]
	holding  []int // by word: events that hold it; nil without words
}

// run searches a conversation. The error is the one found returned, or that of the
// context.
func (s *eventSearch) run(ctx context.Context, f *eventFinding) error {
	s.id = f.ID
	s.maybe = make([]bool, len(s.words))
	if len(s.Words) > 0 {
		s.holding = make([]int, len(s.words))
	}
	s.finding.query = &query{SearchQuery: SearchQuery{Context: s.Context, CountAll: true}}
	err := s.title(ctx, f.stored.Title)
	if err == nil {
		err = s.events(ctx, f)
	}
	s.numbered = s.numbering.Events
	f.eventCounts = s.eventCounts
	return err
}

func (s *eventSearch) title(ctx context.Context, title string) error {
	if s.Scopes&transcript.ScopeTitle == 0 || s.Number != 0 {
		return nil
	}
	for i := range s.maybe {
		s.maybe[i] = true
	}
	s.match = EventMatch{Scope: transcript.ScopeTitle}
	return s.text(ctx, []byte(title), nil, false)
}

func (s *eventSearch) events(ctx context.Context, f *eventFinding) error {
	events, err := f.stored.Events(ctx, s.buffer)
	if err != nil {
		f.problem = unreadable(f.stored.ID, err)
		return nil
	}
	defer events.Close()
	held := slices.ContainsFunc(s.holding, func(n int) bool { return n > 0 }) // in the title
	if s.Number == 0 && s.matches == 0 && !held && sift(ctx, events, s.words) {
		return ctx.Err()
	}
	for events.Next(ctx) {
		if err := s.event(ctx, events.Event()); err != nil {
			return err
		}
	}
	totals := events.Totals()
	f.turns, f.Events, f.LastEventAt = totals.Turns, totals.Events, totals.LastAt
	f.problem = problemOf(f.stored.ID, events)
	return nil
}

func (s *eventSearch) event(ctx context.Context, e *transcript.Event) error {
	number := s.numbering.Next(e.Kind)
	search, leftOut := s.calls.searched(e, s.Scopes, s.Own, s.OwnToo)
	if !search || s.toldElsewhere(e) || s.Number != 0 && number != s.Number || !s.decode(e) {
		return nil
	}
	s.match = EventMatch{Number: number, Turn: e.Turn, Scope: e.Kind.Scope()}
	return s.text(ctx, s.buffer.Text, e, leftOut)
}

// decode puts the text of an event into s.buffer.Text, and notes which words it
// may hold. It returns false when the stored bytes show that there is no match.
func (s *eventSearch) decode(e *transcript.Event) bool {
	stored, form := e.Stored()
	any := false
	for i, word := range s.words {
		s.maybe[i] = !word.cannotMatch(stored, form)
		any = any || s.maybe[i]
	}
	if !any {
		return false
	}
	decode(e, stored, form, s.buffer)
	unescapeCall(e, s.buffer)
	return true
}

// unescapeCall unescapes the strings in the arguments of a tool call, whose text is
// buffer.Text. Of other events nothing is escaped.
func unescapeCall(e *transcript.Event, buffer *store.Buffer) {
	if e.Kind == transcript.KindToolCall && bytes.IndexByte(buffer.Text, '\\') >= 0 {
		buffer.Text = transcript.UnescapeStrings(buffer.Text, len(e.AppendName(nil, 0)))
	}
}

// text searches the text of an event, or a title, where there is no event. What is
// left out is only counted.
func (s *eventSearch) text(ctx context.Context, text []byte, e *transcript.Event, leftOut bool) error {
	held := 0
	for i, word := range s.words {
		start := -1
		if s.maybe[i] {
			start, _ = word.finder.Find(text)
		}
		if start < 0 {
			continue
		}
		held++
		if !leftOut && len(s.Words) > 0 {
			s.holding[i]++
		}
	}
	if held == 0 || s.Apart() && held < len(s.words) {
		return nil
	}
	n := 1
	var err error
	m := &s.match
	shown := !leftOut && s.found != nil
	wanted := shown && (s.Wanted == nil || s.Wanted(s.id, m.Number))
	switch {
	case !s.Apart():
		if err = s.lines(ctx, text, wanted, s.MaxLines, &wordLines{words: s.words}); err == nil {
			n = m.Matches
		}
	case shown:
		err = s.apart(ctx, text, wanted)
	}
	switch {
	case err != nil:
		return err
	case leftOut:
		s.own += n
		return nil
	}
	s.matches += n
	if !shown {
		return nil
	}
	if e != nil {
		m.Time = e.Time()
	}
	if wanted {
		m.Chars = charsOf(e, text)
	}
	return s.found(m)
}

// apart finds the lines of a text that holds all words.
func (s *eventSearch) apart(ctx context.Context, text []byte, wanted bool) error {
	part, err := shortestPart(ctx, text, s.words)
	if err != nil {
		return err
	}
	s.match.Spread = part.chars
	all := &wordLines{words: s.words, part: part.matches}
	if !wanted || s.MaxLines == 0 || s.Number != 0 {
		return s.lines(ctx, text, wanted, s.MaxLines, all)
	}
	if err := s.lines(ctx, text, true, s.MaxLines, &wordLines{part: part.matches}); err != nil {
		return err
	}
	return s.lines(ctx, text, false, 0, all)
}

// lines counts the lines of a text that finder finds, and where they are wanted,
// keeps the first most of them, or all where most is 0.
func (s *eventSearch) lines(ctx context.Context, text []byte, wanted bool, most int, finder *wordLines) error {
	f := &s.finding
	f.matches, f.room, f.emit = 0, 0, nil
	if wanted {
		if f.room = most; most == 0 {
			f.room = -1
		}
		f.emit = func(l *Line) error {
			s.match.Lines = append(s.match.Lines, s.line(l, finder))
			return nil
		}
	}
	err := f.lines(ctx, text, finder)
	s.match.Matches = f.matches
	return err
}

// line returns a line as it is handed over.
func (s *eventSearch) line(l *Line, finder *wordLines) EventLine {
	out := EventLine{Number: l.Number, IsMatch: l.IsMatch, Sum: LineSum(l.Text)}
	if most := max(s.MaxLine, MinWindow); s.MaxLine > 0 && len(l.Text) > most {
		if total := utf8.RuneCount(l.Text); total > most {
			next := func(int) (Span, bool) { return Span{}, false }
			if l.IsMatch {
				next = finder.within(l.Text, s.words)
			}
			out.Text, out.Chars = windows(l.Text, total, most, s.MaxWindows, next), total
			return out
		}
	}
	out.Text = string(l.Text)
	return out
}

// LineSum returns [EventLine.Sum] of a whole line: the FNV-1a hash of it with each
// run of white space as one space, and none around it.
func LineSum(line []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	between := false
	for word := range bytes.FieldsSeq(line) {
		if between {
			h = (h ^ ' ') * prime
		}
		between = true
		for _, c := range word {
			h = (h ^ uint64(c)) * prime
		}
	}
	return h
}

// charsOf returns how many characters the text of an event has as it is read,
// which for all but tool calls is the text that is searched.
func charsOf(e *transcript.Event, text []byte) int {
	if e == nil || e.Kind != transcript.KindToolCall {
		return utf8.RuneCount(text)
	}
	body, info := e.AppendBody(text[len(text):], transcript.Limits{JSON: 1}) // which counts without holding all
	if info.Chars > 0 {
		return info.Chars
	}
	return utf8.RuneCount(body)
}
