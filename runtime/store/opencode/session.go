package opencode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
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
	source     source
	session    string // id
	parent     string // session that it is a task of
	dir        string
	title      string
	created    time.Time
	archivedAt time.Time
	begun      time.Time // time of the first message
	revert     revert
}

// revert is what its user has undone.
type revert struct {
	message string // the first one that is undone; empty for none
	part    string // the first one of that message that is undone; empty for all of them
}

func (i *info) archived() bool { return !i.archivedAt.IsZero() }

// message is what is recorded about a message.
type message struct {
	id      string
	role    role
	parent  string // the message of the user that it answers
	created time.Time
	summary bool // of what is compacted
	failed  bool
	// compacted is set for the user's message that asks for a compaction which did not
	// fail.
	compacted bool
	copied    bool // from the session that this one was forked from
	place     int  // in the order in which messages are told
}

type role uint8

const (
	unknown role = iota
	user
	assistant
)

// part is a part of a message.
type part struct {
	id   string
	raw  []byte // JSON; nil where nothing of it is told but that there is one
	file bool   // it is a file, such as a picture
}

// maxPart is how many bytes are read of the parts of a message, beside files.
const maxPart = jsonl.MaxLine

// partsOf is the parts of a message.
type partsOf struct {
	all    []part // in their order
	total  int    // bytes
	left   int    // parts that are too long
	unread int    // parts that cannot be read
}

// add adds a part.
func (p *partsOf) add(id string, raw []byte) {
	switch {
	case string(jsontext.GetText(raw, "type")) == "file":
		p.all = append(p.all, part{id: id, file: true})
	case p.total+len(raw) > maxPart:
		p.left++
	default:
		p.total += len(raw)
		p.all = append(p.all, part{id: id, raw: raw})
	}
}

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
	t := &tree{dir: filepath.Join(s.Dir, treeDir)}
	if info, err := os.Stat(t.dir); err == nil && info.IsDir() {
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
			ID: id(i.session), Source: Name, Title: i.title, Dir: i.dir, CreatedAt: i.created, ArchivedAt: i.archivedAt, Archived: i.archived(),
		},
		Record: record,
	}
	if isSession(i.parent) {
		c.Parent = id(i.parent)
	} else if from := forkedFrom(ctx, i, all); from != nil {
		c.Parent = id(from.session)
	}
	// What is damaged is told of where it is read.
	if at, err := record.lastAt(ctx); err == nil {
		c.LastAt = at
	}
	if isDefaultTitle(i.title) {
		if first, err := record.firstPrompt(ctx); err == nil && first != "" {
			c.Title, c.Request = "", first
		}
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

// moment is what a message and its copy have in common.
type moment struct {
	at   time.Time
	role role
}

// moments returns those of messages.
func moments(messages []message) map[moment]bool {
	found := make(map[moment]bool, len(messages))
	for _, m := range messages {
		found[moment{m.created, m.role}] = true
	}
	return found
}

// origins returns the sessions of all that one may have been forked from. opencode records no
// link: a fork begins with messages of before it was made, at the times that the other one has
// them at.
func origins(i *info, all []*info) (found []*info) {
	if i.begun.IsZero() || !i.begun.Before(i.created) {
		return nil
	}
	for _, other := range all {
		if other.session != i.session && other.begun.Equal(i.begun) && other.created.Before(i.created) {
			found = append(found, other)
		}
	}
	return found
}

// forkedFrom returns the session of all that one was forked from, if it is called a fork: the one
// of which it has the most messages, and of several the earliest.
func forkedFrom(ctx context.Context, i *info, all []*info) (from *info) {
	if !strings.Contains(i.title, forkMark) {
		return nil
	}
	messages, _ := i.source.messages(ctx, i.session, -1) // what cannot be read is no fork
	told, most := moments(messages), 0
	for _, other := range origins(i, all) {
		messages, _ := other.source.messages(ctx, other.session, -1)
		common := 0
		for m := range moments(messages) {
			if told[m] && m.at.Before(i.created) {
				common++
			}
		}
		if common > most || from != nil && common == most && other.created.Before(from.created) {
			from, most = other, common
		}
	}
	return from
}
