package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	sessionsDir  = "sessions"
	archiveDir   = "archived_sessions"
	indexFile    = "session_index.jsonl"
	filePrefix   = "rollout-"
	extension    = ".jsonl"
	compressed   = ".zst"
	timeInName   = len("2006-01-02T15-04-05-")
	uuidLength   = len("01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f")
	maxIndexSize = 16 << 20 // bytes of indexFile
)

// session is the opened home directory.
type session struct {
	store *Store
	home  *home
	look  facts.Look

	once     sync.Once
	rollouts []*rollout // by thread and segment
	unlisted []store.Problem
}

// Close implements [store.Session].
func (s *session) Close() { s.home.close() }

// rollout is a file of a thread. A thread that was reverted has several, of which the
// last one counts.
type rollout struct {
	file       string // in the home directory, with slashes
	thread     string // uuid
	segment    string // uuid; empty for the first one
	archived   bool
	compressed bool
	stamp      facts.Stamp
	meta       *metadata
	err        error
}

// parseName reads the name of a rollout.
func parseName(name string) (r rollout, ok bool) {
	name, r.compressed = strings.CutSuffix(name, compressed)
	name, isFile := strings.CutSuffix(name, extension)
	name, isRollout := strings.CutPrefix(name, filePrefix)
	if !isFile || !isRollout || len(name) < timeInName+uuidLength {
		return r, false
	}
	ids := strings.ToLower(name[timeInName:])
	r.thread, r.segment = ids[:uuidLength], strings.TrimPrefix(ids[uuidLength:], "_")
	return r, history.IsUUID(r.thread) && (len(ids) == uuidLength || ids[uuidLength] == '_' && history.IsUUID(r.segment))
}

// list finds the rollouts, once.
func (s *session) list() {
	s.once.Do(func() {
		s.walk(sessionsDir, 3)
		s.walk(archiveDir, 0)
		slices.SortFunc(s.rollouts, func(a, b *rollout) int {
			return cmp.Or(
				strings.Compare(a.thread, b.thread), history.CompareBool(b.archived, a.archived),
				strings.Compare(a.segment, b.segment), history.CompareBool(b.compressed, a.compressed),
				strings.Compare(a.file, b.file),
			)
		})
	})
}

// walk finds the rollouts in a directory and in those below it, some levels deep.
func (s *session) walk(dir string, depth int) {
	root, name, err := s.home.within(dir)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = safefile.ReadDirIn(root.Root, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.unlisted = append(s.unlisted, s.store.Problem("", store.Unreadable, dir, err))
		return
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() && depth > 0 {
			s.walk(name, depth-1)
			continue
		}
		if r, ok := parseName(e.Name()); ok && !e.IsDir() {
			r.file, r.archived = name, strings.HasPrefix(name, archiveDir)
			s.rollouts = append(s.rollouts, &r)
		}
	}
}

// threads returns the rollout that counts of each thread: of those that are not
// archived, where there are any, the last segment; the plain file where it is
// compressed too.
func (s *session) threads() []*rollout {
	s.list()
	var last []*rollout
	for i, r := range s.rollouts {
		if i+1 == len(s.rollouts) || s.rollouts[i+1].thread != r.thread {
			one := *r // which is the caller's
			last = append(last, &one)
		}
	}
	return last
}

// segments returns the rollouts of a thread, the last one first.
func (s *session) segments(thread string) []*rollout {
	s.list()
	i, _ := slices.BinarySearchFunc(s.rollouts, thread, func(r *rollout, thread string) int { return strings.Compare(r.thread, thread) })
	end := i
	for end < len(s.rollouts) && s.rollouts[end].thread == thread {
		end++
	}
	found := slices.Clone(s.rollouts[i:end])
	slices.Reverse(found)
	return found
}

// duplicates returns the rollouts that are of the same part of a thread as another one, in
// the same form.
func (s *session) duplicates(of *rollout) []*rollout {
	var found []*rollout
	for _, r := range s.segments(of.thread) {
		if r.file != of.file && r.segment == of.segment && r.archived == of.archived && r.compressed == of.compressed {
			found = append(found, r)
		}
	}
	return found
}

var errBeginning = errors.New("it does not begin with what this thread is")

var errDuplicate = errors.New("another file of the same id is later, and is read instead")

