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
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a thread is recorded. It implements [store.Record].
type conversation struct {
	store   *Store
	rollout *rollout
	version string
	excess  filecache.Sheet // of how much of the rollout is read, where that is not all
}

func (c *conversation) id() transcript.ID { return id(c.rollout.thread) }

// Version implements [store.Record]: it is that of when the thread was listed.
func (c *conversation) Version(context.Context) (string, error) { return c.version, nil }

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	e := &script{conversation: c}
	e.Decoder.agent = c.rollout.meta.Header.Agent
	defer e.close()
	if err := e.open(ctx); err != nil {
		return store.Totals{}, fmt.Errorf("reading the events of %s: %w", c.id(), err)
	}
	return recorded.Read(ctx, c.id(), e, mark, yield)
}

// gone returns the error for a conversation whose file is gone.
func (c *conversation) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &store.NotFoundError{IDs: []transcript.ID{c.id()}, Place: c.store.Dir}
	}
	return err
}

// section is a part of a rollout that belongs to a conversation.
type section struct {
	file      *file
	until     int64 // ordinal behind its last record
	copied    int64 // offset behind what another conversation has too
	paginated bool
	dropped   []span // of turns that were undone
}

// span is a range of offsets.
type span struct{ start, end int64 }

// script is the rollouts of a conversation. It implements [recorded.Growing].
type script struct {
	conversation *conversation
	sections     []section
	begun        bool  // what of the sections counts is known
	offset       int64 // behind what was read of the last section
	Decoder      decoder
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (e *script) open(ctx context.Context) error {
	c := e.conversation
	h, err := openHome(c.store.Dir, nil)
	if err != nil {
		return err
	}
	defer h.close()
	s := &session{store: c.store, home: h}
	r, m, until := c.rollout, c.rollout.meta, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(e.sections) < maxSections && !seen[r.file] {
		seen[r.file] = true
		f, err := h.openFile(r.file)
		if errors.Is(err, fs.ErrNotExist) && len(e.sections) > 0 {
			break // what is left is told
		}
		if err != nil {
			return c.gone(err)
		}
		if r == c.rollout {
			f.keep(&c.excess)
		}
		part := section{file: f, until: until, paginated: m.Header.Paginated}
		if r.thread != c.rollout.thread {
			part.copied = math.MaxInt64
		}
		e.sections = slices.Insert(e.sections, 0, part)
		until = m.Header.Base.End
		r, m = s.before(ctx, r, m.Header.Base)
	}
	return nil
}

// begin finds out what of the sections counts.
func (e *script) begin(ctx context.Context) (err error) {
	for i := range e.sections {
		part := &e.sections[i]
		if part.dropped, err = e.undone(ctx, part); err != nil {
			return err
		}
	}
	own := &e.sections[len(e.sections)-1]
	origin := e.conversation.rollout.meta.Header.original()
	if len(e.sections) > 1 || origin == "" || own.paginated {
		return nil
	}
	h, err := openHome(e.conversation.store.Dir, nil)
	if err != nil {
		return err
	}
	defer h.close()
	own.copied, err = e.prefix(ctx, &session{store: e.conversation.store, home: h}, own, origin)
	return err
}

// before returns the rollout that a paginated one goes on from, or nil.
func (s *session) before(ctx context.Context, r *rollout, b base) (*rollout, *metadata) {
	if b.Thread == "" {
		return nil, nil
	}
	for _, other := range s.segments(b.Thread) {
		if other.file == r.file || other.thread == r.thread && other.segment >= r.segment {
			continue
		}
		if m, err := s.home.read(ctx, other.file); err == nil && m.Ordinal < b.End {
			return other, m
		}
	}
	return nil, nil
}

// rolledBack marks a record that drops turns. Rollouts without one are by far the most,
// so that it is looked for before anything is parsed.
const rolledBack = "thread_rolled_back"

// undone returns the parts of a section that have turns which were dropped.
func (e *script) undone(ctx context.Context, part *section) ([]span, error) {
	if part.paginated {
		return nil, nil // what counts is in a rollout of its own
	}
	any := false
	err := jsonl.Each(ctx, part.file.lines(), func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
	if err != nil || !any {
		return nil, err
	}
	var dropped []span
	var turns []int64 // where those begin that count
	d := decoder{}
	err = jsonl.Each(ctx, part.file.lines(), func(line []byte, offset, next int64) bool {
		r, ok := parse(line)
		if !ok {
			return true
		}
		if x := parseItem(r.payload); r.is("event_msg") && x.is(rolledBack) {
			if n := min(x.turns, len(turns)); n > 0 {
				start := turns[len(turns)-n]
				turns = turns[:len(turns)-n]
				for len(dropped) > 0 && dropped[len(dropped)-1].start >= start {
					dropped = dropped[:len(dropped)-1]
				}
				dropped = append(dropped, span{start, next})
			}
			return true
		}
		before := d.Turn
		if d.events(nil, &r); d.Turn > before {
			turns = append(turns, offset)
		}
		return true
	})
	return dropped, err
}

// prefix returns the offset behind the records of a section that are copies of those of
// another thread, which have other times.
func (e *script) prefix(ctx context.Context, s *session, own *section, thread string) (int64, error) {
	originals := s.segments(thread)
	if len(originals) == 0 {
		return 0, nil
	}
	f, err := s.home.openFile(originals[len(originals)-1].file)
	if err != nil {
		return 0, nil // what it has is told here
	}
	defer f.Close()
	seed := maphash.MakeSeed()
	var sums []uint64
	err = jsonl.Each(ctx, f.lines(), func(line []byte, _, _ int64) bool {
		if r, ok := parse(line); ok && !r.is("session_meta") {
			sums = append(sums, maphash.Bytes(seed, r.payload))
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	end, n := int64(0), 0
	err = jsonl.Each(ctx, own.file.lines(), func(line []byte, _, next int64) bool {
		r, ok := parse(line)
		if !ok || r.is("session_meta") {
			return true
		}
		if n == len(sums) || sums[n] != maphash.Bytes(seed, r.payload) {
			return false
		}
		end = next
		n++
		return true
	})
	return end, err
}

// Tell implements [recorded.Script].
func (e *script) Tell(ctx context.Context, t *recorded.Teller) error {
	if !e.begun {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	defer func() { t.Totals.Skipped += e.Decoder.unknown }()
	for i := range e.sections {
		part := &e.sections[i]
		e.Decoder.paginated = part.paginated
		if i > 0 {
			e.offset, e.Decoder.Bare = 0, false
		}
		if err := e.tell(ctx, t, part); err != nil {
			return err
		}
		t.Totals.Cut = t.Totals.Cut || part.file.excess
	}
	return nil
}

// tell tells the events of a section.
func (e *script) tell(ctx context.Context, t *recorded.Teller, part *section) error {
	lines := part.file.lines()
	var told []recorded.Event
	for {
		e.offset = behind(part.dropped, e.offset)
		line, next, err := lines.At(ctx, e.offset)
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
			t.Totals.Skipped++
			t.Totals.TooLarge++
		case !ok && len(line) > 0:
			t.Totals.Skipped++
		case !ok:
		case r.ordinal >= part.until:
			return nil
		default:
			told = e.Decoder.events(told[:0], &r)
			t.Totals.Turns = e.Decoder.Turn
			if err := t.TellAll(told, copied); err != nil {
				return err
			}
		}
	}
}

// Grown implements [recorded.Growing]. A rollout that begins as another one does, or of which
// turns were undone, is read as a whole.
func (e *script) Grown() *recorded.Grown {
	part, h := &e.sections[0], &e.conversation.rollout.meta.Header
	if len(e.sections) > 1 || part.file.compressed || len(part.dropped) > 0 || h.Base.Thread != "" || h.original() != "" {
		return nil
	}
	return &recorded.Grown{File: part.file.File, Opened: part.file.opened, Read: &e.offset, State: &e.Decoder}
}

// Goes implements [recorded.Growing].
func (e *script) Goes(ctx context.Context) (bool, error) {
	part := &e.sections[0]
	e.begun = true
	if part.paginated {
		return true, nil
	}
	goes := true
	err := jsonl.EachFrom(ctx, part.file.lines(), e.offset, func(line []byte, _, _ int64) bool {
		goes = !bytes.Contains(line, []byte(rolledBack))
		return goes
	})
	return goes, err
}

// behind returns the first offset from some one that is in none of the spans.
func behind(spans []span, offset int64) int64 {
	for _, s := range spans {
		if s.start <= offset && offset < s.end {
			offset = s.end
		}
	}
	return offset
}

func (e *script) close() {
	for _, part := range e.sections {
		part.file.Close()
	}
}
