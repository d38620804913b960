package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects.
type session struct {
	store *Store
	*history.Root
}

func (s *Store) open() (*session, error) {
	root, err := history.OpenRoot(s.Dir, s.Cache)
	if err != nil {
		return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	return &session{s, root}, nil
}

const (
	extension    = ".jsonl"
	agentPrefix  = "agent-"
	subagentsDir = "subagents"
)

// entry is a transcript in a folder of a project.
type entry struct {
	file    string        // in the directory of projects, with slashes
	session string        // uuid; of a sub-agent that of its session, where the path has it
	agent   string        // name, where it is that of a sub-agent
	known   transcript.ID // once the session and the agent are certain
	stamp   filecache.Stamp
	meta    *metadata
	err     error
	// What it is to others, as a relation has it.
	hidden bool
	from   transcript.ID
	others []*entry
}

func (e *entry) id() transcript.ID {
	if e.known != "" {
		return e.known
	}
	return id(e.session, e.agent)
}

// folders returns the folders that may have sessions of the project.
func (s *session) folders() ([]string, error) {
	all, err := s.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		holds := func(root string) bool { return mayHold(e.Name(), root) }
		if (s.store.Project.All() || slices.ContainsFunc(s.store.Project.Roots(), holds)) && s.isDir(e.Name(), e) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// isDir reports whether an entry is a directory, or a link to one below the root.
func (s *session) isDir(name string, e fs.DirEntry) bool {
	return e.IsDir() || e.Type()&fs.ModeSymlink != 0 && s.IsDir(name)
}

// transcripts returns the transcripts in a folder, in the order of their names.
func (s *session) transcripts(folder string) ([]*entry, error) {
	all, err := s.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []*entry
	for _, e := range all {
		file := path.Join(folder, e.Name())
		name, isFile := strings.CutSuffix(e.Name(), extension)
		switch agent, isAgent := agentOf(e.Name()); {
		case isAgent:
			found = append(found, &entry{file: file, agent: agent})
		case isFile && history.IsUUID(name):
			found = append(found, &entry{file: file, session: name})
		case history.IsUUID(e.Name()) && s.isDir(file, e):
			dir := path.Join(file, subagentsDir)
			below, _ := s.ReadDir(dir) // there need not be any
			for _, b := range below {
				if agent, ok := agentOf(b.Name()); ok {
					found = append(found, &entry{file: path.Join(dir, b.Name()), session: e.Name(), agent: agent})
				}
			}
		}
	}
	return found, nil
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
	return opened.list(ctx, scope)
}

func (s *session) list(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	folders, err := s.folders()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.store.Dir, err)
	}
	l := &store.Listing{}
	var all []*entry
	for _, folder := range folders {
		found, err := s.transcripts(folder)
		if err != nil {
			l.Problems = append(l.Problems, s.store.Problem("", store.Unreadable, folder, err))
			continue
		}
		all = append(all, found...)
	}
	s.peekAll(ctx, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all = s.usable(all, l)
	titles := summaries(all)
	all = slices.DeleteFunc(all, func(e *entry) bool {
		return !e.meta.isConversation(e.agent != "") || !s.store.Project.Has(e.meta.Cwd)
	})
	all = s.unique(all, l)
	if err := s.resolveCopies(ctx, all); err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.hidden && !slices.Contains(scope.IDs, e.id()) {
			continue
		}
		if e.meta.HasTop || !e.meta.Whole || e.agent != "" {
			l.Conversations = append(l.Conversations, s.conversation(e, titles))
		}
		chains, err := s.chains(ctx, e)
		if err != nil {
			l.Problems = append(l.Problems, s.store.Problem(e.id(), store.Unreadable, e.file, err))
		}
		l.Conversations = append(l.Conversations, chains...)
	}
	l.Keep(scope)
	return l, nil
}

// peekAll reads the metadata of transcripts, several at a time.
func (s *session) peekAll(ctx context.Context, all []*entry) {
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		for i := range numbers {
			s.peek(ctx, all[i])
		}
	})
}

// peek reads the metadata of a transcript, unless it is known.
func (s *session) peek(ctx context.Context, e *entry) {
	e.stamp, _ = s.Stamp(e.file) // without one it is read
	sheet := s.Sheet("m"+e.file, e.stamp)
	if e.meta = (&metadata{}); sheet.Get(e.meta) {
		return
	}
	if e.meta, e.err = s.read(ctx, e.file); e.err == nil && !s.store.Project.Excludes(e.meta.Cwd) {
		sheet.PutFor(e.meta, min(e.stamp.Size(), 2*jsonl.PeekSize))
	}
}

