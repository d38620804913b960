package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/sessionid"
	"github.com/convtools/convtools/runtime/transcript"
)

// session is the opened directory of projects.
type session struct {
	store *Store
	root  *os.Root
	look  facts.Look
	dir   *os.File // root; nil where nothing is kept
}

// Close implements [store.Session].
func (s *session) Close() {
	s.store.facts.Save()
	if s.dir != nil {
		s.dir.Close()
	}
	s.root.Close()
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
	all, err := safefile.ReadDirIn(s.root, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		holds := func(root string) bool { return mayHold(e.Name(), root) }
		if (s.store.project.All() || slices.ContainsFunc(s.store.project.Roots(), holds)) && isDir(s.root, e.Name(), e) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// isDir reports whether an entry is a directory, or a link to one below the root.
func isDir(root *os.Root, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := root.Stat(name)
	return err == nil && info.IsDir()
}

// transcripts returns the transcripts in a folder, in the order of their names.
func (s *session) transcripts(folder string) ([]*entry, error) {
	all, err := safefile.ReadDirIn(s.root, folder)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var found []*entry
	for _, e := range all {
		file := path.Join(folder, e.Name())
		name, isFile := strings.CutSuffix(e.Name(), extension)
		agent, isAgent := strings.CutPrefix(name, agentPrefix)
		switch {
		case isFile && sessionid.IsUUID(name):
			found = append(found, &entry{file: file, session: name})
		case isFile && isAgent && sessionid.IsName(agent):
			found = append(found, &entry{file: file, agent: agent})
		case sessionid.IsUUID(e.Name()) && isDir(s.root, file, e):
			found = append(found, s.subagents(file, e.Name())...)
		}
	}
	return found, nil
}

// subagents returns the transcripts of the sub-agents of a session, which has a
// directory.
func (s *session) subagents(dir, session string) []*entry {
	dir = path.Join(dir, subagentsDir)
	all, err := safefile.ReadDirIn(s.root, dir)
	if err != nil {
		return nil // there need not be any
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var found []*entry
	for _, e := range all {
		name, isFile := strings.CutSuffix(e.Name(), extension)
		agent, isAgent := strings.CutPrefix(name, agentPrefix)
		if isFile && isAgent && sessionid.IsName(agent) {
			found = append(found, &entry{file: path.Join(dir, e.Name()), session: session, agent: agent})
		}
	}
	return found
}

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	if set&store.Live == 0 {
		return nil, nil, nil // nothing is archived
	}
	folders, err := s.folders()
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", s.store.projects, err)
	}
	var problems []store.Problem
	var all []*entry
	for _, folder := range folders {
		found, err := s.transcripts(folder)
		if err != nil {
			problems = append(problems, s.problem("", store.Unreadable, folder, err))
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
		return !e.meta.isConversation(e.agent != "") || !s.store.project.Has(e.meta.cwd)
	})
	all, problems = s.unique(all, problems)
	shown, forks, err := s.withoutCopies(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	list := make([]store.Conversation, 0, len(shown))
	for _, e := range shown {
		c := s.conversation(e, titles)
		if fork, ok := forks[e]; ok {
			record := c.Record.(*conversation)
			c.Parent, record.Sheet = fork.from, s.events(c.ID, append([]*entry{e}, fork.others...)...)
			for _, other := range fork.others {
				record.copies = append(record.copies, other.file)
				record.bytes += other.meta.size
			}
		}
		if e.meta.hasTop || !e.meta.whole || e.agent != "" {
			list = append(list, c)
		}
		chains, err := s.chains(ctx, e)
		if err != nil {
			problems = append(problems, s.problem(e.id(), store.Unreadable, e.file, err))
		}
		list = append(list, chains...)
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list, problems, nil
}

func (s *session) problem(id transcript.ID, kind store.ProblemKind, file string, err error) store.Problem {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return store.Problem{ID: id, Kind: kind, Path: filepath.Join(s.store.projects, filepath.FromSlash(file)), Err: err}
}

// peekAll reads the metadata of transcripts, several at a time.
func (s *session) peekAll(ctx context.Context, all []*entry) {
	const maxWorkers = 8
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(all)) {
		workers.Go(func() {
			buf := make([]byte, 2*peekSize)
			files := safefile.NewSeries(s.root)
			defer files.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				s.peek(ctx, files, all[i], buf)
			}
		})
	}
	workers.Wait()
}

// peek reads the metadata of a transcript, unless it is known.
func (s *session) peek(ctx context.Context, files *safefile.Series, e *entry, buf []byte) {
	e.stamp, _ = s.stamp(e.file) // without one it is read
	sheet := s.look.Sheet(factMetadata, e.file, e.stamp)
	if data, ok := sheet.Kept(); ok {
		e.meta = &metadata{}
		if e.meta.decode(data, e.stamp) {
			return
		}
	}
	if e.meta, e.err = peek(ctx, files, e.file, buf); e.err == nil && !s.store.project.Excludes(e.meta.cwd) {
		sheet.KeepFor(e.meta.encode(), min(e.meta.size, 2*peekSize))
	}
}

// usable returns the transcripts that could be read, with the sessions of sub-agents.
func (s *session) usable(all []*entry, problems []store.Problem) ([]*entry, []store.Problem) {
	kept := all[:0]
	for _, e := range all {
		switch {
		case errors.Is(e.err, fs.ErrNotExist): // deleted meanwhile
		case e.err != nil:
			problems = append(problems, s.problem(e.knownID(), store.Unreadable, e.file, e.err))
		default:
			if e.session == "" {
				e.session = strings.ToLower(e.meta.session)
			}
			if sessionid.IsUUID(e.session) {
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
			problems = append(problems, s.problem(e.id(), store.Duplicate, e.file, errDuplicate))
			continue
		}
		kept = append(kept, e)
	}
	return kept, problems
}

var errDuplicate = errors.New("another file of the same id was written later, and is read instead")

// conversation returns what List returns of a transcript.
func (s *session) conversation(e *entry, summaries map[key]string) store.Conversation {
	of := e.id()
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: of, Source: Name, Title: e.meta.title(summaries), CreatedAt: e.meta.created, Dir: e.meta.cwd,
		},
		LastAt: e.meta.last,
		Record: &conversation{Sheet: s.events(of, e), store: s.store, id: of, file: e.file, agent: e.agent != "", bytes: e.meta.size},
	}
	if e.agent != "" {
		c.Parent = id(e.session, "")
		if description := s.description(e.file); description != "" {
			c.Title = description
		}
	}
	return c
}

