package jp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
)

// MaxEventsSize is the largest events.json that is read, in bytes.
const MaxEventsSize = 1 << 30

// record is the copies of a conversation in a session.
type record struct {
	s       *session
	place   place
	version string // of when it was listed
}

// Version implements [store.Record].
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	if mark != nil && len(*mark) > 0 {
		return store.Totals{}, store.ErrChanged // there is no place to go on from: the file is replaced as a whole
	}
	data, err := r.data(ctx)
	if err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), err)
	}
	totals, err := jpevents.Scan(data, func(e *jpevents.Event) bool {
		if yield == nil || ctx.Err() != nil { // events are only counted
			return ctx.Err() == nil
		}
		event := e.Decode()
		return yield(&event)
	})
	var damage *jpevents.DamageError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &damage):
		err = &store.DamageError{Event: damage.Event, Err: damage}
	}
	return totals, err
}

// data reads the events.json that counts.
func (r *record) data(ctx context.Context) (data []byte, err error) {
	err = r.s.follow(ctx, r.place, func(p place) error {
		data, _, err = r.s.readFirst(&p, r.s.byStream(&p), eventsFile, r.s.w.maxEvents)
		return cmp.Or(err, ctx.Err())
	})
	return data, err
}
