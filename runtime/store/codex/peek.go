package codex

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/jsontext"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// peekSize is how many bytes are read of the beginning and of the end of a rollout for
// its metadata.
const peekSize = 32 << 10

// metadata is what is known of a rollout from its beginning and its end.
type metadata struct {
	header
	first   string // prompt
	last    time.Time
	ordinal int64 // of the first record; -1 for none
	empty   bool  // nothing is said in it
	begun   bool  // it has more than the beginning of a line
	size    int64 // of the rollout, in bytes
}

// header is the first record of a rollout.
type header struct {
	thread    string // uuid
	cwd       string
	created   time.Time
	forked    string // thread that it is a copy of, or goes on from
	parent    string // thread that it is a task of
	agent     bool
	paginated bool
	base      base
}

// base is what stands before the first record of a paginated rollout.
type base struct {
	thread string // uuid; empty for nothing
	end    int64  // ordinal behind the last record of it
}

// parseHeader reads the first record of a rollout.
func parseHeader(r *record) header {
	var h header
	raw := r.payload
	if r.bare != nil {
		raw = r.bare
	}
	for m := range jsontext.Members(raw) {
		text, ok := jsontext.Unquote(m.Value)
		uuid := strings.ToLower(string(text))
		switch string(m.Key) {
		case "id":
			h.thread = uuid
		case "cwd":
			h.cwd = recorded.Unescape(text)
		case "timestamp":
			h.created, _ = transcript.ParseTimestamp(text)
		case "forked_from_id":
			h.forked = uuid
		case "parent_thread_id":
			h.parent = uuid
		case "history_mode":
			h.paginated = uuid == "paginated"
		case "source":
			if !ok {
				h.source(m.Value)
			}
		case "thread_source":
			h.agent = h.agent || uuid == "subagent"
		case "history_base":
			h.base = parseBase(m.Value)
		}
	}
	h.agent = h.agent || h.parent != ""
	return h
}

// source reads what a thread was started from, where that is a sub-agent: the thread
// that did may be known only from there.
func (h *header) source(raw []byte) {
	for m := range jsontext.Members(raw) {
		if !jsontext.KeyIs(m.Key, "subagent") {
			continue
		}
		h.agent = true
		for m := range jsontext.Members(m.Value) {
			for m := range jsontext.Members(m.Value) {
				if text, ok := jsontext.Unquote(m.Value); ok && jsontext.KeyIs(m.Key, "parent_thread_id") {
					h.parent = strings.ToLower(string(text))
				}
			}
		}
	}
}

func parseBase(raw []byte) base {
	var b base
	for m := range jsontext.Members(raw) {
		switch string(m.Key) {
		case "thread_id":
			text, _ := jsontext.Unquote(m.Value)
			b.thread = strings.ToLower(string(text))
		case "end_ordinal_exclusive":
			b.end, _ = strconv.ParseInt(string(m.Value), 10, 64)
		}
	}
	return b
}

// peek reads the metadata of a rollout.
func (s *session) peek(ctx context.Context, file string) (*metadata, error) {
	return peek(ctx, s.home.open, file, nil)
}

// peek reads the metadata of a rollout, in the memory of buf where that is enough.
func peek(ctx context.Context, open opener, file string, buf []byte) (*metadata, error) {
	f, err := openWith(open, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ends, err := f.ends(peekSize, buf)
	if err != nil {
		return nil, err
	}
	// What is compressed was written to its end.
	m := &metadata{size: f.size, ordinal: -1, empty: ends.Whole, begun: len(ends.Head) > 0 || f.compressed}
	d := decoder{}
	head := ends.Head
	if ends.Cut {
		// The instructions that the first record has are longer.
		buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
		defer buffer.Release()
		line, _, err := f.lines(buffer).At(ctx, 0)
		if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		head = line
	}
	n := 0
	for _, part := range [][]byte{head, ends.Tail} {
		for line := range bytes.SplitSeq(part, []byte("\n")) {
			r, ok := parse(line)
			if !ok {
				continue
			}
			if n++; n == 1 {
				m.header, m.ordinal = parseHeader(&r), r.ordinal
				d.paginated = m.paginated
				continue
			}
			m.add(&d, &r)
		}
	}
	if f.compressed && !ends.Whole {
		m.last = time.Time{} // what the end has is not known
	}
	return m, nil
}

// add adds what a record has for the metadata.
func (m *metadata) add(d *decoder, r *record) {
	if r.bare != nil && m.cwd == "" {
		x := parseItem(r.bare)
		for _, p := range texts(x.content) {
			m.cwd = environmentDir(p.Raw)
		}
	}
	for _, e := range d.events(nil, r) {
		m.empty = m.empty && !e.Kind.Numbered()
		if at := e.Time(); !at.IsZero() {
			m.last = at
		}
		if m.first == "" && len(e.Pieces) > 0 && (e.Kind == transcript.KindUser || d.agent) {
			m.first = recorded.Title(e.Pieces[0].Raw)
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
