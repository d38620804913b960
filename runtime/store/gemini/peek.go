package gemini

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/jsontext"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
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
	size    int64 // of the file, in bytes
	stamp   facts.Stamp
}

// isLog reports whether a file is a log, and not one JSON object.
func isLog(name string) bool { return strings.HasSuffix(name, logExtension) }

// peek reads the metadata of a file.
func (s *session) peek(ctx context.Context, file string) (*metadata, error) {
	f, info, err := safefile.OpenIn(s.root, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &metadata{size: info.Size(), stamp: facts.Of(info)}
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
		buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
		defer buffer.Release()
		err = m.search(ctx, jsonl.NewLines(f, info.Size(), buffer))
	}
	return m, err
}

// search reads lines until a prompt was found: what the program says to the model before
// it may be long.
func (m *metadata) search(ctx context.Context, lines *jsonl.Lines) error {
	found := &metadata{agent: m.agent}
	for offset := int64(0); found.first == ""; {
		line, next, err := lines.At(ctx, offset)
		switch {
		case err == io.EOF:
			m.told = m.told || found.told
			return nil
		case err != nil && !errors.Is(err, jsonl.ErrTooLong):
			return err
		}
		r, _ := parse(line)
		found.add(&r)
		offset = next
	}
	m.told, m.first = true, found.first
	return nil
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
	case r.isSet:
		for x := range jsontext.Members(r.set) {
			text, ok := jsontext.Unquote(x.Value)
			switch {
			case jsontext.KeyIs(x.Key, "messages"):
				last := m.last
				m.messages(x.Value)
				if m.told && !last.IsZero() {
					m.last = last // a list has the time at which it was made
				}
			case jsontext.KeyIs(x.Key, "summary") && ok && len(text) > 0:
				m.title = recorded.Title(text)
			}
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
			m.first = recorded.Title(e.Pieces[0].Raw)
		}
	}
}
