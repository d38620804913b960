package convcli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// query is what a search looks for and how much of it is wanted.
type query struct {
	pattern *pattern
	scopes  scopeSet
	context int // lines of context before and after a match
	maxLine int // longest line in characters; 0 means no limit
	// countAll goes on counting after the last match that is wanted.
	countAll bool
	// needActivity reads events to the end for the time of the last one.
	needActivity bool
}

// hit is a matching line, or a line of context.
type hit struct {
	scope      scopeSet
	turn       int // 1-based; 0 for a title
	event      int // index in the stream; -1 for a title
	line       int // 1-based in the text of the event
	timestamp  time.Time
	text       []byte
	match      bool // not a line of context
	chars      int  // length of the whole line in characters when text is a window of it, else 0
	submatches []span
}

// each calls yield with the matches in the text of a hit until it returns false.
func (h *hit) each(p *pattern, yield func(span) bool) {
	switch {
	case !h.match:
	case h.chars > 0:
		for _, s := range h.submatches {
			if !yield(s) {
				return
			}
		}
	default:
		p.each(h.text, -1, yield)
	}
}

// finding is what the search of one conversation found.
type finding struct {
	*workspace.Conversation
	matches int       // matching lines
	turns   int       // in the conversation
	last    time.Time // of the last event, as ls counts it
	hits    []hit
	size    int64 // of the hits kept in memory
	dropped bool  // hits were found but there was no room to keep them
	problem error // why the events could not be read, or not to the end
	unread  bool  // none of the events could be read
}

// search is the search of one conversation. Of its matches, the first room ones
// are handed to emit with their context.
type search struct {
	query
	room int // how many more matches are wanted; negative means all
	emit func(*hit) error

	r       *reader
	matches int
	done    bool              // nothing further is wanted
	hit     hit               // where the text stands that is being searched
	event   *transcript.Event // nil for a title
	timed   bool              // hit.timestamp has been read
	out     hit               // what emit gets
}

// run searches a conversation. The error is the one emit returned.
func (s *search) run(ctx context.Context, conv *workspace.Conversation) (finding, error) {
	f := finding{Conversation: conv}
	err := s.title(conv.Metadata.Title)
	if err == nil && (s.needActivity || s.countAll || !s.done && s.scopes != scopeTitle) {
		var data []byte
		if data, f.problem = s.r.read(ctx, conv); f.problem != nil {
			f.unread = true
		} else {
			err = s.events(data, &f)
		}
	}
	f.matches = s.matches
	return f, err
}

func (s *search) title(title string) error {
	if s.scopes&scopeTitle == 0 {
		return nil
	}
	s.hit, s.event = hit{scope: scopeTitle, event: -1}, nil
	return s.lines([]byte(title))
}

func (s *search) events(data []byte, f *finding) error {
	scanner := transcript.NewScanner(data)
	var last []byte // the timestamp of the latest event
	complete := true
	for scanner.Next() {
		e := scanner.Event()
		f.turns = max(f.turns, e.Turn)
		if s.needActivity {
			complete = complete && e.HasTimestamp()
			last, _ = e.Field(transcript.FieldTimestamp)
		}
		scope := scopeOf(e.Kind)
		if s.done || s.scopes&scope == 0 || !s.decode(e) {
			continue
		}
		s.hit, s.event, s.timed = hit{scope: scope, turn: e.Turn, event: e.Index}, e, false
		if err := s.lines(s.r.text); err != nil {
			return err
		}
		if s.done && !s.needActivity {
			return nil
		}
	}
	if err := scanner.Err(); err != nil {
		f.problem = fmt.Errorf("events.json is damaged, what stands before the damage was searched: %w", err)
		return nil
	}
	if complete && len(last) > 2 {
		// A last event without a readable time counts as no activity.
		f.last, _ = transcript.ParseTimestamp(string(transcript.AppendUnescaped(nil, last[1:len(last)-1])))
	}
	return nil
}

