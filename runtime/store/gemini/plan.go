package gemini

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
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

// planned is a message of a plan.
type planned struct {
	record
	own        bool // a line has this message alone, which says more than a list
	compaction bool // of all before, in place of a message
	noise      bool // nothing is told of it, in whatever form it comes again
	dropped    bool // its user went back to before it
	sum        uint64
}

// plan is the messages of a session in the order in which they were said, each as it was
// recorded last. Whatever is in the list that one replaces stays: a program that
// compresses a session forgets what was said, and its user does not.
type plan struct {
	items   []*planned
	index   map[string]int   // by id
	sums    map[uint64][]int // messages of which there is no copy yet, by what they say
	seed    maphash.Seed
	skipped int // lines that are no records
	large   int // those of them that are too long to be read
}

// readPlan reads all lines of a file.
func readPlan(ctx context.Context, name string, f *os.File, size int64) (*plan, error) {
	p := &plan{index: map[string]int{}, sums: map[uint64][]int{}, seed: maphash.MakeSeed()}
	if !isLog(name) {
		r, cut, err := readObject(f, size)
		if cut && size > 0 {
			p.skipped++
		}
		p.list(r.Messages, true)
		return p, err
	}
	err := jsonl.Each(ctx, f, 0, size, func(line []byte, _, _ int64) bool {
		if line == nil {
			p.large++
			p.skipped++
		} else if len(line) > 0 {
			p.line(bytes.Clone(line))
		}
		return true
	})
	return p, err
}

// line applies a line.
func (p *plan) line(line []byte) {
	r, ok := parse(line)
	switch {
	case !ok:
		p.skipped++
	case r.Set != nil:
		p.list(r.Set.Messages, false)
	case r.Rewind != nil:
		from := p.index[jsontext.String(r.Rewind)] // 0, for all messages, where that is not there
		for _, m := range p.items[from:] {
			m.dropped = true
		}
	case r.ID != nil:
		p.message(planned{record: r, own: true})
	case r.Messages != nil:
		p.list(r.Messages, true)
	case r.Session == "":
		p.skipped++
	}
}

// message applies a message: that of an id takes the place of the one before.
func (p *plan) message(m planned) {
	m.sum = p.sum(&m.record)
	i, known := p.index[jsontext.String(m.ID)]
	if !known {
		i = p.append(&m)
	} else if at := p.items[i]; at.noise || at.compaction || !m.own && (at.own || at.sum == m.sum) {
		return
	}
	p.items[i] = &m
	p.sums[m.sum] = append(p.sums[m.sum], i)
}

// append adds a message, and returns its place. One without an id is never meant again.
func (p *plan) append(m *planned) int {
	if id := jsontext.String(m.ID); id != "" {
		p.index[id] = len(p.items)
	}
	p.items = append(p.items, m)
	return len(p.items) - 1
}

// list applies a list of messages. Those behind the summary of what was compressed have
// new ids, though all but the first were there before.
func (p *plan) list(messages jsontext.Raw, own bool) {
	compressed := false // by the message before
	for _, r := range records(messages) {
		m := planned{record: r, own: own}
		id := jsontext.String(r.ID)
		_, known := p.index[id]
		m.compaction = !known && !own && r.isSnapshot()
		m.noise = compressed && r.Type == "gemini" // only that it has read the summary
		compressed = m.compaction
		place := -1
		switch {
		case known || own:
			m.noise = false
		case m.compaction || m.noise:
			place = p.append(&m)
		default:
			place = p.original(p.sum(&r))
		}
		if place < 0 {
			p.message(m)
		} else if id != "" {
			p.index[id] = place
		}
	}
}

// original returns the place of the last message that says what a copy with another id does, or -1.
// It has no other copy.
func (p *plan) original(sum uint64) int {
	for same := p.sums[sum]; len(same) > 0; same = p.sums[sum] {
		i := same[len(same)-1]
		p.sums[sum] = same[:len(same)-1]
		if m := p.items[i]; m.sum == sum && !m.dropped {
			return i
		}
	}
	return -1
}

// sum stands for what a message says, however it is recorded.
func (p *plan) sum(r *record) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.WriteString(r.Type)
	add := func(kind, text string) {
		if text != "" {
			h.WriteString("\x00" + kind + text)
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
	return h.Sum64()
}

// script is the file of a session, or of a sub-agent. It implements [history.Script].
type script struct {
	entry  *entry
	file   *os.File
	opened fs.FileInfo
}

func (e *entry) script(f *os.File, info fs.FileInfo) history.Script { return &script{e, f, info} }

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) error {
	p, err := readPlan(ctx, s.entry.File, s.file, s.opened.Size())
	if err != nil {
		return err
	}
	d := newDecoder(t, s.entry.agent != "")
	t.Totals.Skipped, t.Totals.TooLarge = p.skipped, p.large
	for _, m := range p.items {
		switch {
		case m.dropped || m.noise:
		case m.compaction:
			d.say(transcript.KindCompaction, m.At, nil)
		case t.Stopped:
			return nil
		default:
			d.tell(&m.record)
		}
	}
	return nil
}
