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
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects. It implements [store.Session].
type session struct {
	store *Store
	*history.Root
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
	stamp   facts.Stamp
	meta    *metadata
	err     error
	// What it is to others, as a relation has it.
	hidden bool
	from   transcript.ID
	others []*entry
}

func (e *entry) folder() string {
	folder, _, _ := strings.Cut(e.file, "/")
	return folder
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

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	if set&store.Live == 0 {
		return nil, nil, nil // nothing is archived
	}
	folders, err := s.folders()
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", s.store.Dir, err)
	}
	var problems []store.Problem
	var all []*entry
	for _, folder := range folders {
		found, err := s.transcripts(folder)
		if err != nil {
			problems = append(problems, s.store.Problem("", store.Unreadable, folder, err))
			continue
		}
		all = append(all, found...)
	}
	s.peekAll(ctx, all)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	all, problems = s.usable(all, problems)
	titles := summaries(all)
	all = slices.DeleteFunc(all, func(e *entry) bool {
		return !e.meta.isConversation(e.agent != "") || !s.store.Project.Has(e.meta.cwd)
	})
	all, problems = s.unique(all, problems)
	if err := s.resolveCopies(ctx, all); err != nil {
		return nil, nil, err
	}
	list := make([]store.Conversation, 0, len(all))
	for _, e := range all {
		if e.hidden {
			continue
		}
		if e.meta.hasTop || !e.meta.whole || e.agent != "" {
			list = append(list, s.conversation(e, titles))
		}
		chains, err := s.chains(ctx, e)
		if err != nil {
			problems = append(problems, s.store.Problem(e.id(), store.Unreadable, e.file, err))
		}
		list = append(list, chains...)
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list, problems, nil
}

// peekAll reads the metadata of transcripts, several at a time.
func (s *session) peekAll(ctx context.Context, all []*entry) {
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		buf := make([]byte, 2*peekSize)
		files := safefile.NewSeries(s.Root.Root)
		defer files.Close()
		for i := range numbers {
			s.peek(ctx, files, all[i], buf)
		}
	})
}

// peek reads the metadata of a transcript, unless it is known.
func (s *session) peek(ctx context.Context, files *safefile.Series, e *entry, buf []byte) {
	e.stamp, _ = s.Stamp(e.file) // without one it is read
	sheet := s.Sheet(factMetadata, e.file, e.stamp)
	if data, ok := sheet.Kept(); ok {
		e.meta = &metadata{modified: e.stamp.Modified(), size: e.stamp.Size()}
		if facts.Decode(data, e.meta.walk) {
			return
		}
	}
	if e.meta, e.err = peek(ctx, files, e.file, buf); e.err == nil && !s.store.Project.Excludes(e.meta.cwd) {
		sheet.KeepFor(facts.Encode(e.meta.walk), min(e.meta.size, 2*peekSize))
	}
}

// usable returns the transcripts that could be read, with the sessions of sub-agents.
func (s *session) usable(all []*entry, problems []store.Problem) ([]*entry, []store.Problem) {
	kept := all[:0]
	for _, e := range all {
		switch {
		case errors.Is(e.err, fs.ErrNotExist): // deleted meanwhile
		case e.err != nil:
			problems = append(problems, s.store.Problem(e.knownID(), store.Unreadable, e.file, e.err))
		default:
			if e.session == "" {
				e.session = strings.ToLower(e.meta.session)
			}
			if history.IsUUID(e.session) {
				kept = append(kept, e)
			}
		}
	}
	return kept, problems
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
func (s *session) unique(all []*entry, problems []store.Problem) ([]*entry, []store.Problem) {
	for _, e := range all {
		e.known = e.id()
	}
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(a.known.Compare(b.known), cmp.Compare(b.meta.modified, a.meta.modified))
	})
	kept := make([]*entry, 0, len(all))
	for _, e := range all {
		if n := len(kept); n > 0 && kept[n-1].known == e.known {
			problems = append(problems, s.store.Problem(e.id(), store.Duplicate, e.file, errDuplicate))
			continue
		}
		kept = append(kept, e)
	}
	return kept, problems
}

var errDuplicate = errors.New("another file of the same id was written later, and is read instead")

// file returns where a conversation is recorded, in the files of all entries that have events of
// it, of which the first one has it.
func (s *session) file(id transcript.ID, name string, in ...*entry) history.File {
	f := history.File{Store: &s.store.Store, ID: id, Name: name}
	var room [2]facts.Stamp
	stamps := room[:0]
	for _, e := range in {
		stamps = append(stamps, e.stamp)
	}
	f.Sheet = s.Sheet(factEvents, string(id), stamps...)
	return f
}

