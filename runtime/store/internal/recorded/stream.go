package recorded

import (
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Stream hands over the events of a conversation, those of one record behind those of
// another. [Stream.Reset] makes it ready.
type Stream struct {
	queue []Event // of the record before
	next  int     // of the queue
	event transcript.Event
	last  time.Time
}

// Reset begins again with the first event.
func (s *Stream) Reset() {
	s.queue, s.next = s.queue[:0], 0
	s.event = transcript.Event{Index: -1}
	s.last = time.Time{}
}

// Free returns the events of the record before, empty, to append to.
func (s *Stream) Free() []Event { return s.queue[:0] }

// Put makes the events of a record the next ones. copied reports whether another
// conversation has them too.
func (s *Stream) Put(events []Event, copied bool) {
	s.queue, s.next = events, 0
	s.event.Copied = copied
}

// Next advances to the next event. It returns false where another record is needed, and
// holds nothing of the one before any more.
func (s *Stream) Next() bool {
	if s.next == len(s.queue) {
		clear(s.queue)
		return false
	}
	current := &s.queue[s.next]
	s.next++
	s.event.Index++
	s.event.Turn, s.event.Kind, s.event.Record = current.Turn, current.Kind, current
	if s.event.Kind.Global() {
		s.event.Turn = 0
	}
	s.last = current.Time()
	return true
}

// Event returns the current event.
func (s *Stream) Event() *transcript.Event { return &s.event }

// Count returns how many events there are up to here.
func (s *Stream) Count() int { return s.event.Index + 1 }

// Last returns when the current event happened.
func (s *Stream) Last() time.Time { return s.last }
