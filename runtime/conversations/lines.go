package conversations

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// search is the search of one conversation. Of its matches, the first room ones
// are handed to emit with their context.
type search struct {
	*query
	room   int // how many more matches are wanted; negative means all
	emit   func(*Line) error
	buffer *store.Buffer

	matches int
	own     int // as [Matches.Own]
	calls   ownCalls
	done    bool              // nothing further is wanted
	at      Line              // where the text stands that is being searched
	event   *transcript.Event // nil for a title
	timed   bool              // at.Time has been read
	out     Line              // what emit gets
}

// run searches a conversation. The error is the one emit returned, or that of the
// context.
func (s *search) run(ctx context.Context, f *finding, needEvents bool) error {
	err := s.title(ctx, f.stored.Title)
	if err == nil && needEvents && (s.toEnd || !s.done) {
		err = s.events(ctx, f)
	}
	f.matches, f.own = s.matches, s.own
	return err
}

func (s *search) title(ctx context.Context, title string) error {
	if s.Scopes&transcript.ScopeTitle == 0 {
		return nil
	}
	s.at, s.event = Line{Scope: transcript.ScopeTitle, Event: -1}, nil
	if s.ByEvent {
		s.at.EventChars = utf8.RuneCountInString(title)
	}
	return s.lines(ctx, []byte(title), s.pattern)
}

func (s *search) events(ctx context.Context, f *finding) error {
	events, err := f.stored.Events(ctx, s.buffer)
	if err != nil {
		f.problem = unreadable(f.stored.ID, err)
		return nil
	}
	defer events.Close()
	if s.matches == 0 && sift(ctx, events, []*pattern{s.pattern}) {
		return ctx.Err()
	}
	var numbering transcript.Numbering
	for events.Next(ctx) {
		e := events.Event()
		number, scope := numbering.Next(e.Kind), e.Kind.Scope()
		search, leftOut := s.calls.searched(e, s.Scopes, s.Own, s.OwnToo)
		if s.done || !search || s.toldElsewhere(e) || leftOut && !s.CountAll || !s.decode(e) {
			continue
		}
		if leftOut {
			s.own += countLines(s.buffer.Text, s.pattern)
			continue
		}
		s.at, s.event, s.timed = Line{Scope: scope, Turn: e.Turn, Event: e.Index, EventNumber: number}, e, false
		if err := s.lines(ctx, s.buffer.Text, s.pattern); err != nil {
			return err
		}
		if s.done && !s.toEnd {
			break
		}
	}
	totals := events.Totals()
	f.turns, f.Events, f.LastEventAt = totals.Turns, totals.Events, totals.LastAt
	f.problem = problemOf(f.stored.ID, events)
	return nil
}

// decode puts the text of an event into s.buffer.Text. It returns false when the
// stored bytes show that there is no match.
func (s *search) decode(e *transcript.Event) bool {
	stored, form := e.Stored()
	if s.pattern.cannotMatch(stored, form) {
		return false
	}
	decode(e, stored, form, s.buffer)
	if s.ByEvent {
		unescapeCall(e, s.buffer)
	}
	return true
}

// decode puts the text of an event, which is stored so, into buffer.Text.
func decode(e *transcript.Event, stored []byte, form transcript.StoredForm, buffer *store.Buffer) {
	size := len(stored)
	if form == transcript.StoredBase64 {
		size = size / 4 * 3
	}
	buffer.Text = slices.Grow(buffer.Text[:0], size)
	buffer.Text, _ = e.AppendText(buffer.Text)
}

// lineFinder finds lines of a text, from the first to the last.
type lineFinder interface {
	// next returns the first line that starts at or after from, which is the start of a
	// line, and the first match in it.
	next(text []byte, from int) (l line, m Span, ok bool)
}

// linesPerLook is how many lines are found before the context is looked at again.
const linesPerLook = 4096

