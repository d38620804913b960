// Package claudecode reads the conversations that Claude Code recorded for a project:
// sessions and those of their sub-agents, from the transcripts below its
// configuration directory.
//
// It is a reader. It never creates, changes or locks anything, and opens only regular
// files below the directory of projects. A conversation belongs to a project by the
// working directory that is recorded in it, never by the name of a folder, which
// several directories share.
package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Name is the name of this kind of store.
const Name = "claude-code"

// Store is the conversations of a project, as a [store.Store], in the directory of projects.
type Store struct{ history.Store }

// Open returns the store, and false where Claude Code has recorded nothing there.
func Open(o store.Options) (*Store, bool) {
	s, ok := history.Open(o, Name, Home, "projects", IDs())
	return &Store{s}, ok
}

// Home returns the directory that Claude Code keeps everything in, or "" where the
// environment does not tell.
func Home(getenv func(string) string) string {
	return cmp.Or(getenv("CLAUDE_CONFIG_DIR"), history.InHome(getenv, ".claude"))
}

// IDs returns what ids are: the uuid of a session, with the name of a sub-agent behind it where it
// is that of one. A bare uuid is one too, unless it is of version 7, as those of Codex are.
func IDs() *history.IDs {
	return &history.IDs{
		Prefix: "claude-", Part: history.IsName, Example: "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc",
		Bare: func(uuid string) bool { return !history.IsTimed(uuid) },
	}
}

// id returns the id of a session, or of a sub-agent where that is not empty.
func id(session, agent string) transcript.ID { return IDs().ID(session, agent) }

const (
	extension    = ".jsonl"
	agentPrefix  = "agent-"
	subagentsDir = "subagents"
	sideAgent    = "side" // stands for the sub-agents in the file of a session
)

// entry is a transcript in a folder of a project.
type entry struct {
	history.Entry[metadata]
	session string // uuid; of a sub-agent that of its session, where the path has it
	agent   string // name, where it is that of a sub-agent
	relation
}

// transcripts returns the transcripts in the folders that may have sessions of the project, and
// the folders that cannot be read.
func (s *Store) transcripts(root *history.Root) (all []*entry, problems []store.Problem, err error) {
	files, problems, err := s.Walk(root, ".", func(dir string) bool {
		folder, below, isBelow := strings.Cut(dir, "/")
		if isBelow {
			session, rest, _ := strings.Cut(below, "/")
			return history.IsUUID(session) && (rest == "" || rest == subagentsDir)
		}
		return s.Project.All() || slices.ContainsFunc(s.Project.Roots(), func(root string) bool { return mayHold(folder, root) })
	})
	for _, file := range files {
		if e := newEntry(file); e != nil {
			all = append(all, e)
		}
	}
	return all, problems, err
}

// newEntry returns the transcript that a file is; nil for none.
func newEntry(file string) *entry {
	e := &entry{}
	e.File = file
	dirs := strings.Split(file, "/")
	name, isFile := strings.CutSuffix(path.Base(file), extension)
	agent, isAgent := strings.CutPrefix(name, agentPrefix)
	switch isAgent = isAgent && history.IsName(agent); {
	case !isFile, !isAgent && !(history.IsUUID(name) && len(dirs) == 2):
		return nil
	case isAgent:
		e.agent, e.About = agent, strings.TrimSuffix(file, extension)+".meta.json"
		if len(dirs) == 4 {
			e.session = dirs[1]
		}
	default:
		e.session = name
	}
	if e.session != "" {
		e.ID = id(e.session, e.agent)
	}
	return e
}

// List implements [store.Store]. Of sessions of which another one has all, it has those that are
// asked for by their ids.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	return history.List(ctx, &s.Store, scope, s.transcripts, func(root *history.Root, all []*entry, l *store.Listing) error {
		titles := summaries(all)
		all = slices.DeleteFunc(all, func(e *entry) bool { return !e.complete() || !s.Project.Has(e.Meta.Dir) })
		all = s.unique(all, l)
		err := resolveCopies(ctx, root, all)
		for _, e := range all {
			if e.Hidden && !slices.Contains(scope.IDs, e.ID) {
				continue
			}
			if e.agent != "" {
				l.Conversations = append(l.Conversations, s.conversation(root, e, whole, titles))
			} else if e.Meta.HasMain || !e.Meta.Whole {
				l.Conversations = append(l.Conversations, s.conversation(root, e, main, titles))
			}
			if e.agent == "" && e.Meta.HasSide {
				l.Conversations = append(l.Conversations, s.conversation(root, e, side, titles))
			}
		}
		return err
	})
}

// complete finds out the session of a sub-agent beside it, and reports whether there is something
// to read.
func (e *entry) complete() bool {
	if e.ID == "" && history.IsUUID(e.Meta.Session) {
		e.session = e.Meta.Session
		e.ID = id(e.session, e.agent)
	}
	return e.ID != "" && e.Meta.Messages > 0 && (e.agent == "" || !e.Meta.isWarmUp())
}

// unique leaves out what another file has the same id as: the one that was written
// last counts.
func (s *Store) unique(all []*entry, l *store.Listing) []*entry {
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(b.Stamp.Modified(), a.Stamp.Modified()))
	})
	var before transcript.ID
	return slices.DeleteFunc(all, func(e *entry) bool {
		again := e.ID == before
		if before = e.ID; again {
			l.Problems = append(l.Problems, s.Problem(e.ID, store.Duplicate, e.File, errDuplicate))
		}
		return again
	})
}

var errDuplicate = errors.New("another file of the same id was written later, and is read instead")

// conversation returns what a list has of a part of a transcript.
func (s *Store) conversation(root *history.Root, e *entry, part part, summaries map[key]string) store.Conversation {
	is, of := e.ID, &e.Meta.Main
	if part == side {
		is, of = id(e.session, sideAgent), &e.Meta.Side
	}
	record := &conversation{part: part}
	record.File = history.File{Store: &s.Store, ID: is, Name: e.File, Stamps: []filecache.Stamp{e.Stamp}, Script: record.script}
	c := s.Conversation(is, of, record)
	switch part {
	case side:
		c.Parent = e.ID
	case whole:
		c.Title, c.Parent = cmp.Or(e.Meta.Description, e.Meta.title(summaries)), id(e.session, "")
	default:
		c.Title, c.Parent = e.Meta.title(summaries), e.From
		record.copies = e.Others
		for _, other := range e.Others {
			record.Stamps = append(record.Stamps, root.Stamp(other))
		}
	}
	return c
}

// summaries returns the summaries that transcripts have, by the record behind which
// they were made.
func summaries(all []*entry) map[key]string {
	found := map[key]string{}
	for _, e := range all {
		for _, s := range e.Meta.Summaries {
			found[s.Behind] = s.Text
		}
	}
	return found
}

// mayHold reports whether a folder may have sessions of a directory or of one below it. Its name is
// that of the directory, with '-' for each UTF-16 unit that is no ASCII letter or digit, and a hash in
// place of what is behind the 200th; some systems ignore case.
func mayHold(folder, dir string) bool {
	const most = 200
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
	return ok && (rest == "" || rest[0] == '-' || len(name) == most || bytes.HasSuffix(name, []byte("-")))
}