// conversation returns what List returns of a transcript.
func (s *session) conversation(e *entry, summaries map[key]string) store.Conversation {
	of := e.id()
	record := &conversation{File: s.file(of, e.file, append([]*entry{e}, e.others...)...), agent: e.agent != ""}
	for _, other := range e.others {
		record.copies = append(record.copies, other.file)
	}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: of, Source: Name, Title: e.meta.title(summaries), CreatedAt: e.meta.created, Dir: e.meta.cwd, Parent: e.from,
		},
		Request: e.meta.first,
		LastAt:  e.meta.last,
		Record:  record,
	}
	if e.agent != "" {
		c.Parent = id(e.session, "")
		c.Title = cmp.Or(s.description(e.file), c.Title)
	}
	return c
}

// chain is a side chain in the file of a session.
type chain struct {
	key     key // of the record with which it begins
	request string
	created time.Time
}

// chains returns the side chains in the file of a session, which versions before 2.0
// wrote there.
func (s *session) chains(ctx context.Context, e *entry) (list []store.Conversation, err error) {
	if e.agent != "" || !strings.HasPrefix(e.meta.version, "1.") && !e.meta.hasSide {
		return nil, nil
	}
	var found []chain
	sheet := s.Sheet(factChains, e.file, e.stamp)
	if data, ok := sheet.Kept(); !ok || !facts.Decode(data, walkChains(&found)) {
		if found, err = s.readChains(ctx, e); err == nil {
			sheet.Keep(facts.Encode(walkChains(&found)))
		}
	}
	for _, c := range found {
		id := id(e.session, fmt.Sprintf("%x", c.key[:4]))
		list = append(list, store.Conversation{
			Conversation: transcript.Conversation{ID: id, Source: Name, CreatedAt: c.created, Parent: e.id(), Dir: e.meta.cwd},
			Request:      c.request,
			Record:       &conversation{File: s.file(id, e.file, e), chain: c.key},
		})
	}
	return list, err
}

// readChains reads the side chains in the file of a session, up to an error.
func (s *session) readChains(ctx context.Context, e *entry) ([]chain, error) {
	in := s.file(e.id(), e.file)
	f, info, err := in.Open()
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

// Find implements [store.Session]. Sessions that [session.List] leaves out because
// another one has all they have are found too.
func (s *session) Find(ctx context.Context, want transcript.ID) (store.Conversation, error) {
	uuid, agent, ok := split(want)
	if !ok {
		return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{want}, Place: s.store.Dir}
	}
	folders, err := s.folders()
	if err != nil {
		return store.Conversation{}, fmt.Errorf("reading %s: %w", s.store.Dir, err)
	}
	var candidates []*entry
	for _, folder := range folders {
		file := path.Join(folder, uuid)
		main := &entry{file: file + extension, session: uuid}
		if agent == "" {
			candidates = append(candidates, main)
			continue
		}
		name := agentPrefix + agent + extension
		candidates = append(candidates,
			&entry{file: path.Join(file, subagentsDir, name), session: uuid, agent: agent},
			&entry{file: path.Join(folder, name), agent: agent}, main)
	}
	s.peekAll(ctx, candidates)
	if err := ctx.Err(); err != nil {
		return store.Conversation{}, err
	}
	candidates, problems := s.usable(candidates, nil)
	var found []*entry
	for _, e := range candidates {
		if e.session != uuid || !e.meta.isConversation(false) || !s.store.Project.Has(e.meta.cwd) {
			continue
		}
		if e.agent == agent {
			found = append(found, e)
			continue
		}
		chains, err := s.chains(ctx, e)
		if err != nil {
			return store.Conversation{}, err
		}
		for _, c := range chains {
			if c.ID == want {
				return c, nil
			}
		}
	}
	if len(found) == 0 {
		if len(problems) > 0 {
			return store.Conversation{}, fmt.Errorf("%s: %w", problems[0].Path, problems[0].Err)
		}
		return store.Conversation{}, s.store.Missing(ctx, s, want, nil)
	}
	newest := slices.MaxFunc(found, func(a, b *entry) int { return cmp.Compare(a.meta.modified, b.meta.modified) })
	return s.conversation(newest, s.summaries(ctx, newest)), nil
}

// summaries returns what may be the title of a session: versions before 2.1 wrote that
// into the file of another one.
func (s *session) summaries(ctx context.Context, e *entry) map[key]string {
	m := e.meta
	if m.custom != "" || m.ai != "" || !strings.HasPrefix(m.version, "1.") && !strings.HasPrefix(m.version, "2.0.") {
		return summaries([]*entry{e})
	}
	others, err := s.transcripts(e.folder())
	if err != nil {
		return summaries([]*entry{e})
	}
	s.peekAll(ctx, others)
	return summaries(others)
}

// summaries returns the summaries that transcripts have, by the record behind which
// they were made.
func summaries(all []*entry) map[key]string {
	found := map[key]string{}
	for _, e := range all {
		if e.meta == nil {
			continue
		}
		for _, s := range e.meta.summaries {
			found[s.behind] = s.text
		}
	}
	return found
}
