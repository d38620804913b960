package opencode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
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
	if mark != nil && len(*mark) > 0 {
		return store.Totals{}, store.ErrChanged
	}
	c.info.source.Retain()
	defer c.info.source.Release()
	t := recorded.Teller{Yield: yield}
	return t.End(c.id(), c.tell(ctx, &t))
}

// tell tells the events.
func (c *conversation) tell(ctx context.Context, t *recorded.Teller) error {
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
	d := &decoder{agent: c.info.parent != "", totals: &t.Totals}
	for i := range messages {
		var told []recorded.Event
		if err == nil {
			told, err = c.events(ctx, d, &messages[i])
		}
		if err != nil {
			return err
		}
		for n := range told {
			if !t.Tell(&told[n], messages[i].copied) {
				return nil
			}
		}
	}
	return err
}

// events returns the events of a message.
func (c *conversation) events(ctx context.Context, d *decoder, m *message) ([]recorded.Event, error) {
	if m.summary { // of what is told
		return nil, nil
	}
	parts, err := c.info.source.parts(ctx, m.id)
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return nil, &store.DamageError{Err: err}
	case err != nil:
		return nil, err
	}
	d.totals.Skipped += parts.left + parts.unread
	d.totals.TooLarge += parts.left
	if undone := c.info.revert; m.id == undone.message {
		parts.all = slices.DeleteFunc(parts.all, func(p part) bool { return p.id >= undone.part })
	}
	return d.events(nil, m, parts.all), nil
}

// messages returns the last messages of which something is told, in the order in which they are
// told: each of the user's with its answers after it. All are returned where last is below 0.
func (c *conversation) messages(ctx context.Context, last int) ([]message, error) {
	messages, err := c.info.source.messages(ctx, c.info.session, last)
	if i := slices.IndexFunc(messages, func(m message) bool { return m.id == c.info.revert.message }); i >= 0 {
		if c.info.revert.part != "" {
			i++
		}
		messages = messages[:i]
	}
	place := map[string]int{} // of the messages of the user
	for i, m := range messages {
		if m.role == user {
			place[m.id] = i
		}
	}
	for i := range messages {
		m := &messages[i]
		m.place = 2 * i
		p, answers := place[m.parent]
		switch {
		case m.role == user:
		case answers:
			m.place = 2*p + 1
			messages[p].compacted = messages[p].compacted || m.summary && !m.failed
		case i > 0: // with the one before
			m.place = messages[i-1].place | 1
		}
	}
	slices.SortStableFunc(messages, func(a, b message) int { return a.place - b.place })
	return messages, err
}

// originals marks the messages that were copied from a session which this one was
// forked from: their times are before the session began, and that one has them too.
func (c *conversation) originals(ctx context.Context, messages []message) error {
	i := c.info
	if i.begun.IsZero() || !i.begun.Before(i.created) {
		return nil
	}
	all, _, err := i.source.sessions(ctx, "")
	if err != nil {
		return err
	}
	told := map[moment]bool{}
	for _, other := range origins(i, all) {
		if other.archived() && !i.archived() || !c.store.Project.Has(other.dir) {
			continue
		}
		copied, err := (&conversation{store: c.store, info: other}).messages(ctx, -1)
		if err != nil {
			return err
		}
		maps.Copy(told, moments(copied))
	}
	for n := range messages {
		m := &messages[n]
		m.copied = m.created.Before(i.created) && told[moment{m.created, m.role}]
	}
	return nil
}

// firstPrompt returns how the first request begins, as [store.Conversation.Request] has it.
func (c *conversation) firstPrompt(ctx context.Context) (string, error) {
	messages, err := c.messages(ctx, -1)
	for i := range messages {
		if messages[i].role != user {
			continue
		}
		var told []recorded.Event
		told, err = c.events(ctx, &decoder{totals: &store.Totals{}}, &messages[i])
		for _, e := range told {
			if len(e.Pieces) > 0 {
				return recorded.Request(e.Pieces[0].Raw), err
			}
		}
	}
	return "", err
}

// lastAt returns when the last event happened, where one of the last messages has it.
func (c *conversation) lastAt(ctx context.Context) (time.Time, error) {
	few := 8
	if c.info.revert.message != "" {
		few = -1
	}
	messages, err := c.messages(ctx, few)
	for i := len(messages) - 1; i >= 0 && err == nil; i-- {
		var told []recorded.Event
		told, err = c.events(ctx, &decoder{totals: &store.Totals{}}, &messages[i])
		if len(told) > 0 && !told[len(told)-1].At.IsZero() {
			return told[len(told)-1].At, nil
		}
	}
	return time.Time{}, err
}
