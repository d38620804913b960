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
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a thread is recorded. It implements [store.Record].
type conversation struct {
	facts.Sheet // of the events; zero where nothing is kept

	store   *Store
	rollout *rollout
	excess  facts.Sheet // of how much of the rollout is read, where that is not all
}

func (c *conversation) id() transcript.ID { return id(c.rollout.thread) }

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context) (store.Events, error) {
	e := &events{conversation: c}
	if err := e.open(ctx); err != nil {
		e.Release()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id(), err)
	}
	e.Begin(c.id(), e)
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(context.Context) (string, error) {
	if v := c.Sheet.Version(); v != "" {
		return v, nil
	}
	h, err := openHome(c.store.Dir, facts.Look{})
	if err != nil {
		return "", err
	}
	defer h.close()
	f, err := openFile(h.open, c.rollout.file)
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id(), c.gone(err))
	}
	defer f.Close()
	var named time.Time
	if index, err := h.root.Stat(indexFile); err == nil {
		named = index.ModTime()
	}
	return fmt.Sprintf("%s %d %d %d", c.rollout.file, f.size, f.opened.ModTime().UnixNano(), named.UnixNano()), nil
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

// events reads the events of a conversation. It implements [recorded.Script].
type events struct {
	recorded.Events
	conversation *conversation
	sections     []section
	begun        bool // what of the sections counts is known

	section int
	lines   jsonl.Reader // of the section; nil before it is begun
	offset  int64
	decoder decoder
	skipped int
	large   int // lines, of those that were skipped, that are too long to be read
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (e *events) open(ctx context.Context) error {
	c := e.conversation
	h, err := openHome(c.store.Dir, facts.Look{})
	if err != nil {
		return err
	}
	defer h.close()
	s := &session{store: c.store, home: h}
	r, m, until := c.rollout, c.rollout.meta, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(e.sections) < maxSections && !seen[r.file] {
		seen[r.file] = true
		f, err := openFile(h.open, r.file)
		if errors.Is(err, fs.ErrNotExist) && len(e.sections) > 0 {
			break // what is left is told
		}
		if err != nil {
			return c.gone(err)
		}
		if r == c.rollout {
			f.keep(&c.excess)
		}
		part := section{file: f, until: until, paginated: m.paginated}
		if r.thread != c.rollout.thread {
			part.copied = math.MaxInt64
		}
		e.sections = slices.Insert(e.sections, 0, part)
		until = m.base.end
		r, m = s.before(ctx, r, m.base)
	}
	return nil
}

// begin finds out what of the sections counts.
func (e *events) begin(ctx context.Context) (err error) {
	for i := range e.sections {
		part := &e.sections[i]
		if part.dropped, err = e.undone(ctx, part); err != nil {
			return err
		}
	}
	own := &e.sections[len(e.sections)-1]
	origin := e.conversation.rollout.meta.original()
	if len(e.sections) > 1 || origin == "" || own.paginated {
		return nil
	}
	h, err := openHome(e.conversation.store.Dir, facts.Look{})
	if err != nil {
		return err
	}
	defer h.close()
	own.copied, err = e.prefix(ctx, &session{store: e.conversation.store, home: h}, own, origin)
	return err
}

// before returns the rollout that a paginated one goes on from, or nil.
func (s *session) before(ctx context.Context, r *rollout, b base) (*rollout, *metadata) {
	if b.thread == "" {
		return nil, nil
	}
	for _, other := range s.segments(b.thread) {
		if other.file == r.file || other.thread == r.thread && other.segment >= r.segment {
			continue
		}
		if m, err := peek(ctx, s.home.open, other.file, nil); err == nil && m.ordinal < b.end {
			return other, m
		}
	}
	return nil, nil
}

// rolledBack marks a record that drops turns. Rollouts without one are by far the most,
// so that it is looked for before anything is parsed.
const rolledBack = "thread_rolled_back"

// undone returns the parts of a section that have turns which were dropped.
func (e *events) undone(ctx context.Context, part *section) ([]span, error) {
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
		before := d.turn
		if d.events(nil, &r); d.turn > before {
			turns = append(turns, offset)
		}
		return true
	})
	return dropped, err
}

// prefix returns the offset behind the records of a section that are copies of those of
// another thread, which have other times.
func (e *events) prefix(ctx context.Context, s *session, own *section, thread string) (int64, error) {
	originals := s.segments(thread)
	if len(originals) == 0 {
		return 0, nil
	}
	f, err := openFile(s.home.open, originals[len(originals)-1].file)
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

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	if !e.begun {
		if err := e.begin(ctx); err != nil {
			return err
		}
		e.begun = true
	}
	if e.section == len(e.sections) {
		return io.EOF
	}
	part := &e.sections[e.section]
	if e.lines == nil {
		e.lines, e.offset = part.file.lines(), 0
		e.decoder.paginated, e.decoder.bare = part.paginated, false
	}
	e.offset = behind(part.dropped, e.offset)
	line, next, err := e.lines.At(ctx, e.offset)
	switch {
	case err == io.EOF:
		e.section, e.lines = e.section+1, nil
		return nil
	case err != nil && !errors.Is(err, jsonl.ErrTooLong):
		return err
	}
	copied := e.offset < part.copied
	e.offset = next
	r, ok := parse(line)
	switch {
	case err != nil:
		e.skipped++
		e.large++
	case !ok && len(line) > 0:
		e.skipped++
	case !ok:
	case r.ordinal >= part.until:
		e.section, e.lines = e.section+1, nil
	default:
		into.Put(e.decoder.events(into.Free(), &r), copied)
	}
	return nil
}

// Grown implements [recorded.Growing]. A rollout that begins as another one does, or of which
// turns were undone, is read as a whole.
func (e *events) Grown() (*recorded.Grown, bool) {
	part, m := &e.sections[0], e.conversation.rollout.meta
	if len(e.sections) > 1 || part.file.compressed || len(part.dropped) > 0 || m.base.thread != "" || m.original() != "" {
		return nil, false
	}
	return &recorded.Grown{File: part.file.File, Opened: part.file.opened, Read: &e.offset}, true
}

// Walk implements [recorded.Growing].
func (e *events) Walk(c *facts.Coder) {
	facts.Int(c, &e.skipped, &e.large)
	e.decoder.walk(c)
}

// Goes implements [recorded.Growing].
func (e *events) Goes(ctx context.Context) (bool, error) {
	part := &e.sections[0]
	e.section, e.lines, e.begun = 0, part.file.lines(), true
	e.decoder.paginated = part.paginated
	if part.paginated {
		return true, nil
	}
	err := jsonl.EachFrom(ctx, e.lines, e.offset, func(line []byte, _, _ int64) bool {
		e.begun = !bytes.Contains(line, []byte(rolledBack))
		return e.begun
	})
	return e.begun, err
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

// Counts implements [recorded.Script].
func (e *events) Counts() (turns, skipped, tooLarge int) {
	return e.decoder.turn, e.skipped + e.decoder.unknown, e.large
}

// IsCut implements [recorded.Cutter].
func (e *events) IsCut() bool {
	return slices.ContainsFunc(e.sections, func(part section) bool { return part.file.excess })
}

// Rewind implements [recorded.Script].
func (e *events) Rewind() {
	e.section, e.lines, e.offset, e.skipped, e.large = 0, nil, 0, 0, 0
	e.decoder = decoder{agent: e.conversation.rollout.meta.agent}
}

// Release implements [recorded.Script].
func (e *events) Release() {
	for _, part := range e.sections {
		part.file.Close()
	}
}