// List implements [store.Session].
func (s *session) List(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	var wanted []*rollout
	for _, r := range s.threads() {
		if r.archived && set&store.Archived != 0 || !r.archived && set&store.Live != 0 {
			wanted = append(wanted, r)
		}
	}
	s.peekAll(ctx, wanted)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	problems := slices.Clone(s.unlisted)
	names := s.names()
	var list []store.Conversation
	for _, r := range wanted {
		switch {
		case errors.Is(r.err, fs.ErrNotExist): // deleted meanwhile
		case r.err != nil:
			problems = append(problems, s.store.Problem(id(r.thread), store.Unreadable, r.file, r.err))
		case r.meta.begun && r.meta.thread != r.thread:
			problems = append(problems, s.store.Problem(id(r.thread), store.BadMetadata, r.file, errBeginning))
		case s.has(r):
			list = append(list, s.conversation(ctx, r, names))
			for _, d := range s.duplicates(r) {
				problems = append(problems, s.store.Problem(id(r.thread), store.Duplicate, d.file, errDuplicate))
			}
		}
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list, problems, nil
}

// has reports whether a rollout is a conversation of the project.
func (s *session) has(r *rollout) bool {
	return r.meta.thread == r.thread && (!r.meta.empty || r.meta.base.thread != "") && s.store.Project.Has(r.meta.cwd)
}

// peekAll reads the metadata of rollouts, several at a time.
func (s *session) peekAll(ctx context.Context, all []*rollout) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *rollout) int { return strings.Compare(a.file, b.file) }) // those of a directory together
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		buf := make([]byte, 2*peekSize)
		open, closeAll := s.home.series()
		defer closeAll()
		for i := range numbers {
			s.peek(ctx, open, all[i], buf)
		}
	})
}

// peek reads the metadata of a rollout, unless it is known.
func (s *session) peek(ctx context.Context, open opener, r *rollout, buf []byte) {
	r.stamp = s.stamp(r.file)
	sheet := s.look.Sheet(factMetadata, r.file, r.stamp)
	if data, ok := sheet.Kept(); ok {
		r.meta = &metadata{}
		if facts.Decode(data, r.meta.walk) {
			return
		}
	}
	if r.meta, r.err = peek(ctx, open, r.file, buf); r.err == nil && !s.store.Project.Excludes(r.meta.cwd) {
		sheet.KeepFor(facts.Encode(r.meta.walk), min(r.stamp.Size(), 2*peekSize))
	}
}

// names returns the names that threads were given: the last one of each counts.
func (s *session) names() map[string]string {
	names := map[string]string{}
	data, err := safefile.ReadIn(s.home.root, indexFile, maxIndexSize)
	if err != nil {
		return names // there need not be any
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		var thread, name []byte
		if jsontext.Read(line, jsontext.Text("id", &thread), jsontext.Text("thread_name", &name)) && len(thread) > 0 {
			names[lower(thread)] = recorded.Unescape(name)
		}
	}
	return names
}

// conversation returns what List returns of a rollout.
func (s *session) conversation(ctx context.Context, r *rollout, names map[string]string) store.Conversation {
	m := r.meta
	begin := m // of the thread, where that was reverted
	for at, n := r, 0; begin.base.thread == r.thread && n < maxSections; n++ {
		before, earlier := s.before(ctx, at, begin.base)
		if before == nil {
			break
		}
		at, begin = before, earlier
	}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id(r.thread), Source: Name, Title: names[r.thread], CreatedAt: begin.created, Archived: r.archived,
			Dir: m.cwd,
		},
		Request: begin.first,
		LastAt:  m.last,
		Record: &conversation{
			Sheet: s.events(r), store: s.store, rollout: r, excess: s.look.Sheet(factExcess, r.file, r.stamp),
		},
	}
	switch {
	case m.agent && history.IsUUID(m.parent):
		c.Parent = id(m.parent)
	case history.IsUUID(begin.forked) && begin.forked != r.thread:
		c.Parent = id(begin.forked)
	}
	return c
}

// Find implements [store.Session].
func (s *session) Find(ctx context.Context, want transcript.ID) (store.Conversation, error) {
	threads := s.threads()
	found := slices.IndexFunc(threads, func(r *rollout) bool { return id(r.thread) == want })
	if found >= 0 {
		r := threads[found]
		s.peekAll(ctx, []*rollout{r})
		switch {
		case ctx.Err() != nil:
			return store.Conversation{}, ctx.Err()
		case r.err == nil && s.has(r):
			return s.conversation(ctx, r, s.names()), nil
		case r.err != nil && !errors.Is(r.err, fs.ErrNotExist):
			return store.Conversation{}, fmt.Errorf("%s: %w", r.file, r.err)
		}
	}
	return store.Conversation{}, s.store.Missing(ctx, s, want, s.unlisted)
}
