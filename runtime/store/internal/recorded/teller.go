package recorded

import (
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Teller hands over the events of a conversation, and describes them, as [store.Record] has it.
type Teller struct {
	// Totals describes the events up to here.
	Totals store.Totals
	// Yield is called with each of them; nil counts them alone.
	Yield func(*transcript.Event) bool
	event transcript.Event
}

// Tell hands over an event, which another conversation may have too, and reports whether more are
// wanted.
func (t *Teller) Tell(e *Event, copied bool) bool {
	if t.Yield == nil {
		return t.TellEvent(transcript.Event{Time: e.Time()})
	}
	x := e.Decode()
	x.Copied = copied
	return t.TellEvent(x)
}

// TellAll hands over the events of a record. The error is [ErrStopped] where no more are wanted.
func (t *Teller) TellAll(events []Event, copied bool) error {
	for i := range events {
		if !t.Tell(&events[i], copied) {
			return ErrStopped
		}
	}
	return nil
}

// TellEvent hands over an event, which has no index yet.
func (t *Teller) TellEvent(x transcript.Event) bool {
	x.Index = t.Totals.Events
	t.Totals.Events++
	t.Totals.LastAt = x.Time
	t.event = x
	return t.Yield == nil || t.Yield(&t.event)
}

// End returns the totals, and why the events end, where that is an error.
func (t *Teller) End(id transcript.ID, err error) (store.Totals, error) {
	if err == nil {
		return t.Totals, nil
	}
	var damage *store.DamageError
	if errors.As(err, &damage) {
		damage.Event = t.Totals.Events
		err = damage
	} else {
		err = fmt.Errorf("reading the events of %s: %w", id, err)
	}
	t.Totals.Events, t.Totals.LastAt, t.Totals.Uncounted = 0, transcript.Event{}.Time, err
	return t.Totals, err
}
