package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects.
type session struct {
	store *Store
	*history.Root
}

func (s *Store) open() (*session, error) {
	root, err := s.Store.Open()
	return &session{s, root}, err
}

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

// folders returns the folders that may have sessions of the project.
func (s *session) folders() ([]string, error) {
	all, err := s.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.store.Dir, err)
	}
	var names []string
	for _, e := range all {
		holds := func(root string) bool { return mayHold(e.Name(), root) }
		if (s.store.Project.All() || slices.ContainsFunc(s.store.Project.Roots(), holds)) && s.IsDir(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// transcripts returns the transcripts in the folders of the project, and the folders that cannot
// be read.
func (s *session) transcripts() (all []*entry, problems []store.Problem, err error) {
	folders, err := s.folders()
	for _, folder := range folders {
		entries, err := s.ReadDir(folder)
		if err != nil {
			problems = append(problems, s.store.Problem("", store.Unreadable, folder, err))
		}
		for _, e := range entries {
			file := path.Join(folder, e.Name())
			name, isFile := strings.CutSuffix(e.Name(), extension)
			switch agent, isAgent := agentOf(e.Name()); {
			case isAgent:
				all = append(all, newEntry(file, "", agent))
			case isFile && history.IsUUID(name):
				all = append(all, newEntry(file, name, ""))
			case history.IsUUID(e.Name()):
				dir := path.Join(file, subagentsDir)
				below, _ := s.ReadDir(dir) // there need not be any
				for _, b := range below {
					if agent, ok := agentOf(b.Name()); ok {
						all = append(all, newEntry(path.Join(dir, b.Name()), e.Name(), agent))
					}
				}
			}
		}
	}
	return all, problems, err
}

func newEntry(file, session, agent string) *entry {
	e := &entry{session: session, agent: agent}
	if e.File = file; session != "" {
		e.ID = id(session, agent)
	}
	if agent != "" {
		e.About = strings.TrimSuffix(file, extension) + ".meta.json"
	}
	return e
}

// agentOf returns the name of a sub-agent that a file is the transcript of.
func agentOf(file string) (name string, ok bool) {
	name, isFile := strings.CutSuffix(file, extension)
	name, isAgent := strings.CutPrefix(name, agentPrefix)
	return name, isFile && isAgent && history.IsName(name)
}

// List implements [store.Store]. Of sessions of which another one has all, it has those that are
// asked for by their ids.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	opened, err := s.open()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	all, problems, err := opened.transcripts()
	if err != nil {
		return nil, err
	}
	all, unread := history.Peek(ctx, &s.Store, opened.Root, all,
		func(e *entry) error { return opened.read(ctx, e) }, func(e *entry) string { return e.Meta.Dir })
	l := &store.Listing{Problems: append(problems, unread...)}
	titles := summaries(all)
	all = slices.DeleteFunc(all, func(e *entry) bool { return !e.complete() || !s.Project.Has(e.Meta.Dir) })
	all = opened.unique(all, l)
	if err := cmp.Or(ctx.Err(), opened.resolveCopies(ctx, all)); err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Hidden && !slices.Contains(scope.IDs, e.ID) {
			continue
		}
		if e.agent != "" || e.Meta.HasMain || !e.Meta.Whole {
			l.Conversations = append(l.Conversations, opened.conversation(e, titles))
		}
		if e.agent == "" && e.Meta.HasSide {
			l.Conversations = append(l.Conversations, opened.sideChains(e))
		}
	}
	l.Keep(scope)
	return l, nil
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
func (s *session) unique(all []*entry, l *store.Listing) []*entry {
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(b.Stamp.Modified(), a.Stamp.Modified()))
	})
	var before transcript.ID
	return slices.DeleteFunc(all, func(e *entry) bool {
		again := e.ID == before
		if before = e.ID; again {
			l.Problems = append(l.Problems, s.store.Problem(e.ID, store.Duplicate, e.File, errDuplicate))
		}
		return again
	})
}

var errDuplicate = errors.New("another file of the same id was written later, and is read instead")

// record returns where a conversation is recorded.
func (s *session) record(id transcript.ID, e *entry, part part) *conversation {
	c := &conversation{part: part}
	c.File = history.File{Store: &s.store.Store, ID: id, Name: e.File, Stamps: []filecache.Stamp{e.Stamp}, Script: c.script}
	return c
}

// conversation returns what a list has of a transcript.
func (s *session) conversation(e *entry, summaries map[key]string) store.Conversation {
	record := s.record(e.ID, e, main)
	for _, other := range e.others {
		record.Stamps, record.copies = append(record.Stamps, other.Stamp), append(record.copies, other.File)
	}
	c := s.store.Conversation(e.ID, &e.Meta.Main, record)
	c.Title, c.Parent = e.Meta.title(summaries), e.From
	if e.agent != "" {
		record.part, c.Parent = whole, id(e.session, "")
		c.Title = cmp.Or(e.Meta.Description, c.Title)
	}
	return c
}

// sideChains returns what sub-agents say in the file of a session, where versions before 2.0 wrote
// that.
func (s *session) sideChains(e *entry) store.Conversation {
	of := id(e.session, sideAgent)
	c := s.store.Conversation(of, &e.Meta.Side, s.record(of, e, side))
	c.Parent = e.ID
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
