// Package events reads the events.json file of a JP conversation: a scanner over
// its events, which decodes them where it is asked to.
//
// The scanner works on a part of the file at a time. It copies and allocates
// nothing per event, and looks only at the structure. [Event.Decode] undoes JSON
// escapes, and the base64 that JP applies to tool data at rest.
//
// Everything recorded is untrusted. The package never panics on any input, never
// recurses deeper than [MaxDepth], never opens or writes a file, and never changes
// the bytes it was given.
package events

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// ErrNoTimestamp is the error of an event without a timestamp, which is one that
// has no such key, or a value of it that is not a string.
var ErrNoTimestamp = errors.New("the event has no timestamp")

// MaxDepth is how many arrays and objects may be open at once, counting the
// outermost array. Deeper files are damaged.
const MaxDepth = jsontext.MaxDepth

// DamageError says where a file stops being an array of events.
type DamageError struct {
	jsontext.Failure
	Event int // index of the damaged element; also the number of whole events before it
}

func (e *DamageError) Error() string {
	detail := map[jsontext.FailureKind]string{
		jsontext.CutOff:      "the file ends in the middle of the array",
		jsontext.CutInString: "the file ends inside a string",
		jsontext.TooDeep:     "nested deeper than any event JP writes",
	}[e.Kind]
	return fmt.Sprintf("damaged at byte %d (event %d): %s", e.Offset, e.Event, cmp.Or(e.Detail, detail))
}

// Scanner walks the events of one events.json file.
//
//	s := events.NewScanner(data)
//	for s.Next() {
//		e := s.Event()
//		…
//	}
//	if err := s.Err(); err != nil { … }
//
// Strings are skipped without being looked into, so a control character or a
// wrong escape inside a string is not damage; everything else of the JSON
// grammar is checked.
type Scanner struct {
	jsontext.Cursor // over the file
	begun, done     bool
	count           int // events returned so far, also the index of the next one
	event           Event
	err             error

	turn     int
	anyTyped bool
	untimed  error // about the first event without a timestamp
	stamp    span  // the timestamp of the event that was returned last
}

// NewScanner returns a scanner over the whole content of an events.json file.
// The data must not change while the scanner or an event of it is in use.
func NewScanner(data []byte) *Scanner { return &Scanner{Cursor: jsontext.Cursor{Data: data}} }

// Next advances to the next event. It returns false at the end and at the
// first damage; every whole event before the damage has been returned then.
func (s *Scanner) Next() bool {
	if s.done || s.advance() {
		return !s.done
	}
	s.done = true
	if s.Failure != nil {
		s.err = &DamageError{*s.Failure, s.count}
	}
	return false
}

// Event returns the current event. The value behind the pointer is overwritten
// by Next.
func (s *Scanner) Event() *Event { return &s.event }

// Err returns nil after a whole file, otherwise a *DamageError.
func (s *Scanner) Err() error { return s.err }

// Totals describes the events up to here, as JP counts them: a file that is
// damaged, or that holds an event without a timestamp, counts as 0 events.
func (s *Scanner) Totals() store.Totals {
	if err := cmp.Or(s.untimed, s.err); err != nil {
		return store.Totals{Turns: s.turn, Uncounted: err}
	}
	t := store.Totals{Turns: s.turn, Events: s.count}
	if s.count > 0 {
		t.LastAt = parseTime(s.Data[s.stamp.start+1 : s.stamp.end-1])
		t.BadTime = t.LastAt.IsZero()
	}
	return t
}

// advance reads the next event, and what is before it. It returns false at the end of the
// array, and where it fails.
func (s *Scanner) advance() bool {
	first := !s.begun
	if s.begun = true; first && !s.open() || !s.Space() {
		return false
	}
	c := s.Data[s.Pos]
	if c == ']' {
		s.Pos++
		return s.close()
	}
	if !first {
		if c != ',' {
			return s.fail("expected ',' or ']' after an event, found ")
		}
		if s.Pos++; !s.Space() {
			return false
		}
		if s.Data[s.Pos] == ']' {
			return s.fail("expected another event after ',', found ")
		}
	}
	if s.Data[s.Pos] != '{' {
		return s.fail("expected an event, which is a JSON object, found ")
	}
	return s.scanEvent()
}

// open consumes the '[' of the array.
func (s *Scanner) open() bool {
	s.Pos = jsontext.SkipSpace(s.Data, 0)
	if s.Pos == len(s.Data) {
		s.Failure = &jsontext.Failure{Kind: jsontext.CutOff, Offset: s.Pos, Detail: "the file is empty; expected a JSON array of events"}
		return false
	}
	if s.Data[s.Pos] != '[' {
		return s.fail("expected '[', the start of a JSON array of events, found ")
	}
	s.Pos++
	return true
}

// close fails where something follows the array, which is no event in any case.
func (s *Scanner) close() bool {
	if s.Pos = jsontext.SkipSpace(s.Data, s.Pos); s.Pos < len(s.Data) {
		s.fail("expected the end of the file after the array, found ")
	}
	return false
}

// scanEvent reads the object at s.Pos into s.event.
func (s *Scanner) scanEvent() bool {
	e := &s.event
	e.data, e.start, e.present = s.Data, s.Pos, 0
	whole := s.Object(1, func(key, value []byte) bool { // in the array
		if f, known := fieldOf(key); known {
			e.set(f, span{s.Pos - len(value), s.Pos})
		}
		return true
	})
	if !whole {
		return false
	}
	e.end = s.Pos
	e.Index, e.Offset = s.count, int64(e.start)
	e.Kind = e.classify()
	e.Turn = s.turnOf(e.Kind)
	if e.HasTimestamp() {
		s.stamp = e.fields[FieldTimestamp]
	} else if s.untimed == nil {
		s.untimed = fmt.Errorf("event %d (at byte %d): %w", e.Index, e.Offset, ErrNoTimestamp)
	}
	s.count++
	return true
}

// turnOf numbers the turns. A turn_start opens a turn, except that the first
// typed event opens turn 1 whatever it is: streams written before markers
// existed have none, and their events form one turn. Global events, such as a
// config_delta that opens the file, have no part in this.
func (s *Scanner) turnOf(k transcript.Kind) int {
	switch {
	case k.Global():
		return 0
	case !s.anyTyped:
		s.anyTyped = true
		s.turn = 1
	case k == transcript.KindTurnStart:
		s.turn++
	}
	return s.turn
}

// fail records what is at the current place, and returns false so that callers can return it.
func (s *Scanner) fail(expected string) bool {
	s.Failure = &jsontext.Failure{Offset: s.Pos, Detail: expected + jsontext.Describe(s.Data[s.Pos])}
	return false
}
