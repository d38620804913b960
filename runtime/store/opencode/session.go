package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// source is one of the places that sessions are recorded in. Its errors have no path.
type source interface {
	// path is where it is, for people.
	path() string
	// sessions returns the sessions in which something is recorded: all, or the one with an id.
	sessions(ctx context.Context, session string) ([]*info, []store.Problem, error)
	// messages returns the last messages of a session in the order of their times; all where
	// last is below 0.
	messages(ctx context.Context, session string, last int) ([]message, error)
	// parts returns the parts of a message.
	parts(ctx context.Context, message string) (partsOf, error)
	// version returns a text that is another one when a session has changed, or "" where
	// there is none.
	version(ctx context.Context, session string) (string, error)
	// Retain and Release count who uses the source, which holds files open while it is
	// used.
	Retain()
	Release()
}

// info is what is recorded about a session.
type info struct {
	source  source
	file    string // in a tree
	session string // id
	begun   int64  // time of the first message

	Parent string `json:"parentID"` // session that it is a task of
	Dir    string `json:"directory"`
	Title  string `json:"title"`
	Revert revert `json:"revert"`
	Time   times  `json:"time"`
}

func (i *info) archived() bool { return i.Time.Archived != 0 }

// isFork reports whether the session begins with messages of before it was made.
func (i *info) isFork() bool { return i.begun != 0 && i.begun < i.Time.Created }

// listing is the sources, and what is found in them.
type listing struct {
	store *Store
	store.Listing
	sources []source
}

// open finds the sources.
func (s *Store) open() *listing {
	l := &listing{store: s}
	l.Release = func() {
		for _, src := range l.sources {
			src.Release()
		}
	}
	databases, err := s.databases()
	if err != nil {
		l.Problems = append(l.Problems, history.Problem("", store.Unreadable, s.Dir, err))
	}
	for _, path := range databases {
		l.sources = append(l.sources, newDatabase(path))
	}
	if t := newTree(s.Dir); store.IsThere(t.Dir) {
		l.sources = append(l.sources, t)
	}
	return l
}

// sessions returns the sessions of the project in all sources: where several have one, the first of
// them counts.
func (l *listing) sessions(ctx context.Context) (found []*info, err error) {
	seen := map[string]bool{}
	read := 0
	for _, src := range l.sources {
		infos, problems, err := src.sessions(ctx, "")
		if err != nil {
			problems = append(problems, history.Problem("", store.Unreadable, src.path(), err))
		} else {
			read++
		}
		l.Problems = append(l.Problems, problems...)
		for _, i := range infos {
			if !seen[i.session] && l.store.Project.Has(i.Dir) {
				found = append(found, i)
			}
			seen[i.session] = true
		}
	}
	if p := l.Problems; read == 0 && len(p) > 0 {
		err = fmt.Errorf("opening the conversations in %s: %w", p[0].Path, p[0].Err)
	}
	return found, err
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l := s.open()
	all, err := l.sessions(ctx)
	for n := 0; n < len(all) && err == nil; n++ {
		if scope.Has(id(all[n].session), all[n].archived()) {
			l.Conversations = append(l.Conversations, l.conversation(ctx, all[n], all))
		}
		err = ctx.Err()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	l.Keep(scope)
	return &l.Listing, nil
}

// conversation returns what List returns of a session, one of all.
func (l *listing) conversation(ctx context.Context, i *info, all []*info) store.Conversation {
	record := &conversation{l.store, i}
	isDefault := isDefaultTitle(i.Title)
	request, last := record.peek(ctx, isDefault)
	of := history.Session{Title: i.Title, Dir: i.Dir, Created: timeOf(i.Time.Created), Last: last}
	if isDefault && request != "" {
		of.Title, of.Request = "", request
	}
	c := l.store.Conversation(id(i.session), &of, nil)
	c.Record = record
	c.Archived, c.ArchivedAt = i.archived(), timeOf(i.Time.Archived)
	if isSession(i.Parent) {
		c.Parent = id(i.Parent)
	} else if from, _, _ := record.forks(ctx, all); from != nil { // what cannot be read is no fork
		c.Parent = id(from.session)
	}
	return c
}

// isDefaultTitle reports whether a title is what opencode calls a session until the
// model has named it.
func isDefaultTitle(title string) bool {
	kind, at, _ := strings.Cut(title, " session - ")
	_, err := transcript.ParseTimestamp(at)
	return title == "" || (kind == "New" || kind == "Child") && err == nil
}

// conversation is where a session is recorded. It implements [store.Record].
type conversation struct {
	store *Store
	*info
}

// Version implements [store.Record].
func (c *conversation) Version(ctx context.Context) (string, error) {
	version, err := c.source.version(ctx, c.session)
	if err == nil && version == "" {
		err = c.gone()
	}
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", id(c.session), err)
	}
	return version, nil
}

func (c *conversation) gone() error {
	return &store.NotFoundError{IDs: []transcript.ID{id(c.session)}, Place: c.store.Dir}
}

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	c.source.Retain()
	defer c.source.Release()
	t := history.Recorder{Yield: yield}
	return t.End(id(c.session), c.record(ctx, &t))
}

// peek returns how the first request begins, as [store.Conversation.Request] has it, where that is
// wanted, and when the last event happened, where one of the last messages has it. What is damaged
// is told of where it is read.
func (c *conversation) peek(ctx context.Context, wanted bool) (request string, last time.Time) {
	few := 8
	if c.Revert.Message != "" || wanted {
		few = -1
	}
	messages, err := c.messages(ctx, few)
	begin, end := &history.Recorder{}, &history.Recorder{}
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
// messages, and of several the earliest; and the moments of those that it may have. opencode
// records no link: a fork begins with messages of before it was made, at the times that the
// other one has them at.
func (c *conversation) forks(ctx context.Context, all []*info) (from *info, told map[moment]bool, err error) {
	if !c.isFork() || !strings.Contains(c.Title, " (fork #") {
		return nil, nil, nil
	}
	own, err := c.moments(ctx)
	most := 0
	told = map[moment]bool{}
	for _, other := range slices.SortedFunc(slices.Values(all), func(a, b *info) int { return cmp.Compare(a.Time.Created, b.Time.Created) }) {
		if other.begun != c.begun || other.Time.Created >= c.Time.Created || err != nil {
			continue
		}
		var moments map[moment]bool
		moments, err = (&conversation{c.store, other}).moments(ctx)
		common := 0
		for m := range moments {
			if own[m] && m.at < c.Time.Created {
				told[m] = true
				common++
			}
		}
		if common > most {
			from, most = other, common
		}
	}
	return from, told, err
}

// record adds the events.
func (c *conversation) record(ctx context.Context, t *history.Recorder) error {
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
func (c *conversation) tell(ctx context.Context, t *history.Recorder, m *message) error {
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
