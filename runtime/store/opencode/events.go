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
	for _, m := range messages {
		if m.role != user || err != nil {
			continue
		}
		var parts partsOf
		parts, err = c.info.source.parts(ctx, m.id)
		d := decoder{}
		for _, e := range d.events(nil, &m, parts.all) {
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
	for _, m := range slices.Backward(messages) {
		e := &events{conversation: c, messages: []message{m}}
		var last recorded.Stream
		if err := e.Read(ctx, &last); err != nil {
			return time.Time{}, err
		}
		for last.Next() {
		}
		if at := last.Last(); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, err
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

// open finds out which messages are read.
func (e *events) open(ctx context.Context) error {
	was := e.conversation
	// What was undone may have changed since the session was listed.
	now, _, err := was.info.source.sessions(ctx, was.info.session)
	if err == nil && len(now) == 0 {
		err = was.gone()
	}
	if err != nil {
		return err
	}
	e.conversation = &conversation{store: was.store, info: now[0]}
	if e.messages, err = e.conversation.messages(ctx, -1); err != nil {
		return err
	}
	return e.conversation.originals(ctx, e.messages)
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
	if errors.Is(err, sqlitefile.ErrCorrupt) {
		err = &store.DamageError{Err: err}
	}
	if err != nil {
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
