package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Caller implements [store.Recognizer]. opencode tells nothing of the session that
// calls, but has recorded the call by the time it makes it, as one that runs.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, from.Client == "opencode", "OPENCODE")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" {
		if calling := s.calling(ctx, from); calling != "" {
			c.Evidence, c.IDs = store.ByCall, []transcript.ID{id(calling)}
		}
	}
	return c
}

// calling returns the session in which a call runs; "" where there is none, or several
// make the same call.
func (s *Store) calling(ctx context.Context, from caller.Caller) string {
	l := s.open()
	defer l.Close()
	found := ""
	for _, src := range l.sources {
		d, ok := src.(*database)
		if !ok {
			continue // versions with trees of files are not known to record calls in time
		}
		parts, _ := d.latest(ctx) // of what cannot be read nothing is known
		for _, p := range parts {
			if isSession(p.id) && p.isRunning(from) {
				if found != "" && found != p.id {
					return ""
				}
				found = p.id
			}
		}
	}
	return found
}

// isRunning reports whether a part is a call that runs, and was begun since this
// process was: those of an opencode that was killed run for ever.
func (p *part) isRunning(from caller.Caller) bool {
	return p.Type == "tool" && transcript.IsTool(p.Tool, from.Tool) && p.State.Status == "running" &&
		!timeOf(p.State.Time.Start).Before(from.Started.Truncate(time.Millisecond)) && isSameJSON(p.State.Input, from.Arguments)
}

// isSameJSON reports whether two JSON texts have the same value. No arguments are an
// empty object.
func isSameJSON(a, b []byte) bool {
	value := func(raw []byte) (v any, err error) {
		if len(bytes.TrimSpace(raw)) == 0 {
			return map[string]any{}, nil
		}
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	x, errX := value(a)
	y, errY := value(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}
