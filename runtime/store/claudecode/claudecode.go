// Package claudecode reads the conversations that Claude Code recorded for a project: sessions and those of
// their sub-agents, from the transcripts below its configuration directory.
//
// It never creates, changes or locks a file, and opens only regular files below the directory of projects. A
// conversation belongs to a project by the working directory that is recorded in it, never by the name of a
// folder, which several directories share.
package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
)

// Name is the name of this kind of store.
const Name = "claude-code"

// Store has the conversations of a project. It implements [store.Store].
type Store struct{ history.Store }

// Open returns the store, and false if Claude Code has recorded nothing.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home(o.Env()), "projects", IDs())
	return &Store{s}, ok
}

// Home returns the configuration directory of Claude Code, or "" if the environment does not name it.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CLAUDE_CONFIG_DIR"), history.InHome(getenv, ".claude"))
}

// IDs returns the form of ids: the uuid of a session, and for a sub-agent also its name. A bare uuid is
// valid unless it is of version 7, as those of Codex are.
func IDs() *history.IDs {
	return &history.IDs{
		Prefix: "claude-", Part: history.IsName, Example: "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc",
		Bare: func(uuid string) bool { return !history.IsTimed(uuid) },
	}
}

// parsePath returns the session and the sub-agent that the path of a transcript names. The path is
// FOLDER/SESSION.jsonl for a session, and FOLDER/SESSION/subagents/agent-AGENT.jsonl or FOLDER/agent-AGENT.jsonl for
// a sub-agent. It returns false for other files.
func parsePath(file string) (session, agent string, ok bool) {
	name, isLog := strings.CutSuffix(file, ".jsonl")
	_, name, _ = strings.Cut(name, "/")
	before, agent, isAgent := strings.Cut(name, "agent-")
	if !isAgent {
		return before, "", isLog && history.IsUUID(before)
	}
	session, isBelow := strings.CutSuffix(before, "/subagents/")
	inSession := isBelow && history.IsUUID(session)
	return session, agent, isLog && history.IsName(agent) && (inSession || before == "")
}

// entry is a transcript in a folder of a project.
type entry struct {
	history.Entry[metadata]
	session string // uuid; of a sub-agent that of its session, empty if the path does not have it
	agent   string // name of a sub-agent; empty for a session
	relation
}

// transcripts returns the transcripts in the folders that can contain sessions of the project, and
// problems for the folders that cannot be read.
func (s *Store) transcripts(root *history.Root) (all []*entry, problems []store.Problem) {
	return history.Entries(&s.Store, root, ".", func(dir string) bool { // FOLDER, FOLDER/SESSION or FOLDER/SESSION/subagents
		folder, below, isBelow := strings.Cut(dir, "/")
		if isBelow {
			session, rest, _ := strings.Cut(below, "/")
			return history.IsUUID(session) && (rest == "" || rest == "subagents")
		}
		return s.Project.All() || slices.ContainsFunc(s.Project.Roots(), func(root string) bool { return mayHold(folder, root) })
	}, func(e *entry) bool {
		session, agent, isTranscript := parsePath(e.File)
		e.session, e.agent = session, agent
		if session != "" {
			e.ID = s.ID(session, agent)
		}
		if agent != "" {
			e.About = strings.TrimSuffix(e.File, ".jsonl") + ".meta.json"
		}
		return isTranscript
	})
}

// List implements [store.Store]. A session that is wholly in another session is listed only if the scope names it.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.transcripts, func(root *history.Root, all []*entry, l *store.Listing) error {
		titles := summaries(all)
		all = slices.DeleteFunc(all, func(e *entry) bool { return !e.complete() || !s.Project.Has(e.Meta.Dir) })
		all = s.unique(all, l)
		err := relateAll(ctx, root, all)
		for _, e := range all {
			if !e.Repeated || slices.Contains(scope.IDs, e.ID) {
				l.Conversations = append(l.Conversations, s.conversation(e, titles))
			}
		}
		return err
	})
}

// complete sets the session and the id of a sub-agent whose path does not have them, and reports whether the
// transcript has an id and anything to read. Claude Code starts some sub-agents only to warm up: their files
// have one answer to no question.
func (e *entry) complete() bool {
	m := &e.Meta
	if e.ID == "" && history.IsUUID(m.UUID) {
		e.session = m.UUID
		e.ID = IDs().ID(e.session, e.agent)
	}
	isWarmUp := e.agent != "" && m.Whole && m.Messages == 1 && m.Answers == 1
	return e.ID != "" && m.Messages > 0 && !isWarmUp
}

// unique returns for each id the file that was written last, in the order of the ids. For each other file with the
// id it adds a problem to the listing.
func (s *Store) unique(all []*entry, l *store.Listing) []*entry {
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(b.Stamp.Modified(), a.Stamp.Modified()))
	})
	return slices.CompactFunc(all, func(e, before *entry) bool {
		isDuplicate := e.ID == before.ID
		if isDuplicate {
			err := errors.New("another file of the same id was written later, and is read instead")
			l.Problems = append(l.Problems, s.Problem(e.ID, store.Duplicate, e.File, err))
		}
		return isDuplicate
	})
}

// conversation returns the list's entry for a session, or for a sub-agent with its task as the title. titles are summaries.
func (s *Store) conversation(e *entry, titles map[key]string) store.Conversation {
	c := s.Conversation(e.ID, &e.Meta.Session, e.decode, e.Stamp, filecache.Since(e.Own))
	c.Title, c.Parent = e.Meta.title(titles), e.Origin
	if e.agent != "" {
		c.Title, c.Parent = cmp.Or(e.Meta.Description, c.Title), s.ID(e.session, "")
	}
	return c
}

// mayHold reports whether a folder can contain sessions of a directory or of a directory below that. The name of a
// folder is the path of the directory with '-' for each UTF-16 unit that is no ASCII letter or digit, and a hash in
// place of the units after the 200th. Some systems ignore case.
func mayHold(folder, dir string) bool {
	const most = 200 // units before the hash
	var name []byte
	for _, unit := range utf16.Encode([]rune(dir)) {
		c := byte('-')
		if unit < utf8.RuneSelf && unit != '_' && history.IsPlain(string(rune(unit))) {
			c = byte(unit)
		}
		name = append(name, c)
	}
	name = name[:min(len(name), most)]
	rest, ok := history.CutPrefix(folder, string(name))
	// rest is "" for dir itself. For a directory below, it begins with '-', a separator, unless dir ends with one, as "/" does.
	isDirOrBelow := rest == "" || rest[0] == '-' || bytes.HasSuffix(name, []byte("-"))
	return ok && (isDirOrBelow || len(name) == most) // a folder does not tell the units after the 200th
}
