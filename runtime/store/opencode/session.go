package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// info is the metadata of a session. The keys are those of the files.
type info struct {
	source  source
	session string // its id
	file    string // in a tree

	Parent string `json:"parentID"` // the session that started it as a task
	Dir    string `json:"directory"`
	Title  string `json:"title"`
	Revert revert `json:"revert"`
	Time   times  `json:"time"`

	Begun int64 `json:"begun"` // the time of the first message
}

func (i *info) archived() bool { return i.Time.Archived != 0 }

const forkMark = " (fork #" // in the title of a fork, before its number

// origin returns the session in all from which i was forked; nil if i is no fork, or all has no such session. opencode
// records no link. A fork begins with copies of the origin's messages, so Begun, the time of the first, is equal.
// The fork's title is the origin's with the next number: origin prefers a session with that title, then the oldest.
func (i *info) origin(all []*info) *info {
	title, count, isFork := strings.Cut(i.Title, forkMark)
	if !isFork || i.Begun == 0 || i.Begun >= i.Time.Created { // copies are older than the fork
		return nil
	}
	if n, _ := strconv.Atoi(strings.TrimSuffix(count, ")")); n > 1 {
		title = fmt.Sprintf("%s (fork #%d)", title, n-1)
	}
	earlier := slices.DeleteFunc(slices.Clone(all), func(o *info) bool { return o.Begun != i.Begun || o.Time.Created >= i.Time.Created })
	if len(earlier) == 0 {
		return nil
	}
	return slices.MinFunc(earlier, func(a, b *info) int {
		return cmp.Or(history.CompareBool(a.Title != title, b.Title != title), cmp.Compare(a.Time.Created, b.Time.Created))
	})
}

// open returns the sources, and an empty listing that releases them when it is closed.
func (s *Store) open() (sources []source, l *store.Listing) {
	l = &store.Listing{Release: func() {
		for _, src := range sources {
			src.Release()
		}
	}}
	databases, err := s.databases()
	if err != nil {
		l.Problems = append(l.Problems, history.Problem("", store.Unreadable, s.Dir, err))
	}
	for _, path := range databases {
		d := &database{sqlitefile.Shared{Path: path}}
		d.Retain() // until the listing is closed
		sources = append(sources, d)
	}
	t := &tree{history.Store{IDs: s.IDs, Kind: s.Kind, Dir: filepath.Join(s.Dir, treeDir)}}
	if store.IsThere(t.Dir) {
		sources = append(sources, t)
	}
	return sources, l
}

