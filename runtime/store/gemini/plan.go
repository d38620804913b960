package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// metadata is the metadata of a session, from the beginning and the end of its file.
type metadata struct {
	history.Session
	UUID   string
	Unsure bool // the end does not have the time of the last event
}

// Peek implements [history.Listed].
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	to := history.Recorder{}
	m, d := &e.Meta, newDecoder(&to, e.agent != "")
	if strings.HasSuffix(e.File, logExtension) {
		wanted := func() bool { return to.Request == "" }
		_, err = jsonl.Peek(ctx, f, size, wanted, func(line []byte) {
			r, _ := parse(line)
			m.add(d, &r)
		})
	} else {
		var r record
		r, m.Unsure, err = readObject(f, size)
		m.add(d, &r)
	}
	m.Note(&to)
	if m.Unsure {
		m.Last = time.Time{}
	}
	m.Dir = cmp.Or(m.Dir, e.dir)
	return m.Dir, err
}

// readObject reads a file with one object. If a part of it is missing, it returns the messages before
// that, and true.
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

// add adds the metadata in a record.
func (m *metadata) add(d *decoder, r *record) {
	list := r.Messages
	switch {
	case r.Set != nil:
		list = r.Set.Messages
		m.Title = cmp.Or(title(r.Set.Summary), m.Title)
	case r.Rewind != nil:
		m.Unsure = true
	case r.ID != nil:
		d.decode(r)
	case m.UUID == "": // the header is repeated where a session is resumed
		m.UUID = strings.ToLower(r.Session)
		m.Created, m.Title = r.Start, title(r.Summary)
		if len(r.Directories) > 0 {
			m.Dir = r.Directories[0]
		}
		d.To.Agent = d.To.Agent || r.Kind == "subagent"
	}
	last := d.To.Last
	for _, r := range records(list) {
		d.decode(&r)
	}
	if r.Set != nil && !last.IsZero() {
		d.To.Last = last // a list has the time when it was written
	}
}

// title returns the first line of a summary.
func title(summary string) string {
	const most = 100 // characters
	first, _, _ := strings.Cut(store.Request(summary), "\n")
	return text.Cut(first, most)
}

// message is a message of a plan.
type message struct {
	record
	own        bool   // a line has only this message: it has more than a list has
	compaction bool   // it is the summary of the messages before it
	noise      bool   // it has no events, in no form in which it comes again
	dropped    bool   // the user went back to before it
	identity   string // see [record.identity]
}

// plan is the messages of a session in their order, each as it was recorded last. A message stays when
// a list without it is recorded: the program forgets what it compresses, the user does not.
type plan struct {
	items  []*message
	index  map[string]int   // by id
	copies map[string][]int // messages that have no copy yet, by their identities
}

// decode adds the events of a session or a sub-agent.
func (e *entry) decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	f, size, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	p := &plan{index: map[string]int{}, copies: map[string][]int{}}
	if strings.HasSuffix(e.File, logExtension) {
		err = to.LinesOf(ctx, f, size, func(line []byte, _ int64) bool { return p.line(bytes.Clone(line)) })
	} else {
		var r record
		var cut bool
		r, cut, err = readObject(f, size)
		if cut && size > 0 {
			to.Totals.Skipped++
		}
		p.list(r.Messages, true)
	}
	if err != nil {
		return err
	}
	d := newDecoder(to, e.agent != "")
	for _, m := range p.items {
		switch {
		case m.dropped || m.noise:
		case m.compaction:
			d.Text(transcript.KindCompaction, m.At, nil)
		default:
			d.decode(&m.record)
		}
	}
	return nil
}

// line applies a line, and returns false if it is no known record.
func (p *plan) line(line []byte) bool {
	r, ok := parse(line)
	switch {
	case !ok:
		return false
	case r.Set != nil:
		p.list(r.Set.Messages, false)
	case r.Rewind != nil:
		from := p.index[jsontext.String(r.Rewind)] // an unknown id drops all messages
		for _, m := range p.items[from:] {
			m.dropped = true
		}
	case r.ID != nil:
		p.put(message{record: r, own: true})
	case r.Messages != nil:
		p.list(r.Messages, true)
	default:
		return r.Session != ""
	}
	return true
}

// put adds a message, or puts it in the place of the one with its id.
func (p *plan) put(m message) {
	m.identity = m.record.identity()
	i, known := p.index[jsontext.String(m.ID)]
	if !known {
		i = p.append(&m)
	} else if at := p.items[i]; at.noise || at.compaction || !m.own && (at.own || at.identity == m.identity) {
		return
	}
	p.items[i] = &m
	p.copies[m.identity] = append(p.copies[m.identity], i)
}

// append adds a message, and returns its place. No later record refers to one without an id.
func (p *plan) append(m *message) int {
	if id := jsontext.String(m.ID); id != "" {
		p.index[id] = len(p.items)
	}
	p.items = append(p.items, m)
	return len(p.items) - 1
}

// list applies a list of messages. After the summary of what was compressed, messages have new ids,
// though all of them except the first are copies of earlier ones.
func (p *plan) list(messages jsontext.Raw, own bool) {
	compressed := false // by the message before
	for _, r := range records(messages) {
		m := message{record: r, own: own}
		id := jsontext.String(r.ID)
		_, known := p.index[id]
		m.compaction = !known && !own && r.isSnapshot()
		m.noise = compressed && r.Type == "gemini" // the model has read the summary
		compressed = m.compaction
		place := -1
		switch {
		case known || own:
			m.noise = false
		case m.compaction || m.noise:
			place = p.append(&m)
		default:
			place = p.original(r.identity())
		}
		if place < 0 {
			p.put(m)
		} else if id != "" {
			p.index[id] = place
		}
	}
}

// original returns the place of the last message with an identity that has no other copy, or -1.
func (p *plan) original(identity string) int {
	for same := p.copies[identity]; len(same) > 0; same = p.copies[identity] {
		i := same[len(same)-1]
		p.copies[identity] = same[:len(same)-1]
		if m := p.items[i]; m.identity == identity && !m.dropped {
			return i
		}
	}
	return -1
}

// identity returns the content of a message in a form that is the same for all forms in which it is
// recorded.
func (r *record) identity() string {
	parts := []string{r.Type}
	add := func(kind, text string) {
		if text != "" {
			parts = append(parts, kind+text)
		}
	}
	for _, part := range r.parts() {
		switch {
		case part.Call != nil:
			add("c", part.Call.ID)
		case part.Response != nil:
			add("r", part.Response.ID)
		case !part.Thought:
			add("t", string(part.Text))
		}
	}
	for i := range r.Calls {
		add("c", r.Calls[i].ID)
	}
	return strings.Join(parts, "\x00")
}
