package opencode

import (
	"context"
	"errors"
	"fmt"
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
func (c *conversation) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	e := &events{conversation: c, buffer: buffer}
	c.info.source.retain()
	if err := e.open(ctx); err != nil {
		e.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id(), err)
	}
	e.Restart()
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(ctx context.Context) (string, error) {
	c.info.source.retain()
	defer c.info.source.release()
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
	return &store.NotFoundError{IDs: []transcript.ID{c.id()}, Place: c.store.Place()}
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
	group := make([]int, len(messages))
	order := make([]int, len(messages))
	for i, m := range messages {
		order[i], group[i] = i, i
		if m.role == user {
			continue
		}
		if p, ok := place[m.parent]; ok {
			group[i] = p
		} else if i > 0 {
			group[i] = group[i-1]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case group[a] != group[b]:
			return group[a] - group[b]
		case a == group[a] && a != b:
			return -1
		case b == group[b] && a != b:
			return 1
		}
		return 0
	})
	told := make([]message, 0, len(messages))
	for _, i := range order {
		told = append(told, messages[i])
	}
	return told
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
	type key struct {
		at   time.Time
		role role
	}
	told := map[key]bool{}
	for _, other := range others {
		if other.session == i.session || !other.created.Before(i.created) || other.archived() && !i.archived() || !c.store.project.Has(other.dir) {
			continue
		}
		begin, err := i.source.begin(ctx, other.session)
		if err != nil {
			return err
		}
		if !begin.Equal(messages[0].created) {
			continue
		}
		copied, err := i.source.messages(ctx, other.session, 0)
		if err != nil {
			return err
		}
		for _, m := range (&conversation{store: c.store, info: other}).plan(copied) {
			told[key{m.created, m.role}] = true
		}
	}
	for n := range messages {
		m := &messages[n]
		m.copied = m.created.Before(i.created) && told[key{m.created, m.role}]
	}
	return nil
}

// firstPrompt returns what the user said first, as a title.
func (c *conversation) firstPrompt(ctx context.Context) (string, error) {
	messages, err := c.info.source.messages(ctx, c.info.session, 0)
	if err != nil {
		return "", err
	}
	buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
	defer buffer.Release()
	for _, m := range c.plan(messages) {
		if m.role != user {
			continue
		}
		parts, _, err := c.info.source.parts(ctx, m.id, buffer)
		if err != nil {
			return "", err
		}
		d := decoder{}
		for _, e := range d.events(nil, &m, parts) {
			if len(e.Pieces) > 0 {
				return recorded.Title(e.Pieces[0].Raw), nil
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
	buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
	defer buffer.Release()
	e := &events{conversation: c, buffer: buffer, messages: c.plan(messages)}
	for n := len(e.messages) - 1; n >= 0; n-- {
		e.decoder = decoder{}
		if err := e.read(ctx, n); err != nil {
			return time.Time{}, err
		}
		for e.stream.Next() {
		}
		if at := e.stream.Last(); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// events reads the events of a session. It implements [store.Events].
type events struct {
	conversation *conversation
	buffer       *store.Buffer
	messages     []message
	next         int // message
	decoder      decoder
	stream       recorded.Stream
	err          error
	closed       bool
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

// read makes the events of a message the next ones.
func (e *events) read(ctx context.Context, n int) error {
	m := &e.messages[n]
	if m.summary {
		return nil // of what is told
	}
	parts, left, err := e.conversation.info.source.parts(ctx, m.id, e.buffer)
	if err != nil {
		return err
	}
	e.decoder.skipped += left
	if undone := e.conversation.info.revert; m.id == undone.message {
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.id >= undone.part })
	}
	e.stream.Put(e.decoder.events(e.stream.Free(), m, parts), m.copied)
	return nil
}

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	for !e.stream.Next() {
		if e.err != nil || e.next == len(e.messages) {
			return false
		}
		if e.err = e.read(ctx, e.next); e.err != nil {
			return false
		}
		e.next++
	}
	return true
}

// Event implements [store.Events].
func (e *events) Event() *transcript.Event { return e.stream.Event() }

// Err implements [store.Events].
func (e *events) Err() error {
	switch {
	case e.err == nil:
		return nil
	case errors.Is(e.err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Event: e.stream.Count(), Err: e.err}
	}
	return fmt.Errorf("reading the events of %s: %w", e.conversation.id(), e.err)
}

// Totals implements [store.Events].
func (e *events) Totals() store.Totals {
	t := store.Totals{Turns: e.decoder.turn, Skipped: e.decoder.skipped}
	if e.err != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.stream.Count(), e.stream.Last()
	return t
}

// Restart implements [store.Events].
func (e *events) Restart() {
	e.next, e.err = 0, nil
	e.decoder = decoder{agent: e.conversation.info.parent != ""}
	e.stream.Reset()
}

// Close implements [store.Events].
func (e *events) Close() {
	if !e.closed {
		e.closed = true
		e.conversation.info.source.release()
	}
}
