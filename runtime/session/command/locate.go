package command

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/convtools/convtools/runtime/session/log"
	"github.com/convtools/convtools/runtime/session/tools"
)

// place is a conversation and the session that it belongs to.
type place struct {
	session, conversation string
	settings              tools.Settings // of the session
}

// locate returns what a person means with an id: that of a session, which is that of its root, or of any conversation of
// one, or the id under which one is recorded. The error is a [*log.NotFoundError] where there is none.
func (c *commands) locate(ctx context.Context, sessions *tools.Sessions, id string) (place, error) {
	id = strings.TrimSpace(id)
	at, known, err := sessions.Recorded(ctx, id)
	if err != nil {
		return place{}, err
	}
	at.Session, at.Conversation = strings.ToLower(at.Session), strings.ToLower(at.Conversation)
	summary, err := log.Summarize(sessions.Dir, at.Session)
	if errors.Is(err, fs.ErrNotExist) && !known {
		if _, ok := log.Path(sessions.Dir, at.Session); !ok {
			return place{}, &log.NotFoundError{Session: id, Dir: sessions.Dir}
		}
		if at.Session, err = log.Holding(ctx, sessions.Dir, at.Conversation); err == nil {
			summary, err = log.Summarize(sessions.Dir, at.Session)
		}
	}
	if err != nil {
		return place{}, err
	}
	found := place{session: at.Session, conversation: at.Conversation}
	found.settings, err = tools.ParseSettings(summary.Context.Settings)
	return found, err
}

// openAt returns what sessions have here, to be closed, and what a person means with an id.
func (c *commands) openAt(ctx context.Context, id string) (*tools.Sessions, place, error) {
	sessions, err := c.open()
	if err != nil {
		return nil, place{}, err
	}
	at, err := c.locate(ctx, sessions, id)
	if err != nil {
		sessions.Close()
		return nil, place{}, failure(err)
	}
	return sessions, at, nil
}
