// Package recorded is an event as the stores of other programs than JP record it:
// pieces of stored text, or a JSON value, with a time, a name and an id. It decodes
// them where they are asked for, and writes events as the JSON that "conversation
// print" has for JP's.
//
// It knows no format of a file. What an event holds are parts of what a store read, or
// made by it of that, and valid until the next event.
package recorded

import (
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Event is what is recorded of an event, as a store finds it.
type Event struct {
	Kind transcript.Kind
	// Stamp is the timestamp, as it stands between its quotes; nil for none.
	Stamp []byte
	// At is the time where that is recorded in another form, in UTC; zero for none.
	At time.Time
	// Pieces are the text. Of a tool call they are arguments that are no JSON.
	Pieces []Piece
	// Arguments is the JSON value of a tool call's arguments, or nil. A cursor has walked
	// it without a failure.
	Arguments []byte
	// Name and CallID are as they stand between their quotes.
	Name, CallID []byte
	Failed       bool // a tool result that is marked as an error
	// Encoding is that of the text where that could not be decoded.
	Encoding  transcript.Encoding
	Compacted int // turns that a compaction replaces
	Turn      int
}

// Piece is a part of a text.
type Piece struct {
	Raw []byte // as it stands between its quotes
	// Plain is set where Raw is the text itself.
	Plain bool
	// Joined is set where no line ends between the piece before and this one.
	Joined bool
}

// Time returns when the event happened, in UTC; zero where that is not recorded, or not
// usable.
func (e *Event) Time() time.Time {
	if e.Stamp == nil {
		return e.At
	}
	t, err := transcript.ParseTimestamp(e.Stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Decode returns the event as a plain value, which refers to what the store read.
func (e *Event) Decode() transcript.Event {
	d := transcript.Event{
		Turn: e.Turn, Kind: e.Kind, Time: e.Time(), Name: Unescape(e.Name), CallID: Unescape(e.CallID),
		Failed: e.Failed, Text: e.text(), Arguments: e.Arguments, Encoding: e.Encoding, CompactedTurns: e.Compacted,
	}
	if e.Kind.Global() {
		d.Turn = 0
	}
	return d
}

// text returns the text of the pieces, each on a line of its own unless it is joined.
func (e *Event) text() []byte {
	size := 0
	for _, p := range e.Pieces {
		size += len("\n") + len(p.Raw)
	}
	if size == 0 {
		return nil
	}
	text := make([]byte, 0, size)
	for i, p := range e.Pieces {
		if i > 0 && !p.Joined {
			text = append(text, '\n')
		}
		if p.Plain {
			text = transcript.AppendValid(text, p.Raw)
		} else {
			text = transcript.AppendUnescaped(text, p.Raw)
		}
	}
	return text
}
