package opencode

import (
	"context"
	"errors"
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// Tell implements [history.Script].
func (c *conversation) Tell(ctx context.Context, t *history.Talk) error {
	// What was undone may have changed since the session was listed.
	found, problems, err := c.source.sessions(ctx, c.session)
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return problems[0].Err
	case len(found) == 0:
		return c.gone()
	}
	c = &conversation{c.store, found[0]}
	messages, err := c.messages(ctx, -1)
	copied, failed := c.copied(ctx)
	err = errors.Join(err, failed)
	for i := 0; i < len(messages) && err == nil && !t.Stopped; i++ {
		t.Copied = copied[moment{messages[i].created, messages[i].Role}]
		err = c.tell(ctx, t, &messages[i])
	}
	return err
}

// copied returns the moments of the messages that were copied from a session which this one was
// forked from, and which is shown with it.
func (c *conversation) copied(ctx context.Context) (map[moment]bool, error) {
	if !c.isFork() {
		return nil, nil
	}
	all, _, err := c.source.sessions(ctx, "")
	if err != nil {
		return nil, err
	}
	_, told, err := c.forks(ctx, slices.DeleteFunc(all, func(other *info) bool {
		return other.archived() && !c.archived() || !c.store.Project.Has(other.Dir)
	}))
	return told, err
}

// tell adds the events of a message.
func (c *conversation) tell(ctx context.Context, t *history.Talk, m *message) error {
	t.Agent, t.Inquiry = c.Parent != "", "question"
	if m.Summary { // of what is told
		return nil
	}
	parts, err := c.source.parts(ctx, m.id)
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Err: err}
	case err != nil:
		return err
	}
	t.Totals.Skipped += parts.left
	t.Totals.TooLarge += parts.left
	if m.id == c.Revert.Message {
		parts.all = slices.DeleteFunc(parts.all, func(p part) bool { return p.id >= c.Revert.Part })
	}
	tell(t, m, parts.all)
	return nil
}

// messages returns the last messages of which something is told, in the order in which they are
// told: each of the user's with its answers after it. All are returned where last is below 0.
func (c *conversation) messages(ctx context.Context, last int) ([]message, error) {
	messages, err := c.source.messages(ctx, c.session, last)
	if i := slices.IndexFunc(messages, func(m message) bool { return m.id == c.Revert.Message }); i >= 0 {
		if c.Revert.Part != "" {
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