// lines counts the lines of a text that finder finds and emits those that are
// wanted, with their context. s.at is where the text stands.
func (s *search) lines(ctx context.Context, text []byte, finder lineFinder) error {
	var (
		number   = 1 // of the line at from
		from     = 0
		shown    = 0 // where the first line begins that was not emitted
		shownNum = 1
		due      = 0 // lines of context still due after the last match
	)
	for {
		l, m, ok := finder.next(text, from)
		if !ok {
			break
		}
		s.matches++
		if s.matches%linesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.room == 0 {
			from = l.next
			continue
		}
		s.room--
		number += bytes.Count(text[from:l.start], []byte{'\n'})
		var err error
		if shown, _, err = s.contextLines(text, shown, shownNum, l.start, due); err != nil {
			return err
		}
		before, beforeNum := l.start, number
		for i := 0; i < s.Context && before > shown; i++ {
			before = bytes.LastIndexByte(text[:before-1], '\n') + 1
			beforeNum--
		}
		if _, _, err = s.contextLines(text, before, beforeNum, l.start, s.Context); err != nil {
			return err
		}
		if err := s.line(text[l.start:l.end], Span{m.Start - l.start, m.End - l.start}, number, true); err != nil {
			return err
		}
		from, shown, due = l.next, l.next, s.Context
		number++
		shownNum = number
		if s.room == 0 && !s.CountAll {
			s.done = true
			break
		}
	}
	_, _, err := s.contextLines(text, shown, shownNum, len(text), due)
	return err
}

// countLines returns how many lines of a text finder finds.
func countLines(text []byte, finder lineFinder) int {
	n := 0
	for from := 0; ; n++ {
		l, _, ok := finder.next(text, from)
		if !ok {
			return n
		}
		from = l.next
	}
}

// contextLines emits up to n lines of text[from:to] as context and returns where
// it stopped.
func (s *search) contextLines(text []byte, from, number, to, n int) (int, int, error) {
	for ; n > 0 && from < to; n-- {
		l := lineAt(text, from)
		if err := s.line(text[l.start:l.end], Span{}, number, false); err != nil {
			return from, number, err
		}
		from = l.next
		number++
	}
	return from, number, nil
}

func (s *search) line(content []byte, m Span, number int, isMatch bool) error {
	if s.emit == nil {
		return nil
	}
	if s.event != nil && !s.timed {
		s.at.Time = s.event.Time()
		if s.ByEvent {
			s.at.EventChars = charsOf(s.event, s.buffer.Text)
		}
		s.timed = true
	}
	s.out = s.at
	l := &s.out
	l.Number, l.Text, l.IsMatch = number, content, isMatch
	if s.MaxLine > 0 && len(content) > s.MaxLine {
		if total := utf8.RuneCount(content); total > s.MaxLine {
			w := s.pattern.cutLine(content, m, total, s.MaxLine, isMatch)
			l.Text, l.Spans, l.Chars = w.text, slices.Values(w.submatches), total
		}
	}
	return s.emit(l)
}

// maxKept is how many bytes of lines may wait for their turn to be handed over.
// Lines that find no room are searched for again when their turn has come.
const maxKept = 4 << 20

// lineOverhead is about what a kept line takes besides its text.
const lineOverhead = 160

// keeper keeps lines for later, within a budget that all searches share.
type keeper struct {
	kept    *atomic.Int64
	lines   []Line
	size    int64
	dropped bool
}

// add keeps a copy of a line.
func (k *keeper) add(l *Line) error {
	if k.dropped {
		return nil
	}
	size := int64(lineOverhead + len(l.Text))
	if l.Chars > 0 { // the matches of a window are kept with it
		for range l.Spans {
			size += 16
		}
	}
	k.size += size
	if k.kept.Add(size) > maxKept {
		k.kept.Add(-k.size)
		k.lines, k.size, k.dropped = nil, 0, true
		return nil
	}
	c := *l
	c.Text = bytes.Clone(l.Text)
	k.lines = append(k.lines, c)
	return nil
}
