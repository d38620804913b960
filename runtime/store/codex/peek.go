package codex

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

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

// read reads the metadata of a rollout. Where what a person said first is not at the beginning, it is
// looked for: what the program puts before it may be long.
func (h *home) read(ctx context.Context, file string) (*metadata, error) {
	f, err := h.openFile(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &metadata{Ordinal: -1, Empty: true, Begun: f.compressed} // which was written to its end
	d, isFirst := decoder{}, true
	add := func(line []byte) {
		m.Begun = true
		switch r, ok := parse(line); {
		case !ok:
		case isFirst:
			isFirst = false
			m.Header, m.Ordinal = parseHeader(&r), r.ordinal
			d.paginated = m.Header.Paginated
		default:
			m.add(&d, &r)
		}
	}
	whole, err := f.peek(ctx, func(line []byte) int64 {
		const enough = 1 << 20
		if add(line); m.First == "" {
			return enough
		}
		return 0
	}, func(line []byte) {
		first := m.First // and not what the end has
		add(line)
		m.First = first
	})
	m.Empty = m.Empty && whole
	if f.compressed && !whole {
		m.Last = time.Time{} // what the end has is not known
	}
	return m, err
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
