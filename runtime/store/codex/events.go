package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"math"
	"os"
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
	e := &script{conversation: c, decoder: newDecoder(&c.rollout.Meta.Header)}
	defer e.close()
	if err := e.open(ctx); err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", c.ID, err)
	}
	return history.Read(ctx, c.ID, e, mark, yield)
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
	conversation *conversation
	session      *session
	sections     []section
	begun        bool  // what of the sections counts is known
	offset       int64 // behind what was read of the last section
	decoder
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (e *script) open(ctx context.Context) (err error) {
	c := e.conversation
	if e.session, err = c.store.open(); err != nil {
		return err
	}
	r, m, until := c.rollout, &c.rollout.Meta, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(e.sections) < maxSections && !seen[r.File] {
		seen[r.File] = true
		f, err := openFile(e.session.Root, r.File, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(e.sections) > 0:
			return nil // what is left is told
		case errors.Is(err, fs.ErrNotExist):
			return &store.NotFoundError{IDs: []transcript.ID{c.ID}, Place: c.store.Dir}
		case err != nil:
			return err
		}
		part := section{file: f, until: until, paginated: m.Header.Paginated}
		if r.thread != c.rollout.thread {
			part.copied = math.MaxInt64
		}
		e.sections = slices.Insert(e.sections, 0, part)
		until = m.Header.Base.End
		r, m = e.session.before(ctx, r, m.Header.Base)
	}
	return nil
}

// begin finds out what of the sections counts.
func (e *script) begin(ctx context.Context) (err error) {
	for i := range e.sections {
		part := &e.sections[i]
		if part.dropped, err = undone(ctx, part); err != nil {
			return err
		}
	}
	own := &e.sections[len(e.sections)-1]
	if origin := e.conversation.rollout.Meta.Header.original(); len(e.sections) == 1 && origin != "" && !own.paginated {
		own.copied, err = e.session.prefix(ctx, own, origin)
	}
	return err
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
		if s.read(ctx, &one) == nil && one.Meta.Ordinal < b.End {
			return other, &one.Meta
		}
	}
	return nil, nil
}

// rolledBack marks a record that drops turns. Rollouts without one are by far the most,
// so that it is looked for before anything is parsed.
const rolledBack = "thread_rolled_back"

// undone returns the parts of a section that have turns which were dropped.
func undone(ctx context.Context, part *section) (dropped []span, err error) {
	if part.paginated {
		return nil, nil // what counts is in a rollout of its own
	}
	any := false
	err = jsonl.EachFrom(ctx, part.lines, 0, func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
	if err != nil || !any {
		return nil, err
	}
	var turns []int64 // where those begin that count
	d := decoder{}
	err = jsonl.EachFrom(ctx, part.lines, 0, func(line []byte, offset, next int64) bool {
		r, ok := parse(line)
		if x := r.item(); ok && r.Type == "event_msg" && x.Type == rolledBack {
			if n := min(int(x.Turns), len(turns)); n > 0 {
				start := turns[len(turns)-n]
				turns = turns[:len(turns)-n]
				dropped = slices.DeleteFunc(dropped, func(s span) bool { return s.start >= start })
				dropped = append(dropped, span{start, next})
			}
			return true
		}
		before := d.Turn
		if d.tell(&r); d.Turn > before {
			turns = append(turns, offset)
		}
		d.Take()
		return true
	})
	return dropped, err
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
	err = jsonl.EachFrom(ctx, f.lines, 0, func(line []byte, _, _ int64) bool {
		if r, ok := parse(line); ok && r.Type != "session_meta" {
			sums = append(sums, maphash.Bytes(seed, r.Payload))
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	err = jsonl.EachFrom(ctx, own.lines, 0, func(line []byte, _, next int64) bool {
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

// Tell implements [history.Script].
func (e *script) Tell(ctx context.Context, t *history.Teller) error {
	if !e.begun {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	for i := range e.sections {
		part := &e.sections[i]
		e.paginated = part.paginated
		if i > 0 {
			e.offset, e.Bare = 0, false
		}
		if err := e.tellSection(ctx, t, part); err != nil {
			return err
		}
		t.Totals.Cut = t.Totals.Cut || part.cut
	}
	return nil
}

// tellSection tells the events of a section.
func (e *script) tellSection(ctx context.Context, t *history.Teller, part *section) error {
	for {
		for _, s := range part.dropped {
			if s.start <= e.offset && e.offset < s.end {
				e.offset = s.end
			}
		}
		line, next, err := part.lines.At(ctx, e.offset)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, jsonl.ErrTooLong) {
			return err
		}
		copied := e.offset < part.copied
		e.offset = next
		r, ok := parse(line)
		switch {
		case err != nil:
			e.Skipped++
			t.Totals.TooLarge++
		case !ok && len(line) > 0:
			e.Skipped++
		case ok && r.ordinal() >= part.until:
			return nil
		case ok:
			e.tell(&r)
		}
		if err := t.TellAll(&e.Talk, copied); err != nil {
			return err
		}
	}
}

// Grown implements [history.Growing]. A rollout that begins as another one does, or of which
// turns were undone, is read as a whole.
func (e *script) Grown() *history.Grown {
	part, h := &e.sections[0], &e.conversation.rollout.Meta.Header
	if len(e.sections) > 1 || part.compressed || len(part.dropped) > 0 || h.Base.Thread != "" || h.original() != "" {
		return nil
	}
	return &history.Grown{File: part.Closer.(*os.File), Opened: part.opened, Read: &e.offset, State: &e.decoder}
}

// Goes implements [history.Growing].
func (e *script) Goes(ctx context.Context) (goes bool, err error) {
	part := &e.sections[0]
	e.begun, goes = true, true
	if part.paginated {
		return true, nil
	}
	err = jsonl.EachFrom(ctx, part.lines, e.offset, func(line []byte, _, _ int64) bool {
		goes = !bytes.Contains(line, []byte(rolledBack))
		return goes
	})
	return goes, err
}

func (e *script) close() {
	for _, part := range e.sections {
		part.Close()
	}
	if e.session != nil && e.session.Root != nil {
		e.session.Close()
	}
}
