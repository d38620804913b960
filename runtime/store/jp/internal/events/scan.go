// Package events reads the events.json file of a JP conversation.
//
// [Scan] walks the structure of a file and allocates nothing per event. [Event.Decode] undoes
// JSON escapes, and the base64 that JP applies to tool data at rest.
//
// Everything recorded is untrusted. The package never panics on any input, never
// recurses deeper than [jsontext.MaxDepth], never opens or writes a file, and never changes
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

// Scan hands over the events of a file until yield returns false, each in the same
// place, and returns what they come to as JP counts them: a file that is damaged,
// or that holds an event without a timestamp, counts as 0 events. The error is a
// [*DamageError]; every whole event before the damage has been handed over then.
//
// Strings are skipped without being looked into, so a control character or a
// wrong escape inside a string is not damage; everything else of the JSON
// grammar is checked.
func Scan(data []byte, yield func(*Event) bool) (store.Totals, error) {
	s := scanner{Cursor: jsontext.Cursor{Data: data}}
	for s.next() && yield(&s.event) {
	}
	if s.Failure == nil {
		return s.totals(s.untimed), nil
	}
	damage := &DamageError{*s.Failure, s.count}
	return s.totals(cmp.Or[error](s.untimed, damage)), damage
}

type scanner struct {
	jsontext.Cursor // over the file
	event           Event
	count           int // of events so far
	turn            int
	untimed         error // about the first event without a timestamp
}

func (s *scanner) totals(uncounted error) store.Totals {
	t := store.Totals{Turns: s.turn, Uncounted: uncounted}
	if uncounted == nil && s.count > 0 {
		t.Events = s.count
		t.LastAt = s.event.Time()
		t.BadTime = t.LastAt.IsZero()
	}
	return t
}

// next reads the next event, and what is before it. It returns false at the end of the
// array, and where it fails.
func (s *scanner) next() bool {
	first := s.Pos == 0
	if first && !s.open() || !s.Space() {
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
	return s.read()
}

// open consumes the '[' of the array.
func (s *scanner) open() bool {
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
func (s *scanner) close() bool {
	if s.Pos = jsontext.SkipSpace(s.Data, s.Pos); s.Pos < len(s.Data) {
		s.fail("expected the end of the file after the array, found ")
	}
	return false
}

// read reads the object at s.Pos.
func (s *scanner) read() bool {
	start := s.Pos
	e := Event{Index: s.count, Offset: start}
	whole := s.Object(1, func(key, value []byte) bool { // in the array
		field := e.field(key)
		if field != nil {
			*field = value
		}
		if field == &e.metadata {
			e.metadataAt = s.Pos - len(value) - start
		}
		return true
	})
	if !whole {
		return false
	}
	e.Raw = s.Data[start:s.Pos:s.Pos]
	e.Kind = e.classify()
	e.Turn = s.turnOf(e.Kind)
	if !e.HasTimestamp() && s.untimed == nil {
		s.untimed = fmt.Errorf("event %d (at byte %d): %w", e.Index, e.Offset, ErrNoTimestamp)
	}
	s.event = e
	s.count++
	return true
}

// turnOf numbers the turns. A turn_start opens a turn, except that the first
// typed event opens turn 1 whatever it is: streams written before markers
// existed have none, and their events form one turn. Global events, such as a
// config_delta that opens the file, have no part in this.
func (s *scanner) turnOf(k transcript.Kind) int {
	if k.Global() {
		return 0
	}
	if s.turn == 0 || k == transcript.KindTurnStart {
		s.turn++
	}
	return s.turn
}

// fail records what is at the current place, and returns false so that callers can return it.
func (s *scanner) fail(expected string) bool {
	s.Failure = &jsontext.Failure{Offset: s.Pos, Detail: expected + jsontext.Describe(s.Data[s.Pos])}
	return false
}
