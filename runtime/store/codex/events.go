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
	bytes   int64 // of the rollout and of those that it goes on from
}

func (c *conversation) id() transcript.ID { return id(c.rollout.thread) }

// Size implements [store.Sized]. Of the rollout that it may begin with a copy of, no more is
// read than of its own.
func (c *conversation) Size() int64 { return c.bytes }

// Events implements [store.Record].
func (c *conversation) Events(ctx context.Context, buffer *store.Buffer) (store.Events, error) {
	e := &events{conversation: c, buffer: buffer}
	if err := e.open(ctx); err != nil {
		e.Close()
		return nil, fmt.Errorf("reading the events of %s: %w", c.id(), err)
	}
	e.Restart()
	return e, nil
}

// Version implements [store.Record].
func (c *conversation) Version(context.Context) (string, error) {
	if v := c.Sheet.Version(); v != "" {
		return v, nil
	}
	h, err := openHome(c.store.home)
	if err != nil {
		return "", err
	}
	defer h.close()
	f, err := openFile(h, c.rollout.file)
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id(), c.gone(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("looking at the events of %s: %w", c.id(), err)
	}
	var named time.Time
	if index, err := h.root.Stat(indexFile); err == nil {
		named = index.ModTime()
	}
	return fmt.Sprintf("%s %d %d %d", c.rollout.file, info.Size(), info.ModTime().UnixNano(), named.UnixNano()), nil
}

// gone returns the error for a conversation whose file is gone.
func (c *conversation) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &store.NotFoundError{IDs: []transcript.ID{c.id()}, Place: c.store.Place()}
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

// events reads the events of a conversation. It implements [store.Events].
type events struct {
	conversation *conversation
	buffer       *store.Buffer
	sections     []section
	begun        bool // what of the sections counts is known

	section int
	lines   lines // of the section; nil before it is begun
	offset  int64
	decoder decoder
	skipped int
	stream  recorded.Stream
	err     error
}

// maxSections bounds how many rollouts a conversation goes on from.
const maxSections = 64

// open finds the sections of the conversation, the earliest first.
func (e *events) open(ctx context.Context) error {
	c := e.conversation
	h, err := openHome(c.store.home)
	if err != nil {
		return err
	}
	defer h.close()
	s := &session{store: c.store, home: h}
	r, m, until := c.rollout, c.rollout.meta, int64(math.MaxInt64)
	seen := map[string]bool{}
	for r != nil && len(e.sections) < maxSections && !seen[r.file] {
		seen[r.file] = true
		f, err := openFile(h, r.file)
		if errors.Is(err, fs.ErrNotExist) && len(e.sections) > 0 {
			break // what is left is told
		}
		if err != nil {
			return c.gone(err)
		}
		part := section{file: f, until: until, paginated: m.paginated}
		if r.thread != c.rollout.thread {
			part.copied = math.MaxInt64
		}
		e.sections = append([]section{part}, e.sections...)
		until = m.base.end
		r, m = s.before(ctx, r, m.base)
	}
	return nil
}

// Sift implements [store.Sifter].
func (e *events) Sift(ctx context.Context, may func([]byte) bool) (bool, error) {
	for _, part := range e.sections {
		if part.file.compressed {
			return true, nil
		}
		if found, err := jsonl.Sift(ctx, part.file, part.file.size, e.buffer, may); found || err != nil {
			return found, err
		}
	}
	return false, nil
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
	origin := original(&e.conversation.rollout.meta.header)
	if len(e.sections) > 1 || origin == "" || own.paginated {
		return nil
	}
	h, err := openHome(e.conversation.store.home)
	if err != nil {
		return err
	}
	defer h.close()
	own.copied, err = e.prefix(ctx, &session{store: e.conversation.store, home: h}, own, origin)
	return err
}

