package gemini

import (
	"context"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Caller implements [store.Recognizer]. Gemini CLI tells nothing of the session that
// calls, and has not recorded the call by the time it makes it. It has recorded the
// request behind the call, though, since it started this process: where nothing else
// of the project was written since, that is the session.
func (s *Store) Caller(ctx context.Context, from caller.Caller) store.Caller {
	c := store.Caller{Evidence: s.Evidence(from, strings.HasPrefix(from.Client, "gemini-cli"), "GEMINI_CLI")}
	if c.Evidence != store.NoEvidence && from.Process == caller.Server && from.Tool != "" && s.Project.Has(from.Dir) {
		if session := s.written(ctx, from); session != "" {
			c.IDs = []transcript.ID{id(session, "")}
		}
	}
	return c
}

// written returns the only session of the project that was written since this process
// was started; "" where there are several, or none.
func (s *Store) written(ctx context.Context, from caller.Caller) string {
	root, err := s.Store.Open()
	if err != nil {
		return ""
	}
	defer root.Close()
	all, problems, err := s.entries(root)
	if err != nil || len(problems) > 0 {
		return ""
	}
	found := ""
	for _, e := range all {
		info, err := root.Stat(e.File)
		if err != nil || info.ModTime().Before(from.Started) {
			continue // also where it was deleted meanwhile
		}
		if e.Peek(ctx, root) != nil {
			return ""
		}
		session := e.session()
		if session == "" || found != "" && session != found {
			return ""
		}
		found = session
	}
	return found
}
