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
		var r record
		r, m.Unsure, err = readObject(f, info.Size())
		m.add(d, &r)
	}
	m.See(&talk)
	if m.Unsure {
		m.Last = time.Time{}
	}
	m.Dir = cmp.Or(m.Dir, e.dir)
	return err
}

// readObject reads a file with one object, and reports whether some of it is missing: what is before
// that counts.
func readObject(f io.ReaderAt, size int64) (r record, cut bool, err error) {
	data := make([]byte, min(size, jsonl.MaxLine))
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return r, true, err
	}
	r, whole := parse(data[:n])
	if !whole {
		_, list, _ := bytes.Cut(data[:n], []byte(`"messages"`))
		r.Messages = bytes.TrimLeft(list, ": \t\r\n")
	}
	return r, !whole, nil
}

// add adds what a record has for the metadata.
func (m *metadata) add(d *decoder, r *record) {
	list := r.Messages
	switch {
	case r.Set != nil:
		list = r.Set.Messages
		m.Title = cmp.Or(history.Title(r.Set.Summary), m.Title)
	case r.Rewind != nil:
		m.Unsure = true
	case r.ID != nil:
		d.tell(r)
	case m.UUID == "": // it is repeated where the session goes on
		m.UUID = strings.ToLower(r.Session)
		m.Created, m.Title = r.Start, history.Title(r.Summary)
		if len(r.Directories) > 0 {
			m.Dir = r.Directories[0]
		}
		d.talk.Agent = d.talk.Agent || r.Kind == "subagent"
	}
	last := d.talk.Last
	for _, r := range records(list) {
		d.tell(&r)
	}
	if r.Set != nil && !last.IsZero() {
		d.talk.Last = last // a list has the time at which it was made
	}
}
