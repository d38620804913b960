package gemini

import (
	"context"
	"hash/maphash"
	"io"
	"os"

	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// newReader returns a reader of a file: of one with a JSON object, that is the only line.
func newReader(name string, file *os.File, size int64) jsonl.Reader {
	if isLog(name) {
		return jsonl.NewLines(file, size)
	}
	return &object{file: file, size: size}
}

// object is a file with one JSON object.
type object struct {
	file *os.File
	size int64
	held []byte // all of it
}

// At implements [jsonl.Reader].
func (o *object) At(ctx context.Context, offset int64) ([]byte, int64, error) {
	switch {
	case offset > 0 || o.size == 0:
		return nil, 0, io.EOF
	case o.size > jsonl.MaxLine:
		return nil, o.size, jsonl.ErrTooLong
	case o.held != nil:
		return o.held, o.size, nil
	}
	data := make([]byte, o.size)
	n, err := o.file.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	o.held = data[:n]
	return o.held, o.size, nil
}

// planned is a message of a plan.
type planned struct {
	offset     int64 // of the line that has it
	start, end int   // in the line
	own        bool  // the line has this message alone, which says more than a list
	compaction bool  // of all before, in place of a message
	noise      bool  // nothing is told of it, in whatever form it comes again
	dropped    bool  // its user went back to before it
	sum        uint64
}

// plan is the messages of a session in the order in which they were said, each as it was
// recorded last.
type plan struct {
	items   []planned
	index   map[string]int   // by id
	sums    map[uint64][]int // messages of which there is no copy yet, by what they say
	seed    maphash.Seed
	skipped int // lines that are no records
	large   int // those of them that are too long to be read
}

// readPlan reads all lines of a file.
func readPlan(ctx context.Context, lines jsonl.Reader) (*plan, error) {
	p := &plan{index: map[string]int{}, sums: map[uint64][]int{}, seed: maphash.MakeSeed()}
	err := jsonl.Each(ctx, lines, func(line []byte, offset, _ int64) bool {
		if line == nil || len(line) > 0 {
			p.add(lines, line, offset)
		}
		return true
	})
	return p, err
}

// add applies a line. Whatever is in the list that one replaces stays: a program that
// compresses a session forgets what was said, and its user does not.
func (p *plan) add(lines jsonl.Reader, line []byte, offset int64) {
	if line == nil {
		p.large++
	}
	r, ok := parse(line)
	switch {
	case !ok:
		p.skipped++
		if _, isObject := lines.(*object); isObject {
			p.list(line, cutList(line), offset, true)
		}
	case r.set != nil:
		p.list(line, jsontext.Get(r.set, "messages"), offset, false)
	case r.isRewind:
		p.rewind(string(r.rewind))
	case r.isMessage:
		p.message(&r, planned{offset: offset, end: len(line), own: true})
	case r.messages != nil:
		p.list(line, r.messages, offset, true)
	case r.session == nil:
		p.skipped++
	}
}

// message applies a message: that of an id takes the place of the one before.
func (p *plan) message(r *record, at planned) {
	at.sum = p.sum(r)
	i, known := p.index[string(r.id)]
	switch {
	case !known:
		i = p.append(r, at)
	case p.items[i].noise || p.items[i].compaction || p.items[i].own && !at.own || p.items[i].sum == at.sum && !at.own:
		return
	default:
		p.items[i] = at
	}
	p.sums[at.sum] = append(p.sums[at.sum], i)
}

// append adds an item for a message. One without an id is never meant again.
func (p *plan) append(r *record, at planned) int {
	i := len(p.items)
	p.items = append(p.items, at)
	if len(r.id) > 0 {
		p.index[string(r.id)] = i
	}
	return i
}

// list applies a list of messages. Those behind the summary of what was compressed have
// new ids, though all but the first were there before.
func (p *plan) list(line, messages []byte, offset int64, own bool) {
	compressed := false // by the message before
	for raw := range jsontext.Elements(messages) {
		r, _ := parse(raw)
		start := within(line, raw)
		at := planned{offset: offset, start: start, end: start + len(raw), own: own}
		_, known := p.index[string(r.id)]
		answers := compressed && r.is("gemini")
		compressed = false
		switch {
		case known || own:
			p.message(&r, at)
		case r.isSnapshot():
			compressed, at.compaction = true, true
			p.append(&r, at)
		case answers: // only that it has read the summary
			at.noise = true
			p.append(&r, at)
		default:
			if i := p.original(p.sum(&r)); i >= 0 {
				p.index[string(r.id)] = i
			} else {
				p.message(&r, at)
			}
		}
	}
}

// within returns where a part of a line begins: what follows it in memory is the same.
func within(line, part []byte) int { return cap(line) - cap(part) }

// original returns the last message that says what a copy with another id does, or -1.
// It has no other copy.
func (p *plan) original(sum uint64) int {
	same := p.sums[sum]
	for len(same) > 0 {
		i := same[len(same)-1]
		same = same[:len(same)-1]
		p.sums[sum] = same
		if p.items[i].sum == sum && !p.items[i].dropped {
			return i
		}
	}
	return -1
}

// rewind drops a message and all behind it; all messages where it is not there.
func (p *plan) rewind(id string) {
	from := p.index[id] // 0 for one that is not there
	for i := from; i < len(p.items); i++ {
		p.items[i].dropped = true
	}
}

// sum stands for what a message says, however it is recorded.
func (p *plan) sum(r *record) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.Write(r.kind)
	add := func(kind byte, raw []byte) {
		if len(raw) > 0 {
			h.WriteByte(0)
			h.WriteByte(kind)
			h.Write(raw)
		}
	}
	contents(r.content, func(c *content) bool {
		switch {
		case c.call != nil:
			add('c', jsontext.GetText(c.call, "id"))
		case c.response != nil:
			add('r', jsontext.GetText(c.response, "id"))
		case !c.thought:
			add('t', c.text)
		}
		return true
	})
	for raw := range jsontext.Elements(r.calls) {
		add('c', jsontext.GetText(raw, "id"))
	}
	return h.Sum64()
}