// original returns the thread of which another one may begin with a copy, or "".
func original(h *header) string {
	if h.forked != "" {
		return h.forked
	}
	return h.parent
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
		if m, err := s.peek(ctx, other.file); err == nil && m.ordinal < b.end {
			return other, m
		}
	}
	return nil, nil
}

// each calls a function for each line of a section, with the offset of the line and of
// the next one, until it returns false.
func (e *events) each(ctx context.Context, part *section, do func(line []byte, offset, next int64) bool) error {
	lines := part.file.lines(e.buffer)
	for offset := int64(0); ; {
		line, next, err := lines.At(ctx, offset)
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, jsonl.ErrTooLong):
			return err
		case !do(line, offset, next):
			return nil
		}
		offset = next
	}
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
	err := e.each(ctx, part, func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
	if err != nil || !any {
		return nil, err
	}
	var dropped []span
	var turns []int64 // where those begin that count
	d := decoder{}
	err = e.each(ctx, part, func(line []byte, offset, next int64) bool {
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
	f, err := openFile(s.home, originals[len(originals)-1].file)
	if err != nil {
		return 0, nil // what it has is told here
	}
	defer f.Close()
	seed := maphash.MakeSeed()
	var sums []uint64
	err = e.each(ctx, &section{file: f}, func(line []byte, _, _ int64) bool {
		if r, ok := parse(line); ok && !r.is("session_meta") {
			sums = append(sums, maphash.Bytes(seed, r.payload))
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	end, n := int64(0), 0
	err = e.each(ctx, own, func(line []byte, _, next int64) bool {
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

// Next implements [store.Events].
func (e *events) Next(ctx context.Context) bool {
	if !e.begun && e.err == nil {
		e.err = e.begin(ctx)
		e.begun = e.err == nil
	}
	for !e.stream.Next() {
		if e.err != nil || e.section == len(e.sections) {
			return false
		}
		part := &e.sections[e.section]
		if e.lines == nil {
			e.lines, e.offset = part.file.lines(e.buffer), 0
			e.decoder.paginated, e.decoder.bare = part.paginated, false
		}
		if n := len(part.dropped); n > 0 {
			e.offset = behind(part.dropped, e.offset)
		}
		line, next, err := e.lines.At(ctx, e.offset)
		switch {
		case errors.Is(err, jsonl.ErrTooLong):
			e.skipped++
			e.offset = next
			continue
		case err == io.EOF:
			e.section, e.lines = e.section+1, nil
			continue
		case err != nil:
			e.err = err
			return false
		}
		copied := e.offset < part.copied
		e.offset = next
		if len(line) == 0 {
			continue
		}
		r, ok := parse(line)
		switch {
		case !ok:
			e.skipped++
		case r.ordinal >= part.until:
			e.section, e.lines = e.section+1, nil
		default:
			e.stream.Put(e.decoder.events(e.stream.Free(), &r), copied)
		}
	}
	return true
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

// Event implements [store.Events].
func (e *events) Event() *transcript.Event { return e.stream.Event() }

// Err implements [store.Events].
func (e *events) Err() error {
	if e.err == nil {
		return nil
	}
	return fmt.Errorf("reading the events of %s: %w", e.conversation.id(), e.err)
}

// Totals implements [store.Events].
func (e *events) Totals() store.Totals {
	t := store.Totals{Turns: e.decoder.turn, Skipped: e.skipped + e.decoder.unknown}
	if e.err != nil {
		t.Uncounted = e.err
		return t
	}
	t.Events, t.LastAt = e.stream.Count(), e.stream.Last()
	return t
}

// Restart implements [store.Events].
func (e *events) Restart() {
	e.section, e.lines, e.offset, e.skipped = 0, nil, 0, 0
	e.err = nil
	e.decoder = decoder{agent: e.conversation.rollout.meta.agent}
	e.stream.Reset()
}

// Close implements [store.Events].
func (e *events) Close() {
	for _, part := range e.sections {
		part.file.Close()
	}
	e.sections = nil
}
