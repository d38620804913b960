package opencode

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
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
	parent  string // session that it is a task of
	dir     string
	title   string
	begun   int64 // time of the first message
	revert  revert
	times
}

func (i *info) archived() bool { return i.Archived != 0 }

// mayBeFork reports whether the session begins with messages of before it was made.
func (i *info) mayBeFork() bool { return i.begun != 0 && i.begun < i.Created }

// listing is the sources, and what is found in them.
type listing struct {
	store    *Store
	sources  []source
	problems []store.Problem
}

// open finds the sources.
func (s *Store) open() *listing {
	l := &listing{store: s}
	databases, err := s.databases()
	if err != nil {
		l.problems = append(l.problems, history.Problem("", store.Unreadable, s.Dir, err))
	}
	for _, path := range databases {
		l.sources = append(l.sources, newDatabase(path))
	}
	t := newTree(s.Dir)
	if info, err := os.Stat(t.Dir); err == nil && info.IsDir() {
		l.sources = append(l.sources, t)
	}
	return l
}

func (l *listing) close() {
	for _, src := range l.sources {
		src.Release()
	}
}

// sessions returns the sessions of the project in all sources, or the one with an id: where several
// have one, the first of them counts.
func (l *listing) sessions(ctx context.Context, session string) ([]*info, error) {
	var found []*info
	seen := map[string]bool{}
	for n := 0; n < len(l.sources); n++ {
		src := l.sources[n]
		infos, problems, err := src.sessions(ctx, session)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			problems = append(problems, history.Problem("", store.Unreadable, src.path(), err))
			src.Release()
			l.sources = slices.Delete(l.sources, n, n+1)
			n--
		}
		l.problems = append(l.problems, problems...)
		for _, i := range infos {
			if !seen[i.session] && l.store.Project.Has(i.dir) {
				found = append(found, i)
			}
			seen[i.session] = true
		}
	}
	if p := l.problems; len(l.sources) == 0 && len(p) > 0 {
		return nil, fmt.Errorf("opening the conversations in %s: %w", p[0].Path, p[0].Err)
	}
	return found, nil
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l := s.open()
	found, err := l.list(ctx, scope)
	if err != nil {
		l.close()
		return nil, err
	}
	listing := &store.Listing{Conversations: found, Problems: l.problems, Release: l.close}
	listing.Keep(scope)
	return listing, nil
}

func (l *listing) list(ctx context.Context, scope store.Scope) (list []store.Conversation, err error) {
	var wanted, all []*info
	whole := len(scope.IDs) == 0
	for _, want := range scope.IDs {
		session, ok := strings.CutPrefix(string(want), IDPrefix)
		if !ok || !isSession(session) {
			continue
		}
		found, err := l.sessions(ctx, session)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, found...)
		whole = whole || slices.ContainsFunc(found, func(i *info) bool { return strings.Contains(i.title, forkMark) }) // which others tell
	}
	if whole {
		if all, err = l.sessions(ctx, ""); err != nil {
			return nil, err
		}
		wanted = all
	}
	for _, i := range wanted {
		if scope.Has(id(i.session), i.archived()) {
			list = append(list, l.conversation(ctx, i, all))
		}
	}
	return list, ctx.Err()
}

// conversation returns what List returns of a session, one of all.
func (l *listing) conversation(ctx context.Context, i *info, all []*info) store.Conversation {
	record := &conversation{store: l.store, info: i}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id(i.session), Source: Name, Title: i.title, Dir: i.dir, CreatedAt: timeOf(i.Created), ArchivedAt: timeOf(i.Archived), Archived: i.archived(),
		},
		Record: record,
	}
	if isSession(i.parent) {
		c.Parent = id(i.parent)
	} else if i.mayBeFork() && strings.Contains(i.title, forkMark) {
		if from, _, _ := record.forks(ctx, all, func(*info) bool { return true }); from != nil { // what cannot be read is no fork
			c.Parent = id(from.session)
		}
	}
	isDefault := isDefaultTitle(i.title)
	request, last := record.peek(ctx, isDefault)
	c.LastAt = last
	if isDefault && request != "" {
		c.Title, c.Request = "", request
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

// forkMark is in the title of a fork, with its number behind.
const forkMark = " (fork #"
