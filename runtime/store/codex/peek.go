package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

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
	size   int64
	plain  *os.File // nil where it is compressed
	opened fs.FileInfo
	cut    bool // it has more than what is decompressed
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
		return &file{ReaderAt: f, size: info.Size(), plain: f, opened: info}, nil
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
	return &file{ReaderAt: bytes.NewReader(data.Bytes()), size: min(n, most), opened: info, cut: n > most}, nil
}
