package recorded

import (
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Stream hands over the events of a conversation, those of one record after those of another.
type Stream struct {
	queue  []Event // of the record before
	next   int     // of the queue
	copied bool    // the queue
	event  transcript.Event
	count  int // events up to here
	last   time.Time
}

// Free returns the events of the record before, empty, to append to.
func (s *Stream) Free() []Event { return s.queue[:0] }

// Put makes the events of a record the next ones. copied reports whether another
// conversation has them too.
func (s *Stream) Put(events []Event, copied bool) {
	s.queue, s.next, s.copied = events, 0, copied
}

// Next advances to the next event. It returns false where another record is needed, and
// holds nothing of the one before any more.
func (s *Stream) Next() bool {
	s.event = transcript.Event{}
	if s.next == len(s.queue) {
		clear(s.queue)
		return false
	}
	s.event = s.queue[s.next].Decode()
	s.event.Index, s.event.Copied = s.count, s.copied
	s.next++
	s.count++
	s.last = s.event.Time
	return true
}

// Event returns the current event.
func (s *Stream) Event() *transcript.Event { return &s.event }

// skip counts the events of the record alone.
func (s *Stream) skip() {
	if n := len(s.queue); n > s.next {
		s.count += n - s.next
		s.last = s.queue[n-1].Time()
	}
	clear(s.queue)
	s.next = len(s.queue)
}

// Last returns when the current event happened.
func (s *Stream) Last() time.Time { return s.last }
