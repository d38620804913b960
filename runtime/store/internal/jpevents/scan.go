// Package jpevents reads the events of a JP conversation, from its file or from the output of a command line.
//
// [Scan] finds the events, and [Event.Decode] decodes JSON escapes, and the base64 of tool data and metadata.
//
// It never panics on any input, never recurses deeper than [jsontext.MaxDepth], never opens or
// writes a file, and never changes the scanned data.
package jpevents

import (
	"cmp"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Scan calls yield with each event of a file until yield returns false, and returns the totals of the events. Like JP,
// it counts 0 events if the file is damaged or an event has no timestamp: Uncounted then says why. All calls of yield
// get a pointer to the same Event. The error is a [*store.DamageError]; yield gets every whole event before the damage.
//
// Strings are not checked, so a control character or a wrong escape in one is not damage.
func Scan(data []byte, yield func(*Event) bool) (store.Totals, error) {
	var e Event
	var untimed error // about the first event without a timestamp
	count, turn, stopped := 0, 0, false
	c := jsontext.Cursor{Data: data} // c.Space skips white space, and reports whether a byte follows
	isWhole := c.Space() && data[c.Pos] == '[' && c.Values(0, func(_, value []byte) bool {
		e = Event{Index: count, Offset: c.Pos - len(value), Raw: value[:len(value):len(value)]}
		if !jsontext.Decode(value, &e) {
			c.Pos = e.Offset // it is no object
			return false
		}
		count++
		e.interpret()
		if !e.Kind.Global() {
			if turn == 0 || e.Kind == transcript.KindTurnStart {
				turn++
			}
			e.Turn = turn
		}
		if !isText(e.Timestamp) && untimed == nil {
			untimed = fmt.Errorf("event %d (at byte %d): the event has no timestamp", e.Index, e.Offset)
		}
		stopped = !yield(&e)
		return !stopped
	})
	totals := store.Totals{Turns: turn, Uncounted: untimed}
	isDamaged := !isWhole || c.Space() // the array is not whole, or bytes follow the array
	if isDamaged && !stopped {
		damage := &store.DamageError{Event: count, Err: fmt.Errorf("damaged at byte %d (event %d): %w", c.Pos, count, c.Err())}
		totals.Uncounted = cmp.Or[error](untimed, damage)
		return totals, damage
	}
	if untimed == nil && count > 0 {
		totals.Events, totals.LastAt = count, e.Time()
		totals.BadTime = totals.LastAt.IsZero()
	}
	return totals, nil
}
