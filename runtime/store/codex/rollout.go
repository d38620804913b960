package codex

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// metadata is the metadata of a rollout, from its beginning and its end.
type metadata struct {
	history.Session
	Header  header
	Ordinal int64 // of the first record; -1 for none
	Begun   bool  // it has a whole line
	Whole   bool  // all lines were read
}

// header is the first record of a rollout.
type header struct {
	Thread  string    `json:"id"` // uuid
	Cwd     string    `json:"cwd"`
	Created time.Time `json:"timestamp"`
	Forked  string    `json:"forked_from_id"`   // thread that it is a copy of, or goes on from
	Parent  string    `json:"parent_thread_id"` // thread that started it as a task
	Mode    string    `json:"history_mode"`
	By      string    `json:"thread_source"`
	Base    base      `json:"history_base"`
	Git     struct {
		Branch string `json:"branch"`
	} `json:"git"`
	Source struct {
		Subagent jsontext.Raw `json:"subagent"`
	} `json:"source"`
	Agent     bool
	Paginated bool
}

// base is the history before the first record of a paginated rollout.
type base struct {
	Thread string `json:"thread_id"`             // uuid; empty for none
	End    int64  `json:"end_ordinal_exclusive"` // ordinal after its last record
}

// parseHeader returns the header in the first record of a rollout, with uuids in lower case.
func parseHeader(r *record) (h header) {
	jsontext.Decode(r.Payload, &h)
	// In some versions only a member of the source has the thread that started a sub-agent.
	for m := range jsontext.Members(h.Source.Subagent) {
		source, _ := jsontext.Parse[header](m.Value)
		h.Parent = cmp.Or(source.Parent, h.Parent)
	}
	for _, id := range []*string{&h.Thread, &h.Forked, &h.Parent, &h.Base.Thread} {
		*id = strings.ToLower(*id)
	}
	h.Paginated = strings.EqualFold(h.Mode, "paginated")
	h.Agent = h.Source.Subagent != nil || h.Parent != "" || strings.EqualFold(h.By, "subagent")
	return h
}

// Peek implements [history.Listed]: it reads the metadata of the rollout, and returns the working directory.
func (r *rollout) Peek(ctx context.Context, _ *history.Root, opened *os.File, size int64) (dir string, err error) {
	const enough = 8 * jsonl.PeekSize // only the beginning of a compressed rollout is read
	f := &file{ReaderAt: opened, size: size}
	if r.compressed {
		if f, err = decompress(opened, enough); err != nil {
			return "", err
		}
	}
	m, to := &r.Meta, &history.Recorder{}
	var d *decoder                        // nil before the first record, which has the header
	m.Ordinal, m.Begun = -1, r.compressed // -1 until there is a record; a compressed rollout always has a whole line
	wanted := func() bool { return to.Request == "" }
	m.Whole, err = jsonl.Peek(ctx, f, f.size, wanted, func(data []byte) {
		m.Begun = true
		line, ok := parse(data)
		switch {
		case !ok:
			return
		case d == nil:
			m.Header, m.Ordinal = parseHeader(&line), line.ordinal()
			d = newDecoder(&m.Header, to)
			return
		case line.bare && m.Header.Cwd == "":
			m.Header.Cwd = environmentDir(&line)
		}
		d.record(&line)
		d.flush()
	})
	m.Note(to)
	m.Dir, m.Branch, m.Created = m.Header.Cwd, m.Header.Git.Branch, m.Header.Created
	if f.cut {
		m.Whole, m.Last = false, time.Time{} // the end was not read
	}
	return m.Dir, err
}

// environmentDir returns the <cwd> in an <environment_context> message of versions before 0.30; "" for other messages.
func environmentDir(r *record) (dir string) {
	x, _ := jsontext.Parse[item](r.Payload)
	for _, text := range history.Texts(x.Content) {
		_, rest, _ := bytes.Cut(text, []byte("<cwd>"))
		if cwd, _, ok := bytes.Cut(rest, []byte("</cwd>")); ok && history.Begins(text, "<environment_context>") {
			dir = string(cwd)
		}
	}
	return dir
}

// sections returns the rollouts with the records of the thread, the earliest first: the chain of the bases of r, and r.
func (r *rollout) sections() (all []*rollout) {
	const most = 64
	for part := r; part != nil && len(all) < most && !slices.Contains(all, part); part = part.base {
		all = append(all, part)
	}
	slices.Reverse(all)
	return all
}

