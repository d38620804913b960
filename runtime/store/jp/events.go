package jp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	if mark != nil && len(*mark) > 0 {
		return store.Totals{}, store.ErrChanged // there is no place to go on from: the file is replaced as a whole
	}
	data, err := r.data(ctx)
	if err != nil {
		return store.Totals{}, err
	}
	scanner := events.NewScanner(data)
	for scanner.Next() {
		if ctx.Err() != nil {
			return scanner.Totals(), context.Cause(ctx)
		}
		if yield == nil { // events are only counted
			continue
		}
		if event := scanner.Event().Decode(); !yield(&event) {
			return scanner.Totals(), nil
		}
	}
	var damage *events.DamageError
	if errors.As(scanner.Err(), &damage) {
		return scanner.Totals(), &store.DamageError{Event: damage.Event, Err: damage}
	}
	return scanner.Totals(), nil
}

// data reads the events.json that counts.
func (r *record) data(ctx context.Context) ([]byte, error) {
	var data []byte
	f, err := r.open(ctx)
	if err == nil {
		defer f.Close()
		data, err = readAll(f, r.s.w.maxEvents)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", r.place.number.id(), err)
	}
	return data, nil
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
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	p := &r.place
	i := r.s.byAge(p, metadataFile)[0]
	metadata := r.s.modTime(i, p.dirs[i], metadataFile)
	return fmt.Sprintf("%d %d %d %t", info.Size(), info.ModTime().UnixNano(), metadata.UnixNano(), p.archived), nil
}

// open opens the events.json that counts, looking for the conversation again when
// its directory was renamed.
func (r *record) open(ctx context.Context) (*os.File, error) {
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
func (s *session) openNewestEvents(p *place) (*os.File, error) {
	var missing error
	for _, i := range s.byAge(p, eventsFile, baseConfigFile) {
		dir := p.dirs[i]
		name := path.Join(dir, eventsFile)
		s.willRead(i, name)
		f, err := openRegular(s.roots[i], name)
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