// usable returns the transcripts that could be read, with the sessions of sub-agents.
func (s *session) usable(all []*entry, l *store.Listing) []*entry {
	kept := all[:0]
	for _, e := range all {
		switch {
		case errors.Is(e.err, fs.ErrNotExist): // deleted meanwhile
		case e.err != nil:
			l.Problems = append(l.Problems, s.store.Problem(e.knownID(), store.Unreadable, e.file, e.err))
		default:
			if e.session == "" {
				e.session = strings.ToLower(e.meta.Session)
			}
			if history.IsUUID(e.session) {
				kept = append(kept, e)
			}
		}
	}
	return kept
}

// knownID returns the id as far as the path alone has it, or "".
func (e *entry) knownID() transcript.ID {
	if e.session == "" {
		return ""
	}
	return e.id()
}

// unique leaves out what another file has the same id as: the one that was written
// last counts.
func (s *session) unique(all []*entry, l *store.Listing) []*entry {
	for _, e := range all {
		e.known = e.id()
	}
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(a.known.Compare(b.known), cmp.Compare(b.stamp.Modified(), a.stamp.Modified()))
	})
	kept := make([]*entry, 0, len(all))
	for _, e := range all {
		if n := len(kept); n > 0 && kept[n-1].known == e.known {
			l.Problems = append(l.Problems, s.store.Problem(e.id(), store.Duplicate, e.file, errDuplicate))
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

var errDuplicate = errors.New("another file of the same id was written later, and is read instead")

// record returns where a conversation is recorded, in the files of all entries that have events of
// it, of which the first one has it.
func (s *session) record(id transcript.ID, e *entry, others ...*entry) *conversation {
	c := &conversation{agent: e.agent != ""}
	c.File = history.File{Store: &s.store.Store, ID: id, Name: e.file, Stamps: []filecache.Stamp{e.stamp}, Script: c.script}
	for _, other := range others {
		c.Stamps, c.copies = append(c.Stamps, other.stamp), append(c.copies, other.file)
	}
	return c
}

// conversation returns what a list has of a transcript.
func (s *session) conversation(e *entry, summaries map[key]string) store.Conversation {
	of := e.id()
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: of, Source: Name, Title: e.meta.title(summaries), CreatedAt: e.meta.Created, Dir: e.meta.Cwd, Parent: e.from,
		},
		Request: e.meta.First,
		LastAt:  e.meta.Last,
		Record:  s.record(of, e, e.others...),
	}
	if e.agent != "" {
		c.Parent = id(e.session, "")
		c.Title = cmp.Or(s.description(e.file), c.Title)
	}
	return c
}

// chain is a side chain in the file of a session.
type chain struct {
	Key     key // of the record with which it begins
	Request string
	Created time.Time
}

// chains returns the side chains in the file of a session, which versions before 2.0
// wrote there.
func (s *session) chains(ctx context.Context, e *entry) (list []store.Conversation, err error) {
	if e.agent != "" || !strings.HasPrefix(e.meta.Version, "1.") && !e.meta.HasSide {
		return nil, nil
	}
	var found []chain
	sheet := s.Sheet("chains"+e.file, e.stamp)
	if !sheet.Get(&found) {
		if found, err = s.readChains(ctx, e); err == nil {
			sheet.Put(found)
		}
	}
	for _, c := range found {
		record := s.record(id(e.session, fmt.Sprintf("%x", c.Key[:4])), e)
		record.chain = c.Key
		list = append(list, store.Conversation{
			Conversation: transcript.Conversation{ID: record.ID, Source: Name, CreatedAt: c.Created, Parent: e.id(), Dir: e.meta.Cwd},
			Request:      c.Request, Record: record,
		})
	}
	return list, err
}

// readChains reads the side chains in the file of a session, up to an error.
func (s *session) readChains(ctx context.Context, e *entry) ([]chain, error) {
	f, info, err := s.record(e.id(), e).Open(e.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := jsonl.NewLines(f, info.Size())
	t, err := readTree(ctx, lines, 0)
	if err != nil {
		return nil, err
	}
	var list []chain
	for _, n := range t.chains() {
		line, _, err := lines.At(ctx, n.offset)
		if err != nil {
			return list, err
		}
		r, _ := parse(line)
		at, _ := transcript.ParseTimestamp(r.stamp)
		list = append(list, chain{n.key, firstPrompt(&r), at})
	}
	return list, nil
}

// summaries returns the summaries that transcripts have, by the record behind which
// they were made.
func summaries(all []*entry) map[key]string {
	found := map[key]string{}
	for _, e := range all {
		if e.meta == nil {
			continue
		}
		for _, s := range e.meta.Summaries {
			found[s.Behind] = s.Text
		}
	}
	return found
}
