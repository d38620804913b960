package claudecode

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

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
	dirs := strings.Split(file, "/")
	name, isFile := strings.CutSuffix(dirs[len(dirs)-1], extension)
	agent, isAgent := strings.CutPrefix(name, agentPrefix)
	switch isAgent = isAgent && history.IsName(agent); {
	case !isFile:
		return nil
	case isAgent && len(dirs) == 4:
		e.session, e.agent = dirs[1], agent
	case isAgent && len(dirs) == 2:
		e.agent = agent
	case history.IsUUID(name) && len(dirs) == 2:
		e.session = name
	default:
		return nil
	}
	if e.File = file; e.session != "" {
		e.ID = id(e.session, e.agent)
	}
	if isAgent {
		e.About = strings.TrimSuffix(file, extension) + ".meta.json"
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
			if e.agent != "" || e.Meta.HasMain || !e.Meta.Whole {
				l.Conversations = append(l.Conversations, s.conversation(root, e, titles))
			}
			if e.agent == "" && e.Meta.HasSide {
				l.Conversations = append(l.Conversations, s.sideChains(e))
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

// record returns where a conversation is recorded.
func (s *Store) record(id transcript.ID, e *entry, part part) *conversation {
	c := &conversation{part: part}
	c.File = history.File{Store: &s.Store, ID: id, Name: e.File, Stamps: []filecache.Stamp{e.Stamp}, Script: c.script}
	return c
}

// conversation returns what a list has of a transcript.
func (s *Store) conversation(root *history.Root, e *entry, summaries map[key]string) store.Conversation {
	record := s.record(e.ID, e, main)
	record.copies = e.Others
	for _, other := range e.Others {
		record.Stamps = append(record.Stamps, root.Stamp(other))
	}
	c := s.Conversation(e.ID, &e.Meta.Main, record)
	c.Title, c.Parent = e.Meta.title(summaries), e.From
	if e.agent != "" {
		record.part, c.Parent = whole, id(e.session, "")
		c.Title = cmp.Or(e.Meta.Description, c.Title)
	}
	return c
}

// sideChains returns what sub-agents say in the file of a session, where versions before 2.0 wrote
// that.
func (s *Store) sideChains(e *entry) store.Conversation {
	of := id(e.session, sideAgent)
	c := s.Conversation(of, &e.Meta.Side, s.record(of, e, side))
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
