package opencode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a session is recorded. It implements [store.Record].
type conversation struct {
	store *Store
	info  *info
}

func (c *conversation) id() transcript.ID { return id(c.info.session) }

// Version implements [store.Record].
func (c *conversation) Version(ctx context.Context) (string, error) {
	c.info.source.Retain()
	defer c.info.source.Release()
	version, err := c.info.source.version(ctx, c.info.session)
	if err == nil && version == "" {
		err = c.gone()
	}
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id(), err)
	}
	return version, nil
}

func (c *conversation) gone() error {
	return &store.NotFoundError{IDs: []transcript.ID{c.id()}, Place: c.store.Dir}
}

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	c.info.source.Retain()
	defer c.info.source.Release()
	return history.Read(ctx, c.id(), c, mark, yield)
}

// Tell implements [history.Script].
func (c *conversation) Tell(ctx context.Context, t *history.Talk) error {
	// What was undone may have changed since the session was listed.
	found, problems, err := c.info.source.sessions(ctx, c.info.session)
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return problems[0].Err
	case len(found) == 0:
		return c.gone()
	}
	c = &conversation{store: c.store, info: found[0]}
	messages, err := c.messages(ctx, -1)
	if err == nil {
		err = c.originals(ctx, messages)
	}
	for i := 0; i < len(messages) && err == nil && !t.Stopped; i++ {
		t.Copied = messages[i].copied
		err = c.tell(ctx, t, &messages[i])
	}
	return err
}

// tell adds the events of a message.
func (c *conversation) tell(ctx context.Context, t *history.Talk, m *message) error {
	t.Agent, t.Inquiry = c.info.parent != "", inquiryTool
	if m.Summary { // of what is told
		return nil
	}
	parts, err := c.info.source.parts(ctx, m.id)
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Err: err}
	case err != nil:
		return err
	}
	t.Totals.Skipped += parts.left + parts.unread
	t.Totals.TooLarge += parts.left
	if undone := c.info.revert; m.id == undone.Message {
		parts.all = slices.DeleteFunc(parts.all, func(p part) bool { return p.id >= undone.Part })
	}
	tell(t, m, parts.all)
	return nil
}

// messages returns the last messages of which something is told, in the order in which they are
// told: each of the user's with its answers after it. All are returned where last is below 0.
func (c *conversation) messages(ctx context.Context, last int) ([]message, error) {
	messages, err := c.info.source.messages(ctx, c.info.session, last)
	if i := slices.IndexFunc(messages, func(m message) bool { return m.id == c.info.revert.Message }); i >= 0 {
		if c.info.revert.Part != "" {
			i++
		}
		messages = messages[:i]
	}
	place := map[string]int{} // of the messages of the user
	for i, m := range messages {
		if m.Role == "user" {
			place[m.id] = i
		}
	}
	for i := range messages {
		m := &messages[i]
		m.place = 2 * i
		p, answers := place[m.Parent]
		switch {
		case m.Role == "user":
		case answers:
			m.place = 2*p + 1
			messages[p].compacted = messages[p].compacted || m.Summary && !m.failed()
		case i > 0: // with the one before
			m.place = messages[i-1].place | 1
		}
	}
	slices.SortStableFunc(messages, func(a, b message) int { return a.place - b.place })
	return messages, err
}

// moment is what a message and its copy have in common.
type moment struct {
	at   int64
	role string
}

// moments returns those of the messages of a session.
func (c *conversation) moments(ctx context.Context) (map[moment]bool, error) {
	messages, err := c.messages(ctx, -1)
	found := make(map[moment]bool, len(messages))
	for i := range messages {
		found[moment{messages[i].created, messages[i].Role}] = true
	}
	return found, err
}

// forks returns the session of all that this one was forked from, the one of which it has the most
// messages, and of several the earliest; and the moments of those of which it may have some, as far
// as they are wanted. opencode records no link: a fork begins with messages of before it was made,
// at the times that the other one has them at.
func (c *conversation) forks(ctx context.Context, all []*info, wanted func(*info) bool) (from *info, told map[moment]bool, err error) {
	i := c.info
	own, err := c.moments(ctx)
	most := 0
	told = map[moment]bool{}
	for _, other := range all {
		if other.session == i.session || other.begun != i.begun || other.Created >= i.Created || !wanted(other) || err != nil {
			continue
		}
		var moments map[moment]bool
		moments, err = (&conversation{store: c.store, info: other}).moments(ctx)
		common := 0
		for m := range moments {
			if own[m] && m.at < i.Created {
				told[m] = true
				common++
			}
		}
		if common > most || from != nil && common == most && other.Created < from.Created {
			from, most = other, common
		}
	}
	return from, told, err
}

// originals marks the messages that were copied from a session which this one was
// forked from: their times are before the session began, and that one has them too.
func (c *conversation) originals(ctx context.Context, messages []message) error {
	if !c.info.mayBeFork() {
		return nil
	}
	all, _, err := c.info.source.sessions(ctx, "")
	if err != nil {
		return err
	}
	_, told, err := c.forks(ctx, all, func(other *info) bool {
		return (!other.archived() || c.info.archived()) && c.store.Project.Has(other.dir)
	})
	for n := range messages {
		messages[n].copied = told[moment{messages[n].created, messages[n].Role}]
	}
	return err
}

// peek returns how the first request begins, as [store.Conversation.Request] has it, where that is
// wanted, and when the last event happened, where one of the last messages has it. What is damaged
// is told of where it is read.
func (c *conversation) peek(ctx context.Context, wanted bool) (request string, last time.Time) {
	few := 8
	if c.info.revert.Message != "" || wanted {
		few = -1
	}
	messages, _ := c.messages(ctx, few)
	begin, end := &history.Talk{}, &history.Talk{}
	var err error
	for i := 0; wanted && i < len(messages) && begin.Request == "" && err == nil; i++ {
		if messages[i].Role == "user" {
			err = c.tell(ctx, begin, &messages[i])
		}
	}
	for i := len(messages) - 1; i >= 0 && end.Last.IsZero() && err == nil; i-- {
		err = c.tell(ctx, end, &messages[i])
	}
	return begin.Request, end.Last
}
