package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// metadata is what is known of a session from the beginning and the end of its file.
type metadata struct {
	Session string // uuid
	Dir     string // of the first working directory, where that is recorded
	Agent   bool
	Created time.Time
	Title   string
	First   string // prompt
	Told    bool   // something is said in it
	Last    time.Time
	Unsure  bool // when the last event happened does not follow from the end
	decoder decoder
}

// isLog reports whether a file is a log, and not one JSON object.
func isLog(name string) bool { return strings.HasSuffix(name, logExtension) }

// peek reads the metadata of a file, unless it is known.
func (s *session) peek(ctx context.Context, e *entry) {
	e.stamp, _ = s.Stamp(e.file) // without one it is read
	sheet := s.Sheet("m"+e.file, e.stamp)
	if e.meta = (&metadata{}); sheet.Get(e.meta) {
		return
	}
	if e.meta, e.err = s.read(ctx, e.file); e.err == nil && !s.store.Project.Excludes(cmp.Or(e.meta.Dir, e.dir)) {
		sheet.PutFor(e.meta, min(e.stamp.Size(), 2*jsonl.PeekSize))
	}
}

// read reads the metadata of a file.
func (s *session) read(ctx context.Context, file string) (*metadata, error) {
	f, info, err := safefile.OpenIn(s.Root.Root, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &metadata{}
	if !isLog(file) {
		return m, m.peekObject(f, info.Size())
	}
	add := func(line []byte) {
		r, _ := parse(line)
		m.add(&r)
	}
	_, err = jsonl.Peek(ctx, f, info.Size(), func(line []byte) int64 {
		if add(line); !m.Told || m.First == "" {
			return math.MaxInt64 // what the program says to the model before it may be long
		}
		return 0
	}, add)
	return m, err
}

// peekObject reads the metadata of a file with one object, as far as the beginning has it.
func (m *metadata) peekObject(f io.ReaderAt, size int64) error {
	begin := make([]byte, min(size, 2*jsonl.PeekSize))
	n, err := f.ReadAt(begin, 0)
	if err != nil && err != io.EOF {
		return err
	}
	begin = begin[:n]
	r, whole := parse(begin)
	m.add(&r)
	if whole {
		return nil
	}
	m.messages(cutList(begin))
	m.Told, m.Unsure = m.Told || size > int64(n), true
	return nil
}

// cutList returns the messages of an object that is cut: those before are whole.
func cutList(object []byte) []byte {
	const key = `"messages"`
	i := bytes.Index(object, []byte(key))
	if i < 0 {
		return nil
	}
	return bytes.TrimLeft(object[i+len(key):], ": \t\r\n")
}

func (m *metadata) messages(list []byte) {
	for raw := range jsontext.Elements(list) {
		r, _ := parse(raw)
		m.message(&r)
	}
}

// add adds what a record has for the metadata.
func (m *metadata) add(r *record) {
	switch {
	case r.set != nil:
		var list, title []byte
		jsontext.Read(r.set, jsontext.Value("messages", &list), jsontext.Text("summary", &title))
		last := m.Last
		m.messages(list)
		if m.Told && !last.IsZero() {
			m.Last = last // a list has the time at which it was made
		}
		if len(title) > 0 {
			m.Title = recorded.Title(title)
		}
	case r.isRewind:
		m.Unsure = true
	case r.isMessage:
		m.message(r)
	case r.session != nil || r.messages != nil:
		m.header(r)
		m.messages(r.messages)
	}
}

func (m *metadata) header(r *record) {
	if m.Session != "" {
		return // it is repeated where the session goes on
	}
	m.Session = strings.ToLower(string(r.session))
	m.Agent = string(r.chat) == "subagent"
	m.decoder.agent = m.Agent
	m.Created, _ = transcript.ParseTimestamp(r.start)
	for raw := range jsontext.Elements(r.directories) {
		if text, ok := jsontext.Unquote(raw); ok {
			m.Dir = recorded.Unescape(text)
			break
		}
	}
	if len(r.title) > 0 {
		m.Title = recorded.Title(r.title)
	}
}

func (m *metadata) message(r *record) {
	for _, e := range m.decoder.events(nil, r) {
		m.Told = true
		m.Last = e.Time()
		if m.First == "" && len(e.Pieces) > 0 && (e.Kind == transcript.KindUser || m.Agent) {
			m.First = recorded.Request(e.Pieces[0].Raw)
		}
	}
}