// decode adds the events of the thread to a recorder. It leaves out a rollout before r if the file of that is gone.
func (r *rollout) decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	d := newDecoder(&r.Meta.Header, to)
	sections := r.sections()
	for i, part := range sections {
		until := int64(math.MaxInt64) // ordinal after the last record of the section
		if part != r {
			until = sections[i+1].Meta.Header.Base.End // where the next section goes on
		}
		err := d.section(ctx, root, part, part.thread != r.thread, until)
		if err != nil && (part == r || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// section adds the events of the records with ordinals less than until in the rollout part. If copied is true, all
// events are marked as copies. Otherwise a rollout can begin with copies from another rollout, the original: the events
// of the first records are marked, as long as the payloads are equal to those of the first records in the original.
func (d *decoder) section(ctx context.Context, root *history.Root, part *rollout, copied bool, until int64) error {
	f, err := openFile(root, part.File)
	if err != nil {
		return err
	}
	defer f.Close()
	var originals [][sha256.Size]byte // hashes of the payloads that can be copied; none if part goes on from a base
	if !copied && part.base == nil && part.original != nil {
		if originals, err = payloads(ctx, root, part.original.File); err != nil {
			return err
		}
	}
	d.paginated, d.bare = part.Meta.Header.Paginated, false // d.record sets bare, for rollouts of versions before 0.30
	isPast := false                                         // the line is after the section
	err = d.to.LinesOf(ctx, f, f.size, func(line []byte, _ int64) bool {
		r, ok := parse(line)
		isPast = isPast || ok && r.ordinal() >= until
		if isPast || !ok {
			return isPast // false, for a damaged line of the section, counts the line as skipped
		}
		if r.Type != headerType {
			isCopy := len(originals) > 0 && originals[0] == sha256.Sum256(r.Payload)
			d.copied = copied || isCopy
			if isCopy {
				originals = originals[1:]
			} else {
				originals = nil // the records after a record of the thread's own are no copies
			}
		}
		d.record(&r)
		return true
	})
	d.flush()
	d.to.Totals.Cut = d.to.Totals.Cut || f.cut
	return err
}

const headerType = "session_meta" // the type of records that have the header of a rollout

// payloads returns the hashes of the payloads in a rollout, without those of headers, to find copies of the payloads.
func payloads(ctx context.Context, root *history.Root, name string) (sums [][sha256.Size]byte, err error) {
	f, err := openFile(root, name)
	if err != nil {
		return nil, nil // without hashes, no record of another rollout is marked as a copy
	}
	defer f.Close()
	err = jsonl.Each(ctx, f, f.size, func(line []byte, _ int64) bool {
		if r, ok := parse(line); ok && r.Type != headerType {
			sums = append(sums, sha256.Sum256(r.Payload))
		}
		return true
	})
	return sums, err
}

// file is an open rollout, which can be compressed.
type file struct {
	io.ReaderAt
	io.Closer
	size int64
	cut  bool // it has more than was decompressed
}

// Limits of decompression, in bytes. Rollouts grow to about twenty times their compressed size.
const (
	maxWindow         = 32 << 20
	leastDecompressed = 64 << 20
	mostDecompressed  = 256 << 20
	maxRatio          = 200
)

// openFile opens a rollout by its name. If there is no such file, it opens the other form of the rollout: the program
// may have compressed or decompressed it meanwhile.
func openFile(root *history.Root, name string) (*file, error) {
	f, size, err := root.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		plain, isCompressed := strings.CutSuffix(name, compressed)
		name = plain
		if !isCompressed {
			name += compressed
		}
		f, size, err = root.File(name)
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, compressed) {
		return &file{ReaderAt: f, Closer: f, size: size}, nil
	}
	defer f.Close()
	return decompress(f, min(leastDecompressed+maxRatio*size, mostDecompressed))
}

// decompress returns a file in memory with up to most bytes of a compressed rollout, which can end early.
func decompress(f io.Reader, most int64) (*file, error) {
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var data bytes.Buffer
	n, err := data.ReadFrom(io.LimitReader(d, most+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a file that was cut ends there
		return nil, err
	}
	return &file{ReaderAt: bytes.NewReader(data.Bytes()), Closer: io.NopCloser(nil), size: min(n, most), cut: n > most}, nil
}
