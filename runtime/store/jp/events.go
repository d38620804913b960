package jp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/internal/events"
	"github.com/convtools/convtools/runtime/transcript"
)

// MaxEventsSize is the largest events.json that is read, in bytes.
const MaxEventsSize = 1 << 30

// record is the copies of a conversation in a session.
type record struct {
	s       *session
	place   place
	version string // of when it was listed; empty where it was not
}

// Events implements [store.Record].
func (r *record) Events(ctx context.Context) (store.Events, error) {
	f, err := r.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), err)
	}
	if limit := r.s.w.maxEvents; f.size > limit {
		f.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), tooLarge(eventsFile, f.size, limit))
	}
	defer f.Close()
	e, err := newReader(r, f)
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), err)
	}
	return e, nil
}

// Version implements [store.Record].
func (r *record) Version(ctx context.Context) (string, error) {
	if r.version != "" {
		return r.version, nil
	}
	f, err := r.open(ctx)
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", r.place.number.id(), err)
	}
	f.Close()
	p := &r.place
	i := r.s.byAge(p, metadataFile)[0]
	metadata := r.s.modTime(i, p.dirs[i], metadataFile)
	return fmt.Sprintf("%d %d %d %t", f.size, f.modified.UnixNano(), metadata.UnixNano(), p.archived), nil
}

// open opens the events.json that counts, looking for the conversation again when
// its directory was renamed.
func (r *record) open(ctx context.Context) (*file, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := r.place
	for round := 0; ; round++ {
		f, err := r.s.openNewestEvents(&p)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errVanished) || round == maxRelists {
			return nil, err
		}
		l, err := r.s.list(ctx, store.Live|store.Archived)
		if err != nil {
			return nil, err
		}
		if moved, ok := l.locate(p.number, p.archived); ok {
			p = moved
		} else if l.settled {
			return nil, r.s.notFound(p.number, l.onePlaceEach(), r.s.unopened)
		}
	}
}

// openNewestEvents opens events.json in the store whose copy of the stream, which
// is events.json and base_config.json together, is newer. A copy without
// events.json leaves the word to the other.
func (s *session) openNewestEvents(p *place) (*file, error) {
	var missing error
	for _, i := range s.byAge(p, eventsFile, baseConfigFile) {
		dir := p.dirs[i]
		name := path.Join(dir, eventsFile)
		s.willRead(i, name)
		f, err := openRegular(s.roots[i], s.dirs[i], name)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case !s.exists(i, dir):
			missing = errVanished
		case missing == nil:
			missing = fmt.Errorf("events.json is missing in %s", s.path(i, dir))
		}
	}
	return nil, missing
}

// reader reads the events of a file, which it holds whole. It implements [store.Events].
type reader struct {
	r       *record
	data    []byte
	scanner events.Scanner
	event   transcript.Event
	decoded bool // event is the current one
	events  int  // since the context was looked at
}

// newReader returns what reads the events of a file.
func newReader(r *record, f *file) (*reader, error) {
	data := make([]byte, f.size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, reason(err)
	}
	e := &reader{r: r, data: data[:n]}
	e.Restart()
	return e, nil
}

// eventsPerLook is how many events are read before the context is looked at again.
const eventsPerLook = 64

// Next implements [store.Events].
func (r *reader) Next(ctx context.Context) bool {
	if r.events++; r.events%eventsPerLook == 0 && ctx.Err() != nil {
		r.scanner.Fail(ctx.Err())
		return false
	}
	r.decoded = false
	return r.scanner.Next()
}

// Event implements [store.Events]. An event that is only counted, as in a listing, is not
// decoded.
func (r *reader) Event() *transcript.Event {
	if !r.decoded {
		r.event, r.decoded = r.scanner.Event().Decode(), true
	}
	return &r.event
}

// Err implements [store.Events].
func (r *reader) Err() error {
	err := r.scanner.Err()
	var damage *events.DamageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damage):
		return &store.DamageError{Event: damage.Event, Err: damage}
	}
	return fmt.Errorf("reading the events of %s: %w", r.r.place.number.id(), err)
}

// Totals implements [store.Events].
func (r *reader) Totals() store.Totals { return r.scanner.Totals() }

// Restart implements [store.Events].
func (r *reader) Restart() { r.decoded, r.scanner = false, *events.NewScanner(r.data) }

// Close implements [store.Events].
func (r *reader) Close() {}
