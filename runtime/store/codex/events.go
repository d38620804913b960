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
	s := &script{of: c, session: &session{Root: root, store: c.store}}
	defer s.close()
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
	dropped   []span // of turns that were undone
}

// span is a range of offsets.
type span struct{ start, end int64 }

// script is the rollouts of a conversation. It implements [history.Growing].
type script struct {
	of       *conversation
	session  *session
	sections []section
	lines    history.Lines // of the only section
	decoder
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (s *script) open(ctx context.Context) error {
	r, m, until := s.of.rollout, &s.of.rollout.Meta, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(s.sections) < maxSections && !seen[r.File] {
		seen[r.File] = true
		f, err := openFile(s.session.Root, r.File, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(s.sections) > 0:
			return nil // what is left is told
		case err != nil:
			return err
		}
		part := section{file: f, until: until, paginated: m.Header.Paginated}
		if r.thread != s.of.rollout.thread {
			part.copied = math.MaxInt64
		}
		s.sections = slices.Insert(s.sections, 0, part)
		until = m.Header.Base.End
		r, m = s.session.before(ctx, r, m.Header.Base)
	}
	s.lines = history.Lines{File: s.sections[0].plain, Opened: s.sections[0].opened}
	return nil
}

func (s *script) close() {
	for _, part := range s.sections {
		part.Close()
	}
}

// Lines implements [history.Growing]. A rollout that begins as another one does, or of which
// turns were undone, is read as a whole.
func (s *script) Lines() *history.Lines {
	part, h := &s.sections[0], &s.of.rollout.Meta.Header
	if len(s.sections) > 1 || part.plain == nil || len(part.dropped) > 0 || h.Base.Thread != "" || h.original() != "" {
		return nil
	}
	return &s.lines
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) (err error) {
	bare := s.Bare
	s.decoder = newDecoder(&s.of.rollout.Meta.Header, t)
	for i := range s.sections {
		if err := s.sections[i].undo(ctx, s.lines.Read); err != nil {
			return err
		}
	}
	own := &s.sections[len(s.sections)-1]
	if origin := s.of.rollout.Meta.Header.original(); len(s.sections) == 1 && origin != "" && !own.paginated {
		own.copied, err = s.session.prefix(ctx, own, origin)
	}
	for i := 0; i < len(s.sections) && err == nil; i++ {
		part := &s.sections[i]
		s.paginated, s.Bare, bare = part.paginated, bare, false
		err = s.tellSection(ctx, part)
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
		case slices.ContainsFunc(part.dropped, func(d span) bool { return d.start <= offset && offset < d.end }):
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

// before returns the rollout that a paginated one goes on from, or nil.
func (s *session) before(ctx context.Context, r *rollout, b base) (*rollout, *metadata) {
	if b.Thread == "" {
		return nil, nil
	}
	for _, other := range s.segments(b.Thread) {
		if other.File == r.File || other.thread == r.thread && other.segment >= r.segment {
			continue
		}
		one := *other // which has no metadata
		if one.Peek(ctx, s.Root) == nil && one.Meta.Ordinal < b.End {
			return other, &one.Meta
		}
	}
	return nil, nil
}

// rolledBack marks a record that drops turns. Rollouts without one are by far the most,
// so that it is looked for before anything is parsed.
const rolledBack = "thread_rolled_back"

// undo finds the parts of a section that have turns which were dropped. The error is
// [store.ErrChanged] where some were behind an offset up to which it was told.
func (part *section) undo(ctx context.Context, told int64) error {
	if part.paginated {
		return nil // what counts is in a rollout of its own
	}
	any := false
	err := jsonl.Each(ctx, part, told, part.size, func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
	switch {
	case err != nil || !any:
		return err
	case told > 0:
		return store.ErrChanged
	}
	var turns []int64 // where those begin that count
	talk := history.Talk{}
	d := decoder{talk: &talk}
	return jsonl.Each(ctx, part, 0, part.size, func(line []byte, offset, next int64) bool {
		r, ok := parse(line)
		if x := r.item(); ok && r.Type == "event_msg" && x.Type == rolledBack {
			if n := min(int(x.Turns), len(turns)); n > 0 {
				start := turns[len(turns)-n]
				turns = turns[:len(turns)-n]
				part.dropped = slices.DeleteFunc(part.dropped, func(s span) bool { return s.start >= start })
				part.dropped = append(part.dropped, span{start, next})
			}
			return true
		}
		before := talk.Totals.Turns
		if d.tell(&r); talk.Totals.Turns > before {
			turns = append(turns, offset)
		}
		return true
	})
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
	var sums []uint64
	err = jsonl.Each(ctx, f, 0, f.size, func(line []byte, _, _ int64) bool {
		if r, ok := parse(line); ok && r.Type != "session_meta" {
			sums = append(sums, maphash.Bytes(seed, r.Payload))
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	err = jsonl.Each(ctx, own, 0, own.size, func(line []byte, _, next int64) bool {
		r, ok := parse(line)
		if !ok || r.Type == "session_meta" {
			return true
		}
		if len(sums) == 0 || sums[0] != maphash.Bytes(seed, r.Payload) {
			return false
		}
		end, sums = next, sums[1:]
		return true
	})
	return end, err
}
