package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// MaxEventsSize is the largest events.json that is read, in bytes.
const MaxEventsSize = 1 << 30

// EventsSize returns the size in bytes of the events.json that ReadEvents would
// read now.
func (c *Conversation) EventsSize(ctx context.Context) (int64, error) {
	f, info, err := c.openEvents(ctx)
	if err != nil {
		return 0, err
	}
	f.Close()
	return info.Size(), nil
}

// ReadEvents returns the content of events.json. It reuses buf when it is large
// enough; buf may be nil. The result must be used before buf is used again.
// When the conversation was renamed or archived since it was listed, the new
// place is found; when it is gone, the error is a *NotFoundError.
func (c *Conversation) ReadEvents(ctx context.Context, buf []byte) ([]byte, error) {
	f, info, err := c.openEvents(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(ctx, f, buf, info.Size(), c.ws.maxEvents)
	if err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", c.ID, err)
	}
	return data, nil
}

// openEvents opens the events.json that counts, looking for the conversation
// again when its directory was renamed.
func (c *Conversation) openEvents(ctx context.Context) (*os.File, os.FileInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s, _, err := c.ws.openStores()
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	p := c.place
	for round := 0; ; round++ {
		f, info, err := c.ws.openNewestEvents(s, &p)
		if err == nil {
			return f, info, nil
		}
		if !errors.Is(err, errVanished) || round == maxRelists {
			return nil, nil, fmt.Errorf("reading the events of %s: %w", c.ID, err)
		}
		l, err := s.list(ctx, Live|Archived)
		if err != nil {
			return nil, nil, err
		}
		if moved, ok := l.locate(c.ID, p.archived); ok {
			p = moved
		} else if l.settled {
			return nil, nil, &NotFoundError{ID: c.ID}
		}
	}
}

// openNewestEvents opens events.json in the store whose copy of the stream, which
// is events.json and base_config.json together, is newer. A copy without
// events.json leaves the word to the other.
func (w *Workspace) openNewestEvents(s *stores, p *place) (*os.File, os.FileInfo, error) {
	var missing error
	for _, store := range s.byAge(p, eventsFile, baseConfigFile) {
		dir := p.dirs[store]
		name := path.Join(dir, eventsFile)
		w.willRead(s, store, name)
		f, info, err := openRegular(s.roots[store], name)
		switch {
		case err == nil:
			return f, info, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		case !s.exists(store, dir):
			missing = errVanished
		case missing == nil:
			missing = fmt.Errorf("events.json is missing in %s", s.path(store, dir))
		}
	}
	return nil, nil, missing
}
