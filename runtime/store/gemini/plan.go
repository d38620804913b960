package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"slices"
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

// Peek implements [history.Listed]: it sets the metadata of the session, and returns the working directory, or "".
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	to := history.Recorder{}
	isAgent := e.agent != "" // the file is that of a sub-agent
	m, d := &e.Meta, newDecoder(&to, isAgent)
	if strings.HasSuffix(e.File, logExtension) {
		_, err = jsonl.Peek(ctx, f, size, to.NeedsRequest, func(line []byte) {
			r, _ := jsontext.Parse[record](line)
			m.addRecord(d, &r)
		})
	} else { // a file of an older version: one JSON object
		var r record
		r, m.Unsure, err = readObject(f, size)
		m.addRecord(d, &r)
	}
	m.Note(&to)   // sets m.Last to the time of the last event that was read
	if m.Unsure { // it may not be that of the last event of the session
		m.Last = time.Time{}
	}
	m.Dir = cmp.Or(m.Dir, e.dir) // e.dir is the directory of the project's folder
	return m.Dir, err
}

// readObject returns the record in a file with one object. If the object is cut, the record has only the messages
// before the end of the file.
func readObject(f io.ReaderAt, size int64) (r record, cut bool, err error) {
	data := make([]byte, min(size, jsonl.MaxLine))
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return r, true, err
	}
	r, whole := jsontext.Parse[record](data[:n])
	if !whole {
		_, list, _ := bytes.Cut(data[:n], []byte(`"messages"`))
		r.Messages = bytes.TrimLeft(list, ": \t\r\n")
	}
	return r, !whole, nil
}

// addRecord adds what a record says of its session to the metadata, and its messages to the recorder of d. A record is
// a change, a rewind, a message or a header. If a session was resumed, it has several headers: the first counts.
func (m *metadata) addRecord(d *decoder, r *record) {
	list := r.Messages
	switch {
	case r.Set != nil:
		list = r.Set.Messages
		m.Title = cmp.Or(title(r.Set.Summary), m.Title)
	case r.Rewind != nil:
		m.Unsure = true // the last events may be undone
	case r.ID != nil:
		d.message(r)
	case m.UUID == "": // the first header
		m.UUID = strings.ToLower(r.Session)
		m.Created, m.Title = r.Start, title(r.Summary)
		if len(r.Directories) > 0 {
			m.Dir = r.Directories[0]
		}
		d.To.Agent = d.To.Agent || r.Kind == "subagent"
	}
	last := d.To.Last
	for _, listed := range records(list) {
		d.message(&listed)
	}
	if r.Set != nil && !last.IsZero() {
		d.To.Last = last // messages in a change have the time of the change, not their own
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
	single map[string][]int // the places of messages of which no copy was found yet, by their identities
}

// decode adds the events of the session or the sub-agent to a recorder.
func (e *entry) decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	f, size, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	p := &plan{index: map[string]int{}, single: map[string][]int{}}
	if strings.HasSuffix(e.File, logExtension) {
		err = to.LinesOf(ctx, f, size, func(line []byte, _ int64) bool { return p.applyLine(bytes.Clone(line)) }) // messages keep parts of it
	} else {
		var r record
		var cut bool
		r, cut, err = readObject(f, size)
		if cut && size > 0 { // an empty file has lost nothing
			to.Totals.Skipped++
		}
		p.applyList(r.Messages, true)
	}
	if err != nil {
		return err
	}
	d := newDecoder(to, e.agent != "")
	for _, m := range p.items {
		switch {
		case m.dropped || m.noise: // no events
		case m.compaction:
			d.To.AddText(transcript.KindCompaction, m.At, nil)
		default:
			d.message(&m.record)
		}
	}
	return nil
}

// applyLine applies the record in a line to the plan. It returns false if the line is no known record.
func (p *plan) applyLine(line []byte) bool {
	r, ok := jsontext.Parse[record](line)
	switch {
	case !ok:
		return false
	case r.Set != nil:
		p.applyList(r.Set.Messages, false) // the messages can be copies of earlier ones, with new ids
	case r.Rewind != nil:
		from := p.index[jsontext.String(r.Rewind)] // 0 for an unknown id: all messages are dropped
		for _, m := range p.items[from:] {
			m.dropped = true
		}
	case r.ID != nil:
		p.put(message{record: r, own: true}) // own: the line has all that is recorded of the message
	case r.Messages != nil:
		p.applyList(r.Messages, true) // these messages have all that is recorded of them
	default:
		return r.Session != "" // the header
	}
	return true
}

// put adds m to the plan, or replaces the message with the same id. A message recorded whole (own) replaces any message;
// another replaces only a message that is not whole and has another content. Noise and a compaction are kept.
func (p *plan) put(m message) {
	m.identity = m.record.identity()
	i, known := p.index[jsontext.String(m.ID)]
	if known {
		old := p.items[i]
		isChange := !old.own && old.identity != m.identity // identity stands for the content
		if isBetter := m.own || isChange; old.noise || old.compaction || !isBetter {
			return
		}
	} else {
		i = p.append(&m)
	}
	p.items[i] = &m
	p.single[m.identity] = append(p.single[m.identity], i)
}

// append adds a message, and returns its place. No later record refers to a message without an id.
func (p *plan) append(m *message) int {
	if id := jsontext.String(m.ID); id != "" {
		p.index[id] = len(p.items)
	}
	p.items = append(p.items, m)
	return len(p.items) - 1
}

// applyList applies a list of messages to the plan. own says that the messages have all that is recorded of them. If
// not, messages with unknown ids need not be new: after a compression, a list has the summary (m.compaction), the
// model's answer to the summary, which is left out (m.noise), and copies of earlier messages with new ids.
func (p *plan) applyList(messages jsontext.Raw, own bool) {
	isAfterSummary := false
	for _, r := range records(messages) {
		m := message{record: r, own: own}
		id := jsontext.String(r.ID)
		_, known := p.index[id]
		canBeCopy := !known && !own
		m.compaction = canBeCopy && r.isSnapshot()
		m.noise = canBeCopy && isAfterSummary && r.Type == "gemini"
		isAfterSummary = m.compaction
		place := -1 // -1 until m, or the message that m is a copy of, has a place in the plan
		switch {
		case m.compaction || m.noise:
			place = p.append(&m)
		case canBeCopy:
			place = p.original(r.identity()) // or -1
		}
		if place < 0 {
			p.put(m)
		} else if id != "" {
			p.index[id] = place
		}
	}
}

// original returns the place of the last message with the content that an identity stands for, or -1. It returns a
// message once. Messages that the user dropped, or that were replaced by one with another content, do not count.
func (p *plan) original(identity string) int {
	for i, place := range slices.Backward(p.single[identity]) {
		p.single[identity] = p.single[identity][:i] // the places before: the message here has a copy now
		if m := p.items[place]; m.identity == identity && !m.dropped {
			return place
		}
	}
	return -1
}

// identity returns a text that is equal for messages with the same content, in whatever form they are recorded: the
// type, the texts, and the ids of calls ("c") and of results ("r").
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
