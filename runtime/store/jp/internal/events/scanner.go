package events

import (
	"cmp"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// MaxDepth is how many arrays and objects may be open at once, counting the
// outermost array. Deeper files are damaged.
const MaxDepth = jsontext.MaxDepth

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
	state           scanState
	count           int // events returned so far, also the index of the next one
	event           Event
	err             error

	turn     int
	anyTyped bool
	untimed  error // about the first event without a timestamp
	stamp    span  // the timestamp of the event that was returned last
}

type scanState uint8

const (
	scanBegin scanState = iota // before the array
	scanFirst                  // behind '['
	scanMore                   // behind an event
	scanDone
)

// NewScanner returns a scanner over the whole content of an events.json file.
// The data must not change while the scanner or an event of it is in use.
func NewScanner(data []byte) *Scanner { return &Scanner{Cursor: jsontext.Cursor{Data: data}} }

// Next advances to the next event. It returns false at the end and at the
// first damage; every whole event before the damage has been returned then.
func (s *Scanner) Next() bool {
	switch s.state {
	case scanBegin:
		if !s.open() {
			return s.stop()
		}
	case scanMore:
		if !s.separator() {
			return s.stop()
		}
	case scanDone:
		return false
	}
	if !s.Space() {
		return s.stop()
	}
	switch c := s.Data[s.Pos]; {
	case c == '{':
		if s.scanEvent() {
			s.state = scanMore
			return true
		}
	case c == ']' && s.state == scanFirst:
		s.Pos++
		s.close()
	case c == ']':
		s.fail(DamageSyntax, s.Pos, "expected another event after ',', found ']'")
	default:
		s.fail(DamageNotObject, s.Pos, "expected an event, which is a JSON object, found "+jsontext.Describe(c))
	}
	return s.stop()
}

// Event returns the current event. The value behind the pointer is overwritten
// by Next.
func (s *Scanner) Event() *Event { return &s.event }

// Err returns nil after a whole file, otherwise a *DamageError, or the error of [Scanner.Fail].
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

func (s *Scanner) stop() bool {
	if f := s.Failure; f != nil {
		s.err, s.Failure = damage(f, s.count), nil
	}
	s.state = scanDone
	return false
}

// open consumes the '[' of the array.
func (s *Scanner) open() bool {
	s.Pos = jsontext.SkipSpace(s.Data, 0)
	if s.Pos == len(s.Data) {
		return s.fail(DamageCutOff, s.Pos, "the file is empty; expected a JSON array of events")
	}
	if c := s.Data[s.Pos]; c != '[' {
		return s.fail(DamageNotArray, s.Pos, "expected '[', the start of a JSON array of events, found "+jsontext.Describe(c))
	}
	s.Pos++
	s.state = scanFirst
	return true
}

// separator consumes what follows an event: ',' (true), or the end of the array
// with everything behind it, or damage.
func (s *Scanner) separator() bool {
	if !s.Space() {
		return false
	}
	switch c := s.Data[s.Pos]; c {
	case ',':
		s.Pos++
		return true
	case ']':
		s.Pos++
		s.close()
		return false
	default:
		return s.fail(DamageSyntax, s.Pos, "expected ',' or ']' after an event, found "+jsontext.Describe(c))
	}
}

// close checks that nothing follows the array.
func (s *Scanner) close() {
	if s.Pos = jsontext.SkipSpace(s.Data, s.Pos); s.Pos < len(s.Data) {
		s.fail(DamageTrailingData, s.Pos, "expected the end of the file after the array, found "+jsontext.Describe(s.Data[s.Pos]))
	}
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

// fail records the damage and returns false, so that callers can return it.
func (s *Scanner) fail(kind DamageKind, offset int, detail string) bool {
	s.err = &DamageError{Kind: kind, Offset: int64(offset), Event: s.count, Detail: detail}
	return false
}

// Fail ends the scan with an error that is not about the file.
func (s *Scanner) Fail(err error) { s.state, s.err = scanDone, err }