// decode puts the text of an event into s.r.text. It returns false when it can
// tell without decoding that there is no match.
func (s *search) decode(e *transcript.Event) bool {
	if raw, isBase64, ok := e.RawText(); ok {
		if s.pattern.cannotMatch(raw, isBase64) {
			return false
		}
		size := len(raw)
		if isBase64 {
			size = size / 4 * 3
		}
		s.r.text = slices.Grow(s.r.text[:0], size)
	} else if e.Kind == transcript.KindToolCall && s.pattern.cannotMatchCall(e.Raw()) {
		return false
	}
	s.r.text, _ = e.AppendText(s.r.text[:0])
	return true
}

// scopeOf returns the scope of the text of an event, or 0.
func scopeOf(kind transcript.Kind) scopeSet {
	switch kind {
	case transcript.KindUser:
		return scopeUser
	case transcript.KindAssistant:
		return scopeAssistant
	case transcript.KindReasoning:
		return scopeReasoning
	case transcript.KindStructured:
		return scopeStructured
	case transcript.KindToolCall:
		return scopeToolCall
	case transcript.KindToolResult:
		return scopeToolResult
	case transcript.KindInquiry:
		return scopeInquiry
	}
	return 0
}

// lines counts the matching lines of a text and emits those that are wanted, with
// their context. s.hit says where the text stands.
func (s *search) lines(text []byte) error {
	var (
		number   = 1 // of the line at from
		from     = 0
		shown    = 0 // where the first line begins that was not emitted
		shownNum = 1
		due      = 0 // lines of context still due after the last match
	)
	for {
		l, m, ok := s.pattern.next(text, from)
		if !ok {
			break
		}
		s.matches++
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
		for i := 0; i < s.context && before > shown; i++ {
			before = bytes.LastIndexByte(text[:before-1], '\n') + 1
			beforeNum--
		}
		if _, _, err = s.contextLines(text, before, beforeNum, l.start, s.context); err != nil {
			return err
		}
		if err := s.line(text[l.start:l.end], span{m.start - l.start, m.end - l.start}, number, true); err != nil {
			return err
		}
		from, shown, due = l.next, l.next, s.context
		number++
		shownNum = number
		if s.room == 0 && !s.countAll {
			s.done = true
			break
		}
	}
	_, _, err := s.contextLines(text, shown, shownNum, len(text), due)
	return err
}

// contextLines emits up to n lines of text[from:to] as context and returns where
// it stopped.
func (s *search) contextLines(text []byte, from, number, to, n int) (int, int, error) {
	for ; n > 0 && from < to; n-- {
		l := lineAt(text, from)
		if err := s.line(text[l.start:l.end], span{}, number, false); err != nil {
			return from, number, err
		}
		from = l.next
		number++
	}
	return from, number, nil
}

func (s *search) line(content []byte, m span, number int, isMatch bool) error {
	if s.emit == nil {
		return nil
	}
	if s.event != nil && !s.timed {
		s.hit.timestamp, _ = s.event.Timestamp() // stays zero when there is none
		s.timed = true
	}
	s.out = s.hit
	h := &s.out
	h.line, h.text, h.match = number, content, isMatch
	if s.maxLine > 0 && len(content) > s.maxLine {
		if total := utf8.RuneCount(content); total > s.maxLine {
			w := s.pattern.cutLine(content, m, total, s.maxLine, isMatch)
			h.text, h.submatches, h.chars = w.text, w.submatches, total
		}
	}
	return s.emit(h)
}

// maxKept is how many bytes of hits may wait for their turn to be written. Hits
// that find no room are searched for again when their turn has come.
const maxKept = 4 << 20

// hitOverhead is about what a kept hit takes besides its text.
const hitOverhead = 160

// keeper keeps hits for later, within a budget that all searches share.
type keeper struct {
	kept    *atomic.Int64
	hits    []hit
	size    int64
	dropped bool
}

// add keeps a copy of a hit.
func (k *keeper) add(h *hit) error {
	if k.dropped {
		return nil
	}
	size := int64(hitOverhead + cap(h.text) + len(h.submatches)*16)
	if h.chars == 0 {
		size = int64(hitOverhead + len(h.text))
	}
	k.size += size
	if k.kept.Add(size) > maxKept {
		k.kept.Add(-k.size)
		k.hits, k.size, k.dropped = nil, 0, true
		return nil
	}
	c := *h
	if h.chars == 0 {
		c.text = bytes.Clone(h.text)
	}
	k.hits = append(k.hits, c)
	return nil
}
