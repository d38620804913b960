package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// peekSize is how many bytes are read of the beginning and of the end of a rollout for
// its metadata.
const peekSize = 32 << 10

// metadata is what is known of a rollout from its beginning and its end.
type metadata struct {
	Header  header
	First   string // prompt
	Last    time.Time
	Ordinal int64 // of the first record; -1 for none
	Empty   bool  // nothing is said in it
	Begun   bool  // it has more than the beginning of a line
}

// header is the first record of a rollout.
type header struct {
	Thread    string // uuid
	Cwd       string
	Created   time.Time
	Forked    string // thread that it is a copy of, or goes on from
	Parent    string // thread that it is a task of
	Agent     bool
	Paginated bool
	Base      base
}

// base is what stands before the first record of a paginated rollout.
type base struct {
	Thread string // uuid; empty for nothing
	End    int64  // ordinal behind the last record of it
}

// original returns the thread of which another one may begin with a copy, or "".
func (h *header) original() string { return cmp.Or(h.Forked, h.Parent) }

// parseHeader reads the first record of a rollout.
func parseHeader(r *record) (h header) {
	raw := r.payload
	if r.bare != nil {
		raw = r.bare
	}
	var thread, cwd, created, forked, parent, mode, source, by, base, baseThread, end []byte
	jsontext.Read(raw,
		jsontext.Text("id", &thread), jsontext.Text("cwd", &cwd), jsontext.Text("timestamp", &created),
		jsontext.Text("forked_from_id", &forked), jsontext.Text("parent_thread_id", &parent),
		jsontext.Text("history_mode", &mode), jsontext.Value("history_base", &base),
		jsontext.Value("source", &source), jsontext.Text("thread_source", &by),
	)
	jsontext.Read(base, jsontext.Text("thread_id", &baseThread), jsontext.Value("end_ordinal_exclusive", &end))
	h.Thread, h.Forked, h.Parent, h.Base.Thread = lower(thread), lower(forked), lower(parent), lower(baseThread)
	h.Base.End, _ = strconv.ParseInt(string(end), 10, 64)
	h.Cwd = recorded.Unescape(cwd)
	h.Created, _ = transcript.ParseTimestamp(created)
	h.Paginated = lower(mode) == "paginated"
	// The thread that a sub-agent was started from may be known only from its source.
	if spawned := jsontext.Get(source, "subagent"); spawned != nil {
		h.Agent = true
		for how := range jsontext.Members(spawned) {
			if text := jsontext.GetText(how.Value, "parent_thread_id"); text != nil {
				h.Parent = lower(text)
			}
		}
	}
	h.Agent = h.Agent || h.Parent != "" || lower(by) == "subagent"
	return h
}

func lower(text []byte) string { return strings.ToLower(string(text)) }

// peek reads the metadata of a rollout, in the memory of buf where that is enough.
func peek(ctx context.Context, open opener, file string, buf []byte) (*metadata, error) {
	f, err := openFile(open, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ends, err := f.ends(peekSize, buf)
	if err != nil {
		return nil, err
	}
	// What is compressed was written to its end.
	m := &metadata{Ordinal: -1, Empty: ends.Whole, Begun: len(ends.Head) > 0 || f.compressed}
	d := decoder{}
	head := ends.Head
	if ends.Cut {
		// The instructions that the first record has are longer.
		line, _, err := f.lines().At(ctx, 0)
		if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		head = line
	}
	n, first := 0, ""
	for i, part := range [][]byte{head, ends.Tail} {
		for line := range bytes.SplitSeq(part, []byte("\n")) {
			r, ok := parse(line)
			if !ok {
				continue
			}
			if n++; n == 1 {
				m.Header, m.Ordinal = parseHeader(&r), r.ordinal
				d.paginated = m.Header.Paginated
				continue
			}
			m.add(&d, &r)
		}
		if i == 0 {
			first = m.First
		}
	}
	if m.First = first; first == "" && !ends.Whole {
		m.First = searchFirst(ctx, f, m.Header)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if f.compressed && !ends.Whole {
		m.Last = time.Time{} // what the end has is not known
	}
	return m, nil
}

// searchFirst reads a rollout until a prompt was found: what the program puts before it may be
// long. What cannot be read is told of where it is read to its end.
func searchFirst(ctx context.Context, f *file, h header) string {
	const enough = 1 << 20
	m, d := metadata{Header: h}, decoder{paginated: h.Paginated}
	_ = jsonl.Each(ctx, f.lines(), func(line []byte, _, next int64) bool {
		if r, ok := parse(line); ok {
			m.add(&d, &r)
		}
		return m.First == "" && next < enough
	})
	return m.First
}

// add adds what a record has for the metadata.
func (m *metadata) add(d *decoder, r *record) {
	if r.bare != nil && m.Header.Cwd == "" {
		x := parseItem(r.bare)
		for _, p := range texts(x.content) {
			m.Header.Cwd = environmentDir(p.Raw)
		}
	}
	for _, e := range d.events(nil, r) {
		m.Empty = m.Empty && !e.Kind.Numbered()
		if at := e.Time(); !at.IsZero() {
			m.Last = at
		}
		if m.First == "" && len(e.Pieces) > 0 && (e.Kind == transcript.KindUser || d.agent) {
			m.First = recorded.Request(e.Pieces[0].Raw)
		}
	}
}

// environmentDir returns the working directory that the environment has which versions
// before 0.30 describe to the model alone.
func environmentDir(raw []byte) string {
	const begin, end = "<cwd>", "</cwd>"
	if !recorded.Begins(raw, "<environment_context>") {
		return ""
	}
	_, rest, _ := strings.Cut(recorded.Unescape(raw), begin)
	dir, _, ok := strings.Cut(rest, end)
	if !ok {
		return ""
	}
	return dir
}
