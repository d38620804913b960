package jp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/jp/internal/events"
	"github.com/convtools/convtools/runtime/transcript"
)

// MaxEventsSize is the largest events.json that is read, in bytes.
const MaxEventsSize = 1 << 30

// defaultChunk is how many bytes of it are read at a time: enough for most events
// to be whole, and little enough to stay in the processor's cache until they have
// been looked at.
const defaultChunk = 256 << 10

// record is the copies of a conversation in a session.
type record struct {
	s           *session
	place       place
	facts.Sheet             // of the events; zero where the conversation was not listed
	metadata    facts.Sheet // the same
}

// Events implements [store.Record].
func (r *record) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	f, err := r.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), err)
	}
	if limit := r.s.w.maxEvents; f.size > limit {
		f.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), tooLarge(eventsFile, f.size, limit))
	}
	e := &reader{r: r, file: f, buffer: buffer}
	e.begin()
	return e, nil
}

// Version implements [store.Record].
func (r *record) Version(ctx context.Context) (string, error) {
	if m, e := r.metadata.Version(), r.Sheet.Version(); m != "" && e != "" {
		return m + e, nil
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

// reader reads the events of a file, a part of it at a time. It implements
// [store.Events].
type reader struct {
	r       *record
	file    *file
	buffer  *store.Buffer
	end     int64  // up to where the file has been read
	whole   []byte // the file, where it fits into the buffer and has been read
	scanner events.Scanner
	event   transcript.Event
	ctx     context.Context // of the call of Next that is under way
	again   bool            // the file is read another time, with the buffer it needs
	events  int             // since the context was looked at
}

// eventsPerLook is how many events are read before the context is looked at again.
const eventsPerLook = 64

// Next implements [store.Events].
func (r *reader) Next(ctx context.Context) bool {
	if r.events++; r.events%eventsPerLook == 0 && ctx.Err() != nil {
		r.scanner.Fail(ctx.Err())
		return false
	}
	r.ctx = ctx
	if !r.scanner.Next() {
		return false
	}
	e := r.scanner.Event()
	r.event.Index, r.event.Turn, r.event.Kind = e.Index, e.Turn, e.Kind
	return true
}

// Event implements [store.Events].
func (r *reader) Event() *transcript.Event { return &r.event }

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
func (r *reader) Restart() {
	r.again = true
	r.begin()
}

func (r *reader) begin() {
	if r.whole != nil {
		r.scanner.Reset(r.whole, nil)
	} else {
		r.end = 0
		r.scanner.Reset(nil, r.fill)
	}
	r.event.Record = r.scanner.Event()
}

// Close implements [store.Events].
func (r *reader) Close() { r.file.Close() }

// fill is the [events.Fill] of the reader.
func (r *reader) fill(data []byte, from int) ([]byte, bool, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, false, err
	}
	kept := len(data) - from
	left := r.file.size - r.end
	want := max(cap(r.buffer.Bytes), r.r.s.w.chunk)
	switch {
	case 2*kept > want: // an event that is larger than the buffer
		want = int(min(2*int64(want), int64(kept)+left))
	case r.end == 0 && !r.again && want > 4*r.r.s.w.chunk: // a buffer that another file needed
		want = r.r.s.w.chunk
	}
	buf := r.buffer.Bytes[:0]
	if want > cap(buf) || want < cap(buf) && r.end == 0 {
		if err := r.buffer.Resize(r.ctx, want); err != nil {
			return nil, false, err
		}
		// What was kept is read again: nothing is held while waiting for memory.
		buf = r.buffer.Bytes
		r.end -= int64(kept)
		left += int64(kept)
	} else {
		buf = append(buf, data[from:]...)
	}
	n := int(min(int64(cap(buf)-len(buf)), left))
	read, err := r.file.ReadAt(buf[len(buf):len(buf)+n], r.end)
	if err != nil && err != io.EOF {
		return nil, false, reason(err)
	}
	r.end += int64(read)
	buf = buf[:len(buf)+read]
	atEnd := read < n || r.end == r.file.size
	if atEnd && int64(len(buf)) == r.end {
		r.whole = buf
	}
	return buf, atEnd, nil
}
