package codex

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"math"
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a thread is recorded. It implements [store.Record].
type conversation struct {
	history.File
	store   *Store
	rollout *rollout
}

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	root, err := c.store.Store.Open()
	if err != nil {
		return store.Totals{}, c.Failure(err)
	}
	defer root.Close()
	s := &script{of: c.rollout, session: &session{Root: root, store: c.store}}
	defer func() {
		for _, part := range s.sections {
			part.Close()
		}
	}()
	if err := s.open(ctx); err != nil {
		return store.Totals{}, c.Failure(err)
	}
	return history.Read(ctx, c.ID, s, mark, yield)
}

// section is a part of a rollout that belongs to a conversation.
type section struct {
	*file
	until     int64 // ordinal behind its last record
	copied    int64 // offset behind what another conversation has too
	paginated bool
}

// script is the rollouts of a conversation. It implements [history.Growing].
type script struct {
	of       *rollout
	session  *session
	sections []section
	lines    history.Lines // of the only section
	decoder
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (s *script) open(ctx context.Context) error {
	r, until := s.of, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(s.sections) < maxSections && !seen[r.File] {
		seen[r.File] = true
		f, err := openFile(s.session.Root, r.File, 0)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && len(s.sections) > 0 {
				break // what is left is told
			}
			return err
		}
		h := &r.Meta.Header
		part := section{file: f, until: until, paginated: h.Paginated}
		if r.thread != s.of.thread {
			part.copied = math.MaxInt64
		}
		s.sections = slices.Insert(s.sections, 0, part)
		until = h.Base.End
		r = s.session.before(ctx, r)
	}
	s.lines = history.Lines{File: s.sections[0].plain, Opened: s.sections[0].opened}
	return nil
}

// Lines implements [history.Growing]. A rollout that begins as another one does, or of which
// turns were undone, is read as a whole.
func (s *script) Lines() *history.Lines {
	h := &s.of.Meta.Header
	if len(s.sections) > 1 || s.sections[0].plain == nil || s.undoes || h.Base.Thread != "" || h.original() != "" {
		return nil
	}
	return &s.lines
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) (err error) {
	h, bare := &s.of.Meta.Header, s.Bare
	s.decoder = newDecoder(h, t)
	own := &s.sections[len(s.sections)-1]
	if len(s.sections) == 1 && h.original() != "" && !own.paginated {
		own.copied, err = s.session.prefix(ctx, own, h.original())
	}
	for i := 0; i < len(s.sections) && err == nil; i++ {
		part := &s.sections[i]
		s.paginated, s.Bare, bare = part.paginated, bare, false
		if s.undoes, err = part.undoes(ctx, s.lines.Read); err != nil {
			break
		}
		err = s.tellSection(ctx, part)
		for _, e := range s.pending {
			t.Copied = e.Copied
			t.Add(e)
		}
		s.pending = nil
		t.Totals.Cut = t.Totals.Cut || part.cut
	}
	return err
}

// tellSection tells the events of a section that have not been told.
func (s *script) tellSection(ctx context.Context, part *section) error {
	t, from := s.talk, int64(0)
	if len(s.sections) == 1 {
		from = s.lines.Read
	}
	return jsonl.Each(ctx, part, from, part.size, func(line []byte, offset, next int64) bool {
		r, ok := parse(line)
		switch {
		case line == nil:
			t.Totals.Skipped++
			t.Totals.TooLarge++
		case !ok && len(line) > 0:
			t.Totals.Skipped++
		case ok && r.ordinal() >= part.until:
			return false
		case ok:
			t.Copied = offset < part.copied
			s.tell(&r)
		}
		s.lines.Read = next
		return !t.Stopped
	})
}

// before returns the rollout that a paginated one goes on from, as far as lists know it, or nil.
func (s *session) before(ctx context.Context, r *rollout) *rollout {
	base := r.Meta.Header.Base
	if base.Thread == "" {
		return nil
	}
	for _, other := range s.segments(base.Thread) {
		if other.File == r.File || other.thread == r.thread && other.segment >= r.segment {
			continue
		}
		one := *other // which is shared, and has no metadata
		if one.Peek(ctx, s.Root) == nil && one.Meta.Ordinal < base.End {
			return &one
		}
	}
	return nil
}

// rolledBack is the type of a record that drops turns. Rollouts without one are by far the most,
// so that it is looked for before anything is parsed.
const rolledBack = "thread_rolled_back"

// undoes reports whether turns of a section are dropped. The error is [store.ErrChanged] where some
// may be behind an offset up to which it was told.
func (part *section) undoes(ctx context.Context, told int64) (any bool, err error) {
	if part.paginated {
		return false, nil // what counts is in a rollout of its own
	}
	err = jsonl.Each(ctx, part, told, part.size, func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
	if any && told > 0 {
		err = store.ErrChanged
	}
	return any, err
}

// prefix returns the offset behind the records of a section that are copies of those of
// another thread, which have other times.
func (s *session) prefix(ctx context.Context, own *section, thread string) (end int64, err error) {
	originals := s.segments(thread)
	if len(originals) == 0 {
		return 0, nil
	}
	f, err := openFile(s.Root, originals[len(originals)-1].File, 0)
	if err != nil {
		return 0, nil // what it has is told here
	}
	defer f.Close()
	seed := maphash.MakeSeed()
	payloads := func(f *file, do func(sum uint64, next int64) bool) error {
		return jsonl.Each(ctx, f, 0, f.size, func(line []byte, _, next int64) bool {
			r, ok := parse(line)
			return !ok || r.Type == "session_meta" || do(maphash.Bytes(seed, r.Payload), next)
		})
	}
	var sums []uint64
	err = payloads(f, func(sum uint64, _ int64) bool {
		sums = append(sums, sum)
		return true
	})
	if err != nil {
		return 0, err
	}
	err = payloads(own.file, func(sum uint64, next int64) bool {
		if len(sums) == 0 || sums[0] != sum {
			return false
		}
		end, sums = next, sums[1:]
		return true
	})
	return end, err
}
