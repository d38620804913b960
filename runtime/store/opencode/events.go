package opencode

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context) (store.Events, error) {
	e := &events{conversation: c}
	c.info.source.Retain()
	if err := e.open(ctx); err != nil {
		e.Release()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id(), err)
	}
	e.Begin(c.id(), e)
	return e, nil
}

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

// plan returns the messages of which something is told, in the order in which they are:
// each of the user's with its answers behind it.
func (c *conversation) plan(messages []message) []message {
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
	for _, m := range messages {
		if p, ok := place[m.parent]; ok && m.summary && !m.failed {
			messages[p].compacted = true
		}
	}
	type placed struct {
		message
		at int // twice the place of the message that it is told with, and 1 where it is behind that
	}
	told := make([]placed, len(messages))
	for i, m := range messages {
		told[i] = placed{m, 2 * i}
		if m.role == user {
			continue
		}
		if p, ok := place[m.parent]; ok {
			told[i].at = 2*p + 1
		} else if i > 0 {
			told[i].at = told[i-1].at | 1
		}
	}
	slices.SortStableFunc(told, func(a, b placed) int { return a.at - b.at })
	for i := range told {
		messages[i] = told[i].message
	}
	return messages
}

// originals marks the messages that were copied from a session which this one was
// forked from: their times are before the session began, and that one has them too.
func (c *conversation) originals(ctx context.Context, messages []message) error {
	i := c.info
	if len(messages) == 0 || i.created.IsZero() || !messages[0].created.Before(i.created) {
		return nil
	}
	others, _, err := i.source.sessions(ctx)
	if err != nil {
		return err
	}
	told := map[moment]bool{}
	for _, other := range others {
		if other.session == i.session || !other.created.Before(i.created) || other.archived() && !i.archived() || !c.store.Project.Has(other.dir) {
			continue
		}
		first, err := i.source.messages(ctx, other.session, -1)
		if err != nil {
			return err
		}
		if len(first) == 0 || !first[0].created.Equal(messages[0].created) {
			continue
		}
		copied, err := i.source.messages(ctx, other.session, 0)
		if err != nil {
			return err
		}
		maps.Copy(told, moments((&conversation{store: c.store, info: other}).plan(copied)))
	}
	for n := range messages {
		m := &messages[n]
		m.copied = m.created.Before(i.created) && told[moment{m.created, m.role}]
	}
	return nil
}

// firstPrompt returns how the first request begins, as [store.Conversation.Request] has it.
func (c *conversation) firstPrompt(ctx context.Context) (string, error) {
	messages, err := c.info.source.messages(ctx, c.info.session, 0)
	if err != nil {
		return "", err
	}
	for _, m := range c.plan(messages) {
		if m.role != user {
			continue
		}
		parts, err := c.info.source.parts(ctx, m.id)
		if err != nil {
			return "", err
		}
		d := decoder{}
		for _, e := range d.events(nil, &m, parts.all) {
			if len(e.Pieces) > 0 {
				return recorded.Request(e.Pieces[0].Raw), nil
			}
		}
	}
	return "", nil
}

// lastAt returns when the last event happened, where one of the last messages has it.
func (c *conversation) lastAt(ctx context.Context) (time.Time, error) {
	few := 8
	if c.info.revert.message != "" {
		few = 0
	}
	messages, err := c.info.source.messages(ctx, c.info.session, few)
	if err != nil {
		return time.Time{}, err
	}
	e := &events{conversation: c, messages: c.plan(messages)}
	for n := len(e.messages) - 1; n >= 0; n-- {
		var last recorded.Stream
		e.decoder, e.next = decoder{}, n
		if err := e.Read(ctx, &last); err != nil {
			return time.Time{}, err
		}
		for last.Next() {
		}
		if at := last.Last(); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// events reads the events of a session. It implements [recorded.Script].
type events struct {
	recorded.Events
	conversation *conversation
	messages     []message
	next         int // message
	decoder      decoder
	large        int // parts that are too long to be read
}

// open plans how the session is read.
func (e *events) open(ctx context.Context) error {
	c := e.conversation
	// What was undone may have changed since the session was listed.
	now, err := c.info.source.find(ctx, c.info.session)
	switch {
	case err != nil:
		return err
	case now == nil:
		return c.gone()
	}
	c = &conversation{store: c.store, info: now}
	e.conversation = c
	messages, err := now.source.messages(ctx, now.session, 0)
	if err != nil {
		return err
	}
	if err := c.originals(ctx, messages); err != nil {
		return err
	}
	e.messages = c.plan(messages)
	return nil
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	if e.next == len(e.messages) {
		return io.EOF
	}
	m := &e.messages[e.next]
	if m.summary { // of what is told
		e.next++
		return nil
	}
	parts, err := e.conversation.info.source.parts(ctx, m.id)
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Err: err}
	case err != nil:
		return err
	}
	e.next++
	e.decoder.skipped += parts.left + parts.unread
	e.large += parts.left
	if undone := e.conversation.info.revert; m.id == undone.message {
		parts.all = slices.DeleteFunc(parts.all, func(p part) bool { return p.id >= undone.part })
	}
	into.Put(e.decoder.events(into.Free(), m, parts.all), m.copied)
	return nil
}

// Counts implements [recorded.Script].
func (e *events) Counts() (turns, skipped, tooLarge int) {
	return e.decoder.turn, e.decoder.skipped, e.large
}

// Rewind implements [recorded.Script].
func (e *events) Rewind() {
	e.next, e.large = 0, 0
	e.decoder = decoder{agent: e.conversation.info.parent != ""}
}

// Release implements [recorded.Script].
func (e *events) Release() { e.conversation.info.source.Release() }
