package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// metadata is what is known of a session from the beginning and the end of its file.
type metadata struct {
	history.Session
	UUID   string
	Unsure bool // when the last event happened does not follow from the end
}

// isLog reports whether a file is a log, and not one JSON object.
func isLog(name string) bool { return strings.HasSuffix(name, logExtension) }

// Where implements [history.Listed].
func (e *entry) Where() string { return e.Meta.Dir }

// Peek implements [history.Listed].
func (e *entry) Peek(ctx context.Context, root *history.Root) error {
	f, info, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	talk := history.Talk{}
	m, d := &e.Meta, newDecoder(&talk, e.agent != "")
	if isLog(e.File) {
		_, err = history.PeekLines(ctx, f, info.Size(), &talk, func(line []byte) {
			r, _ := parse(line)
			m.add(d, &r)
		}, func() bool { return !talk.Told || talk.Request == "" }) // what the program says to the model before it may be long
	} else {
		err = m.addObject(d, f, info.Size())
	}
	m.See(&talk)
	if m.Unsure {
		m.Last = time.Time{}
	}
	m.Dir = cmp.Or(m.Dir, e.dir)
	return err
}

// addObject adds what a file with one object has, as far as its beginning has it.
func (m *metadata) addObject(d *decoder, f io.ReaderAt, size int64) error {
	begin := make([]byte, min(size, 2*jsonl.PeekSize))
	n, err := f.ReadAt(begin, 0)
	if err != nil && err != io.EOF {
		return err
	}
	begin = begin[:n]
	r, whole := parse(begin)
	if !whole {
		r.Messages = cutList(begin)
	}
	m.add(d, &r)
	if !whole {
		d.talk.Told, m.Unsure = d.talk.Told || size > int64(n), true
	}
	return nil
}

// cutList returns the messages of an object that is cut: those before are whole.
func cutList(object []byte) jsontext.Raw {
	_, list, _ := bytes.Cut(object, []byte(`"messages"`))
	return bytes.TrimLeft(list, ": \t\r\n")
}

// add adds what a record has for the metadata.
func (m *metadata) add(d *decoder, r *record) {
	list := r.Messages
	switch {
	case r.Set != nil:
		last := d.talk.Last
		for _, r := range records(r.Set.Messages) {
			d.tell(&r)
		}
		if d.talk.Told && !last.IsZero() {
			d.talk.Last = last // a list has the time at which it was made
		}
		if r.Set.Summary != "" {
			m.Title = history.Title(r.Set.Summary)
		}
		return
	case r.Rewind != nil:
		m.Unsure = true
		return
	case r.ID != nil:
		d.tell(r)
		return
	case m.UUID == "": // it is repeated where the session goes on
		m.UUID = strings.ToLower(r.Session)
		m.Created, m.Title = r.Start, history.Title(r.Summary)
		if len(r.Directories) > 0 {
			m.Dir = r.Directories[0]
		}
		d.talk.Agent = d.talk.Agent || r.Kind == "subagent"
	}
	for _, r := range records(list) {
		d.tell(&r)
	}
}