// chains returns the side chains in the file of a session, which versions before 2.0
// wrote there.
func (s *session) chains(ctx context.Context, e *entry) ([]store.Conversation, error) {
	if e.agent != "" || !strings.HasPrefix(e.meta.version, "1.") && !e.meta.hasSide {
		return nil, nil
	}
	found, ok := s.keptChains(e)
	if !ok {
		var err error
		if found, err = s.readChains(ctx, e); err != nil {
			return s.sideChains(e, found), err
		}
		s.keepChains(e, found)
	}
	return s.sideChains(e, found), nil
}

// chain is a side chain in the file of a session.
type chain struct {
	key     key // of the record with which it begins
	title   string
	created time.Time
}

// sideChains returns what List returns of side chains.
func (s *session) sideChains(e *entry, chains []chain) []store.Conversation {
	var list []store.Conversation
	for _, c := range chains {
		id := id(e.session, fmt.Sprintf("%x", c.key[:4]))
		list = append(list, store.Conversation{
			Conversation: transcript.Conversation{ID: id, Source: Name, Title: c.title, CreatedAt: c.created, Parent: e.id(), Dir: e.meta.cwd},
			Record:       &conversation{Sheet: s.events(id, e), store: s.store, id: id, file: e.file, chain: c.key, bytes: e.meta.size},
		})
	}
	return list
}

// readChains reads the side chains in the file of a session, up to an error.
func (s *session) readChains(ctx context.Context, e *entry) ([]chain, error) {
	buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
	defer buffer.Release()
	found := conversation{store: s.store, id: e.id()}
	f, info, err := found.open(e.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := jsonl.NewLines(f, info.Size(), buffer)
	t, err := readTree(ctx, lines)
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
		return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{want}, Place: s.store.Place()}
	}
	folders, err := s.folders()
	if err != nil {
		return store.Conversation{}, fmt.Errorf("reading %s: %w", s.store.projects, err)
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
		if e.session != uuid || !e.meta.isConversation(false) || !s.store.project.Has(e.meta.cwd) {
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
		return store.Conversation{}, s.notFound(ctx, want, folders)
	}
	newest := slices.MaxFunc(found, func(a, b *entry) int { return cmp.Compare(a.meta.modified, b.meta.modified) })
	return s.conversation(newest, s.summaries(ctx, newest)), nil
}

// summaries returns what may be the title of a session: versions before 2.1 wrote that
// into the file of another one.
func (s *session) summaries(ctx context.Context, e *entry) map[key]string {
	m := e.meta
	if m.custom != "" || m.ai != "" || !strings.HasPrefix(m.version, "1.") && !strings.HasPrefix(m.version, "2.0.") {
		return m.summaries
	}
	others, err := s.transcripts(e.folder())
	if err != nil {
		return m.summaries
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
		for k, summary := range e.meta.summaries {
			found[k] = summary
		}
	}
	return found
}

// notFound returns the error for an id, with those that are spelled most alike.
func (s *session) notFound(ctx context.Context, want transcript.ID, folders []string) error {
	missing := &store.NotFoundError{IDs: []transcript.ID{want}, Place: s.store.Place()}
	type candidate struct {
		*entry
		typos int
	}
	const most, mostTypos = 3, 8
	var candidates []candidate
	for _, folder := range folders {
		entries, err := s.transcripts(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			typos, near := near.Edits(string(want), string(e.id()), mostTypos)
			if e.session != "" && near {
				candidates = append(candidates, candidate{e, typos})
			}
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), a.id().Compare(b.id()))
	})
	files := safefile.NewSeries(s.root)
	defer files.Close()
	for _, c := range candidates {
		m, err := peek(ctx, files, c.file, nil)
		if err == nil && len(missing.Nearest) < most && s.store.project.Has(m.cwd) {
			missing.Nearest = append(missing.Nearest, c.id())
		}
	}
	return missing
}
