package transcript

import "time"

// MaxDepth is how many arrays and objects may be open at once, counting the
// outermost array. Deeper files are damaged.
const MaxDepth = 256

// Scanner walks the events of one events.json file.
//
//	s := transcript.NewScanner(data)
//	for s.Next() {
//		e := s.Event()
//		…
//	}
//	if err := s.Err(); err != nil { … } // *DamageError
//
// Strings are skipped without being looked into, so a control character or a
// wrong escape inside a string is not damage; everything else of the JSON
// grammar is checked.
type Scanner struct {
	data     []byte
	pos      int
	state    scanState
	count    int // events returned so far, also the index of the next one
	turn     int
	anyTyped bool
	event    Event
	err      *DamageError
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
func NewScanner(data []byte) *Scanner { return &Scanner{data: data} }

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
	if !s.skipSpace() {
		return s.stop()
	}
	switch c := s.data[s.pos]; {
	case c == '{':
		if s.scanEvent() {
			s.state = scanMore
			return true
		}
	case c == ']' && s.state == scanFirst:
		s.pos++
		s.close()
	case c == ']':
		s.fail(DamageSyntax, s.pos, "expected another event after ',', found ']'")
	default:
		s.fail(DamageNotObject, s.pos, "expected an event, which is a JSON object, found "+describe(c))
	}
	return s.stop()
}

// Event returns the current event. The value behind the pointer is overwritten
// by Next; a copy of it stays valid as long as the data.
func (s *Scanner) Event() *Event { return &s.event }

// Err returns nil after a whole file, else a *DamageError.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

func (s *Scanner) stop() bool {
	s.state = scanDone
	return false
}

// open consumes the '[' of the array.
func (s *Scanner) open() bool {
	s.pos = skipSpace(s.data, 0)
	if s.pos == len(s.data) {
		return s.fail(DamageCutOff, s.pos, "the file is empty; expected a JSON array of events")
	}
	if c := s.data[s.pos]; c != '[' {
		return s.fail(DamageNotArray, s.pos, "expected '[', the start of a JSON array of events, found "+describe(c))
	}
	s.pos++
	s.state = scanFirst
	return true
}

// separator consumes what follows an event: ',' (true), or the end of the array
// with everything behind it, or damage.
func (s *Scanner) separator() bool {
	if !s.skipSpace() {
		return false
	}
	switch c := s.data[s.pos]; c {
	case ',':
		s.pos++
		return true
	case ']':
		s.pos++
		s.close()
		return false
	default:
		return s.fail(DamageSyntax, s.pos, "expected ',' or ']' after an event, found "+describe(c))
	}
}

// close checks that nothing follows the array.
func (s *Scanner) close() {
	if s.pos = skipSpace(s.data, s.pos); s.pos < len(s.data) {
		s.fail(DamageTrailingData, s.pos, "expected the end of the file after the array, found "+describe(s.data[s.pos]))
	}
}

// scanEvent reads the object at s.pos into s.event.
func (s *Scanner) scanEvent() bool {
	e := &s.event
	e.data, e.start, e.present = s.data, s.pos, 0
	s.pos++
	for first := true; ; first = false {
		if !s.skipSpace() {
			return false
		}
		if first && s.data[s.pos] == '}' {
			s.pos++
			break
		}
		if s.data[s.pos] != '"' {
			return s.fail(DamageSyntax, s.pos, "expected a key in quotes, found "+describe(s.data[s.pos]))
		}
		key, ok := s.scanKey()
		if !ok {
			return false
		}
		start := s.pos
		if !s.skipValue() {
			return false
		}
		if f, known := fieldOf(key); known {
			e.set(f, span{start, s.pos})
		}
		if !s.skipSpace() {
			return false
		}
		c := s.data[s.pos]
		s.pos++
		if c == '}' {
			break
		}
		if c != ',' {
			return s.fail(DamageSyntax, s.pos-1, "expected ',' or '}' after a value, found "+describe(c))
		}
	}
	e.end = s.pos
	e.Index, e.Offset = s.count, int64(e.start)
	e.Kind = e.classify()
	e.Turn = s.turnOf(e.Kind)
	s.count++
	return true
}

// turnOf numbers the turns. A turn_start opens a turn, except that the first
// typed event opens turn 1 whatever it is: streams written before markers
// existed have none, and their events form one turn. Global events, such as a
// config_delta that opens the file, have no part in this.
func (s *Scanner) turnOf(k Kind) int {
	switch {
	case k.Global():
		return 0
	case !s.anyTyped:
		s.anyTyped = true
		s.turn = 1
	case k == KindTurnStart:
		s.turn++
	}
	return s.turn
}

// fail records the damage and returns false, so that callers can return it.
func (s *Scanner) fail(kind DamageKind, offset int, detail string) bool {
	s.err = &DamageError{Kind: kind, Offset: int64(offset), Event: s.count, Detail: detail}
	return false
}

// Count returns the number of events of all kinds and the timestamp of the
// last one, as JP counts them. A file that is damaged, or that holds an event
// without a timestamp, counts as 0 events with a zero time, and the error says
// why. An empty array is 0 events, a zero time and no error. A last timestamp
// that cannot be parsed is a zero time; the events still count.
func Count(data []byte) (events int, last time.Time, err error) {
	s := Scanner{data: data}
	for s.Next() {
		if !s.event.HasTimestamp() {
			return 0, time.Time{}, &EventError{Event: s.event.Index, Offset: s.event.Offset, Err: ErrNoTimestamp}
		}
	}
	if s.err != nil {
		return 0, time.Time{}, s.err
	}
	if s.count > 0 {
		if t, err := s.event.Timestamp(); err == nil {
			last = t
		}
	}
	return s.count, last, nil
}

// Turns returns the number of turns. The number covers the whole events before
// the damage when the error (a *DamageError) is not nil.
func Turns(data []byte) (int, error) {
	s := Scanner{data: data}
	for s.Next() {
	}
	return s.turn, s.Err()
}
