package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// conversation is where a thread is recorded. It implements [store.Record].
type conversation struct {
	history.File
	store   *Store
	rollout *rollout
}

// Read implements [store.Record].
func (c *conversation) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
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
	return history.Read(ctx, c.ID, s, yield)
}

// section is a part of a rollout that belongs to a conversation.
type section struct {
	*file
	until     int64 // ordinal behind its last record
	copied    int64 // offset behind what another conversation has too
	paginated bool
}

// script is the rollouts of a conversation. It implements [history.Script].
type script struct {
	of       *rollout
	session  *session
	sections []section
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
	return nil
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) (err error) {
	h := &s.of.Meta.Header
	s.decoder = newDecoder(h, t)
	own := &s.sections[len(s.sections)-1]
	if len(s.sections) == 1 && h.original() != "" && !own.paginated {
		own.copied, err = s.session.prefix(ctx, own, h.original())
	}
	for i := 0; i < len(s.sections) && err == nil; i++ {
		part := &s.sections[i]
		s.paginated, s.bare = part.paginated, false
		if s.undoes, err = part.undoes(ctx); err != nil {
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

// tellSection tells the events of a section.
func (s *script) tellSection(ctx context.Context, part *section) error {
	t := s.talk
	return jsonl.Each(ctx, part, 0, part.size, func(line []byte, offset, _ int64) bool {
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

// undoes reports whether turns of a section are dropped.
func (part *section) undoes(ctx context.Context) (any bool, err error) {
	if part.paginated {
		return false, nil // what counts is in a rollout of its own
	}
	err = jsonl.Each(ctx, part, 0, part.size, func(line []byte, _, _ int64) bool {
		any = bytes.Contains(line, []byte(rolledBack[len("thread"):])) // t stands everywhere, where _ does not
		return !any
	})
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

// metadata is what is known of a rollout from its beginning and its end.
type metadata struct {
	history.Session
	Header  header
	Ordinal int64 // of the first record; -1 for none
	Begun   bool  // it has more than the beginning of a line
	Whole   bool  // all of its lines were seen
}

// header is the first record of a rollout.
type header struct {
	Thread  string    `json:"id"` // uuid
	Cwd     string    `json:"cwd"`
	Created time.Time `json:"timestamp"`
	Forked  string    `json:"forked_from_id"`   // thread that it is a copy of, or goes on from
	Parent  string    `json:"parent_thread_id"` // thread that it is a task of
	Mode    string    `json:"history_mode"`
	By      string    `json:"thread_source"`
	Base    base      `json:"history_base"`
	Source  struct {
		Subagent jsontext.Raw `json:"subagent"`
	} `json:"source"`
	Agent     bool
	Paginated bool
}

// base is what stands before the first record of a paginated rollout.
type base struct {
	Thread string `json:"thread_id"`             // uuid; empty for nothing
	End    int64  `json:"end_ordinal_exclusive"` // ordinal behind the last record of it
}

// original returns the thread of which another one may begin with a copy, or "".
func (h *header) original() string { return cmp.Or(h.Forked, h.Parent) }

// parseHeader reads the first record of a rollout.
func parseHeader(r *record) (h header) {
	jsontext.Decode(r.Payload, &h)
	// The thread that a sub-agent was started from may be known only from its source.
	for how := range jsontext.Members(h.Source.Subagent) {
		var spawned header
		jsontext.Decode(how.Value, &spawned)
		h.Parent = cmp.Or(spawned.Parent, h.Parent)
	}
	for _, id := range []*string{&h.Thread, &h.Forked, &h.Parent, &h.Base.Thread} {
		*id = strings.ToLower(*id)
	}
	h.Paginated = strings.EqualFold(h.Mode, "paginated")
	h.Agent = h.Source.Subagent != nil || h.Parent != "" || strings.EqualFold(h.By, "subagent")
	return h
}

// Where implements [history.Listed].
func (r *rollout) Where() string { return r.Meta.Dir }

// Peek implements [history.Listed].
func (r *rollout) Peek(ctx context.Context, root *history.Root) error {
	const enough = 8 * jsonl.PeekSize // of what is compressed, of which the end is not known
	f, err := openFile(root, r.File, enough)
	if err != nil {
		return err
	}
	defer f.Close()
	m, talk := &r.Meta, history.Talk{}
	m.Ordinal, m.Begun = -1, f.plain == nil // which was written to its end
	d, isFirst := newDecoder(&header{}, &talk), true
	see := func(line []byte) {
		m.Begun = true
		switch r, ok := parse(line); {
		case !ok:
		case isFirst:
			isFirst = false
			m.Header, m.Ordinal = parseHeader(&r), r.ordinal()
			d = newDecoder(&m.Header, &talk)
		default:
			if r.bare && m.Header.Cwd == "" {
				m.Header.Cwd = environmentDir(&r)
			}
			d.tell(&r)
		}
	}
	m.Whole, err = history.PeekLines(ctx, f, f.size, &talk, see, func() bool { return false })
	m.See(&talk)
	m.Dir, m.Created = m.Header.Cwd, m.Header.Created
	if f.cut {
		m.Whole, m.Last = false, time.Time{} // what the end has is not known
	}
	return err
}

// environmentDir returns the working directory that the environment has which versions
// before 0.30 describe to the model alone.
func environmentDir(r *record) (dir string) {
	for _, text := range texts(r.item().Content) {
		_, rest, _ := bytes.Cut(text, []byte("<cwd>"))
		if cwd, _, ok := bytes.Cut(rest, []byte("</cwd>")); ok && history.Begins(text, "<environment_context>") {
			dir = string(cwd)
		}
	}
	return dir
}

// file is an opened rollout, which may be compressed.
type file struct {
	io.ReaderAt
	size  int64
	plain *os.File // nil where it is compressed
	cut   bool     // it has more than what is decompressed
}

// Close closes it.
func (f *file) Close() { f.plain.Close() } // nothing where that is nil

// Bounds of what a rollout is decompressed with, and to, in bytes. What programs record grows
// to some twenty times of what it is compressed to.
const (
	maxWindow         = 32 << 20
	leastDecompressed = 64 << 20
	mostDecompressed  = 256 << 20
	maxRatio          = 200
)

// openFile opens a rollout. Where the program has compressed it since it was found, or
// does the reverse, it is opened in its other form. Of a compressed one some bytes are read; 0
// stands for as many as there may be.
func openFile(root *history.Root, name string, most int64) (*file, error) {
	f, info, err := root.File(name)
	if other, ok := strings.CutSuffix(name, compressed); errors.Is(err, fs.ErrNotExist) {
		if name = other; !ok {
			name += compressed
		}
		f, info, err = root.File(name)
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, compressed) {
		return &file{ReaderAt: f, size: info.Size(), plain: f}, nil
	}
	defer f.Close()
	most = cmp.Or(most, min(leastDecompressed+maxRatio*info.Size(), mostDecompressed))
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var data bytes.Buffer
	n, err := data.ReadFrom(io.LimitReader(d, most+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // one that is cut ends there
		return nil, err
	}
	return &file{ReaderAt: bytes.NewReader(data.Bytes()), size: min(n, most), cut: n > most}, nil
}
