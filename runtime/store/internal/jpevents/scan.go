// Package jpevents reads the events of a JP conversation: an events.json file, and what the
// command line of JP prints of one.
//
// [Scan] walks the structure of a file. [Event.Decode] undoes JSON escapes, and the base64
// that JP applies to tool data at rest.
//
// Everything recorded is untrusted. The package never panics on any input, never
// recurses deeper than [jsontext.MaxDepth], never opens or writes a file, and never changes
// the bytes it was given.
package jpevents

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

// Scan hands over the events of a file until yield returns false, each in the same
// place, and returns what they come to as JP counts them: a file that is damaged,
// or that holds an event without a timestamp, counts as 0 events. The error is a
// [*store.DamageError]; every whole event before the damage has been handed over then.
//
// Strings are skipped without being looked into, so a control character or a
// wrong escape inside a string is not damage; everything else of the JSON
// grammar is checked.
func Scan(data []byte, yield func(*Event) bool) (store.Totals, error) {
	var e Event
	var untimed error // about the first event without a timestamp
	count, turn, stopped := 0, 0, false
	c := jsontext.Cursor{Data: data}
	whole := c.Space() && data[c.Pos] == '[' && c.Values(0, func(_, value []byte) bool {
		e = Event{Index: count, Offset: c.Pos - len(value), Raw: value[:len(value):len(value)]}
		if !jsontext.Decode(value, &e.Recorded) {
			c.Pos = e.Offset // it is no object
			return false
		}
		count++
		e.read()
		if e.Kind.Typed() && (turn == 0 || e.Kind == transcript.KindTurnStart) {
			turn++
		}
		if e.Kind.Typed() {
			e.Turn = turn
		}
		if !isText(e.Timestamp) && untimed == nil {
			untimed = fmt.Errorf("event %d (at byte %d): %w", e.Index, e.Offset, ErrNoTimestamp)
		}
		stopped = !yield(&e)
		return !stopped
	})
	totals := store.Totals{Turns: turn, Uncounted: untimed}
	if !(whole && !c.Space()) && !stopped {
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
