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
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
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

	once     sync.Once
	rollouts []*rollout // by thread and segment
	unlisted []store.Problem
}

// rollout is a file of a thread. A thread that was reverted has several, of which the
// last one counts.
type rollout struct {
	file       string // in the home directory, with slashes
	thread     string // uuid
	segment    string // uuid; empty for the first one
	archived   bool
	compressed bool
	stamp      filecache.Stamp
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

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	h, err := openHome(s.Dir, s.Cache)
	if err != nil {
		return nil, fmt.Errorf("opening the conversations in %s: %w", s.Dir, err)
	}
	defer h.close()
	opened := &session{store: s, home: h}
	return opened.listing(ctx, scope)
}

func (s *session) listing(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	wanted := slices.DeleteFunc(s.threads(), func(r *rollout) bool { return !scope.Has(id(r.thread), r.archived) })
	s.peekAll(ctx, wanted)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &store.Listing{Problems: s.unlisted}
	names := s.names()
	for _, r := range wanted {
		switch {
		case errors.Is(r.err, fs.ErrNotExist): // deleted meanwhile
		case r.err != nil:
			l.Problems = append(l.Problems, s.store.Problem(id(r.thread), store.Unreadable, r.file, r.err))
		case r.meta.Begun && r.meta.Header.Thread != r.thread:
			l.Problems = append(l.Problems, s.store.Problem(id(r.thread), store.BadMetadata, r.file, errBeginning))
		case s.has(r):
			l.Conversations = append(l.Conversations, s.conversation(ctx, r, names))
			for _, d := range s.duplicates(r) {
				l.Problems = append(l.Problems, s.store.Problem(id(r.thread), store.Duplicate, d.file, errDuplicate))
			}
		}
	}
	l.Keep(scope)
	return l, nil
}

// has reports whether a rollout is a conversation of the project.
func (s *session) has(r *rollout) bool {
	h := &r.meta.Header
	return h.Thread == r.thread && (!r.meta.Empty || h.Base.Thread != "") && s.store.Project.Has(h.Cwd)
}

// peekAll reads the metadata of rollouts, several at a time.
func (s *session) peekAll(ctx context.Context, all []*rollout) {
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		for i := range numbers {
			s.peek(ctx, all[i])
		}
	})
}

// peek reads the metadata of a rollout, unless it is known.
func (s *session) peek(ctx context.Context, r *rollout) {
	r.stamp = s.home.stamp(r.file)
	sheet := s.store.Cache.Sheet("m"+r.file, r.stamp)
	if r.meta = (&metadata{}); sheet.Get(r.meta) {
		return
	}
	if r.meta, r.err = s.home.read(ctx, r.file); r.err == nil && !s.store.Project.Excludes(r.meta.Header.Cwd) {
		sheet.PutFor(r.meta, min(r.stamp.Size(), 2*jsonl.PeekSize))
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

// conversation returns what a list has of a rollout.
func (s *session) conversation(ctx context.Context, r *rollout, names map[string]string) store.Conversation {
	h, begin := &r.meta.Header, r.meta // of the thread, where that was reverted
	for at, n := r, 0; begin.Header.Base.Thread == r.thread && n < maxSections; n++ {
		before, earlier := s.before(ctx, at, begin.Header.Base)
		if before == nil {
			break
		}
		at, begin = before, earlier
	}
	c := store.Conversation{
		Conversation: transcript.Conversation{
			ID: id(r.thread), Source: Name, Title: names[r.thread], CreatedAt: begin.Header.Created, Archived: r.archived,
			Dir: h.Cwd,
		},
		Request: begin.First,
		LastAt:  r.meta.Last,
		Record:  &conversation{store: s.store, rollout: r, version: s.version(r), excess: s.store.Cache.Sheet("x"+r.file, r.stamp)},
	}
	switch {
	case h.Agent && history.IsUUID(h.Parent):
		c.Parent = id(h.Parent)
	case history.IsUUID(begin.Header.Forked) && begin.Header.Forked != r.thread:
		c.Parent = id(begin.Header.Forked)
	}
	return c
}

// version returns a text that changes with all rollouts that a thread is read of.
func (s *session) version(r *rollout) string {
	stamps := []filecache.Stamp{r.stamp}
	for _, before := range s.segments(r.meta.Header.Base.Thread) {
		stamps = append(stamps, s.home.stamp(before.file))
	}
	if originals := s.segments(r.meta.Header.original()); len(originals) > 0 {
		stamps = append(stamps, s.home.stamp(originals[len(originals)-1].file))
	}
	sheet := s.store.Cache.Sheet("", stamps...)
	return r.file + sheet.Version()
}
