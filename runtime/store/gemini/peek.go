package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// peekSize is how many bytes are read of the beginning and of the end of a file for its
// metadata.
const peekSize = 32 << 10

// metadata is what is known of a session from the beginning and the end of its file.
type metadata struct {
	session string // uuid
	dir     string // of the first working directory, where that is recorded
	agent   bool
	created time.Time
	title   string
	first   string // prompt
	told    bool   // something is said in it
	last    time.Time
	unsure  bool // when the last event happened does not follow from the end
	decoder decoder
	stamp   facts.Stamp
}

// isLog reports whether a file is a log, and not one JSON object.
func isLog(name string) bool { return strings.HasSuffix(name, logExtension) }

// peek reads the metadata of a file.
func (s *session) peek(ctx context.Context, file string) (*metadata, error) {
	f, info, err := safefile.OpenIn(s.Root.Root, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &metadata{stamp: facts.Of(info)}
	if !isLog(file) {
		return m, m.peekObject(f, info.Size())
	}
	ends, err := jsonl.ReadEnds(f, info.Size(), peekSize, nil)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{ends.Head, ends.Tail} {
		for line := range bytes.SplitSeq(part, []byte("\n")) {
			r, _ := parse(line) // of a line that is cut, what stands before
			m.add(&r)
		}
	}
	if !ends.Whole && (!m.told || m.first == "") {
		err = m.search(ctx, jsonl.NewLines(f, info.Size()))
	}
	return m, err
}

// search reads lines until a prompt was found: what the program says to the model before
// it may be long.
func (m *metadata) search(ctx context.Context, lines *jsonl.Lines) error {
	found := &metadata{agent: m.agent}
	err := jsonl.Each(ctx, lines, func(line []byte, _, _ int64) bool {
		r, _ := parse(line)
		found.add(&r)
		return found.first == ""
	})
	m.told, m.first = m.told || found.told, cmp.Or(found.first, m.first)
	return err
}

// peekObject reads the metadata of a file with one object, as far as the beginning has it.
func (m *metadata) peekObject(f io.ReaderAt, size int64) error {
	begin := make([]byte, min(size, 2*peekSize))
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
	m.told, m.unsure = m.told || size > int64(n), true
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
		last := m.last
		m.messages(list)
		if m.told && !last.IsZero() {
			m.last = last // a list has the time at which it was made
		}
		if len(title) > 0 {
			m.title = recorded.Title(title)
		}
	case r.isRewind:
		m.unsure = true
	case r.isMessage:
		m.message(r)
	case r.session != nil || r.messages != nil:
		m.header(r)
		m.messages(r.messages)
	}
}

func (m *metadata) header(r *record) {
	if m.session != "" {
		return // it is repeated where the session goes on
	}
	m.session = strings.ToLower(string(r.session))
	m.agent = string(r.chat) == "subagent"
	m.decoder.agent = m.agent
	m.created, _ = transcript.ParseTimestamp(r.start)
	for raw := range jsontext.Elements(r.directories) {
		if text, ok := jsontext.Unquote(raw); ok {
			m.dir = recorded.Unescape(text)
			break
		}
	}
	if len(r.title) > 0 {
		m.title = recorded.Title(r.title)
	}
}

func (m *metadata) message(r *record) {
	for _, e := range m.decoder.events(nil, r) {
		m.told = true
		m.last = e.Time()
		if m.first == "" && len(e.Pieces) > 0 && (e.Kind == transcript.KindUser || m.agent) {
			m.first = recorded.Request(e.Pieces[0].Raw)
		}
	}
}