// sessions returns the sessions of the project, and adds the problems of reading them to the listing. A session in
// several sources is read from the first. If no source could be read, the error is that of the first problem.
func (s *Store) sessions(ctx context.Context, sources []source, l *store.Listing) (found []*info, err error) {
	seen := map[string]bool{}
	read := 0
	for _, src := range sources {
		infos, problems, unread := src.sessions(ctx, "") // "" is for all sessions
		if unread != nil {
			problems = append(problems, history.Problem("", store.Unreadable, src.path(), unread))
		} else {
			read++
		}
		l.Problems = append(l.Problems, problems...)
		for _, i := range infos {
			if !seen[i.session] && s.Project.Has(i.Dir) {
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
	sources, l := s.open()
	all, err := s.sessions(ctx, sources, l)
	for n := 0; n < len(all) && err == nil; n++ {
		if scope.Has(s.ID(all[n].session, ""), all[n].archived()) {
			l.Conversations = append(l.Conversations, s.conversation(ctx, all[n], all))
		}
		err = ctx.Err()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	l.Keep(scope)
	return l, nil
}

// conversation returns the entry of i in a list. all are the project's sessions. A request replaces a default title.
func (s *Store) conversation(ctx context.Context, i *info, all []*info) store.Conversation {
	from := i.origin(all)
	isFork := from != nil && (!from.archived() || i.archived()) // some lists omit archived sessions
	c := &conversation{s, i, isFork}                            // isFork: each list with i has the origin too
	meta := history.Session{Title: i.Title, Dir: i.Dir, Created: history.Moment(i.Time.Created)}
	if isDefaultTitle(i.Title) {
		meta.Request = c.request(ctx)
		if meta.Request != "" {
			meta.Title = ""
		}
	}
	entry := s.Conversation(s.ID(i.session, ""), &meta, nil)
	entry.Record = c
	entry.LastActivatedAt = history.Moment(i.Time.Updated)
	entry.Archived, entry.ArchivedAt = i.archived(), history.Moment(i.Time.Archived)
	if isSession(i.Parent) {
		entry.Parent = s.ID(i.Parent, "")
	} else if from != nil {
		entry.Parent = s.ID(from.session, "")
	}
	return entry
}

// isDefaultTitle reports whether a title is one that the program gives before the model chooses one, or that of a fork
// of a session with such a title.
func isDefaultTitle(title string) bool {
	title, _, _ = strings.Cut(title, forkMark)
	kind, at, _ := strings.Cut(title, " session - ")
	_, err := transcript.ParseTimestamp(at)
	return title == "" || (kind == "New" || kind == "Child") && err == nil
}

// conversation is a recorded session. It implements [store.Record].
type conversation struct {
	store *Store
	*info
	isFork bool // of a session that lists show together with it
}

// Version implements [store.Record].
func (c *conversation) Version(ctx context.Context) (string, error) {
	version, err := c.source.version(ctx, c.session)
	if err == nil && version == "" {
		err = c.notFound()
	}
	if err != nil {
		return "", fmt.Errorf("looking for changes of %s: %w", c.store.ID(c.session, ""), err)
	}
	return version, nil
}

func (c *conversation) notFound() error {
	return &store.NotFoundError{IDs: []transcript.ID{c.store.ID(c.session, "")}, Place: c.store.Dir}
}

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	to := history.Recorder{Yield: yield}
	return to.End(c.store.ID(c.session, ""), c.record(ctx, &to))
}

// request returns the beginning of the first request, or "". It ignores errors: reading the session reports the same.
func (c *conversation) request(ctx context.Context) string {
	to := &history.Recorder{}
	messages, err := c.messages(ctx)
	for i := range messages {
		if messages[i].Role == "user" && to.Request == "" && err == nil {
			err = c.recordMessage(ctx, to, &messages[i]) // it sets to.Request, unless the message has no text
		}
	}
	return to.Request
}

// record adds the events of the session to a recorder, without those that the user has undone since it was listed.
func (c *conversation) record(ctx context.Context, to *history.Recorder) error {
	found, problems, err := c.source.sessions(ctx, c.session)
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return problems[0].Err
	case len(found) == 0:
		return c.notFound()
	}
	now := &conversation{c.store, found[0], c.isFork}
	messages, err := now.messages(ctx)
	for i := 0; i < len(messages) && err == nil && !to.Stopped; i++ {
		to.Copied = now.isFork && messages[i].created < now.Time.Created
		err = now.recordMessage(ctx, to, &messages[i])
	}
	return err
}

// recordMessage adds the events of a message to a recorder, without parts that were undone; a summary has none.
func (c *conversation) recordMessage(ctx context.Context, to *history.Recorder, m *message) error {
	to.Agent, to.Inquiry = c.Parent != "", "question"
	if m.Summary {
		return nil
	}
	var parts partList
	err := c.source.each(ctx, partTable, m.id, func() { parts = partList{} }, parts.add)
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return &store.DamageError{Err: err}
	case err != nil:
		return err
	}
	to.Totals.Skipped += parts.tooLarge
	to.Totals.TooLarge += parts.tooLarge
	if m.id == c.Revert.Message {
		parts.all = slices.DeleteFunc(parts.all, func(p part) bool { return p.id >= c.Revert.Part })
	}
	record(to, m, parts.all)
	return nil
}

// messages returns the messages that are not undone: each prompt of the user, followed by its answers.
func (c *conversation) messages(ctx context.Context) (messages []message, err error) {
	err = c.source.each(ctx, messageTable, c.session, func() { messages = nil }, func(id string, created int64, data []byte) {
		messages = append(messages, newMessage(id, created, data))
	})
	slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(a.created, b.created) })
	if i := slices.IndexFunc(messages, func(m message) bool { return m.id == c.Revert.Message }); i >= 0 {
		if c.Revert.Part != "" { // only a part of the message is undone
			i++
		}
		messages = messages[:i]
	}
	sortByPrompts(messages)
	return messages, err
}

// sortByPrompts sorts messages, which are in the order of their times, so that each prompt, a message of the user, is
// followed by its answers. It marks a prompt that a summary answers as a compaction.
func sortByPrompts(messages []message) {
	prompts := map[string]int{} // indexes of the prompts, by their ids
	for i, m := range messages {
		if m.Role == "user" {
			prompts[m.id] = i
		}
	}
	for i := range messages {
		m := &messages[i]
		m.place = 2 * i // of a prompt; its answers have the place 2*i + 1, before the next prompt
		prompt, isAnswer := prompts[m.Parent]
		switch {
		case m.Role == "user":
		case isAnswer:
			m.place = 2*prompt + 1
			messages[prompt].isCompaction = messages[prompt].isCompaction || m.Summary && !m.failed()
		case i > 0: // its prompt is not known: it stays after the message before
			m.place = messages[i-1].place | 1 // from 2*n, the place of a prompt, or 2*n + 1, that of an answer, to 2*n + 1
		}
	}
	slices.SortStableFunc(messages, func(a, b message) int { return a.place - b.place })
}
