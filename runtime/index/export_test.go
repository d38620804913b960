package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// SetLimits makes the parts of an index so small that a test has several.
func (x *Index) SetLimits(segment, messages int) {
	x.limits = limits{segment: segment, messages: messages, shard: max(segment/16, 5)}
}

// Dead returns how many conversations are removed and still on the disk, each as often as it is.
func (v *View) Dead() (n int) {
	for i := range v.segments {
		n += v.segments[i].Dead.count()
	}
	return n
}

// ErrFull is the error of a disk that is full.
var ErrFull = errors.New("the disk is full")

// Fill makes the disk full once some bytes are written.
func (x *Index) Fill(room int) {
	x.files = &full{x.files, &room}
}

type full struct {
	directory
	room *int
}

func (f *full) create(name string) (output, error) {
	o, err := f.directory.create(name)
	return &filling{o, f.room}, err
}

type filling struct {
	output
	room *int
}

func (f *filling) Write(p []byte) (int, error) {
	n, err := f.output.Write(p[:min(len(p), *f.room)])
	if *f.room -= n; err == nil && n < len(p) {
		err = ErrFull
	}
	return n, err
}

// RoundTrip encodes a text with symbols for samples, stores and reads these, and decodes it.
func RoundTrip(samples [][]byte, text []byte) (decoded []byte, codes int, ok bool) {
	var e encoder
	e.train(samples)
	s, ok := parseSymbols(e.symbols.append(nil))
	if !ok {
		return nil, 0, false
	}
	encoded := e.append(nil, text)
	return s.decode([]byte("before"), encoded)[len("before"):], len(encoded), true
}

// Differences writes a list of messages, and reads it again.
func Differences(list []uint32, messages uint32) (read []uint32, ok bool) {
	var w bitWriter
	last := uint32(0)
	for _, n := range list {
		w.difference(n-last, lowBits(uint32(len(list)), messages))
		last = n + 1
	}
	w.flush()
	m := make(set, messages/64+1)
	ok = addDifferences(m, append(w.data, make([]byte, behindLists)...), uint32(len(list)), messages)
	for n := m.next(0, messages); n < messages; n = m.next(n+1, messages) {
		read = append(read, n)
	}
	return read, ok
}

// Gathered returns how many bytes are held beside a text once the lists of it are made, in parts
// of some bytes.
func Gathered(text []byte, shard int) (held int) {
	b := builder{limits: limits{shard: shard}, added: []added{{text: text}}}
	var l lists
	var g gatherer
	l.index(&b, &g)
	held = 4*cap(g.found) + 4*cap(g.pairs) + 2*cap(g.documents) + cap(g.folded)
	for _, s := range l.shards {
		held += cap(s.data)
	}
	return held
}

// FooterSizes returns how large a footer is taken to be, and how large it is.
func FooterSizes() (taken, is int) { return footerSize, binary.Size(footer{}) }

// ReadDifferences reads a list of documents.
func ReadDifferences(data []byte, count, documents uint32) (list []uint32, ok bool) {
	m := make(set, documents/64+1)
	ok = addDifferences(m, append(data[:len(data):len(data)], make([]byte, behindLists)...), count, documents)
	for n := m.next(0, documents); n < documents; n = m.next(n+1, documents) {
		list = append(list, n)
	}
	return list, ok
}

// ReadSymbols reads symbols, and decodes codes with them.
func ReadSymbols(symbols, codes []byte) {
	if s, ok := parseSymbols(symbols); ok {
		s.decode(nil, codes)
	}
}

// ReadRecord reads the record of a conversation.
func ReadRecord(data []byte) bool { return new(Conversation).parseRecord(data) }

// SealManifest returns a manifest with a body.
func SealManifest(body []byte) []byte {
	return append(fmt.Appendf(nil, "convtools index %d %x\n", version, castagnoli(0, body)), body...)
}

// Reseal makes the checksums of a segment and of the manifest fit, as far as its footer can be
// read.
func Reseal(segment, manifest []byte, name string) (sealed, sealedManifest []byte) {
	var f footer
	raw := segment[len(segment)-footerSize:]
	_, _ = binary.Decode(raw, binary.LittleEndian, &f)
	room := uint64(len(segment) - footerSize)
	if f.Sums <= room {
		sums := segment[f.Sums:room]
		for page := uint64(0); page*pageSize < f.Sums && 4*page+4 <= uint64(len(sums)); page++ {
			binary.LittleEndian.PutUint32(sums[4*page:], castagnoli(0, segment[page*pageSize:min((page+1)*pageSize, f.Sums)]))
		}
		f.SumOfSums = castagnoli(0, sums)
	}
	raw, _ = binary.Append(nil, binary.LittleEndian, &f)
	f.Sum = castagnoli(0, raw[:footerSize-12])
	raw, _ = binary.Append(nil, binary.LittleEndian, &f)
	copy(segment[len(segment)-footerSize:], raw)

	_, body, _ := bytes.Cut(manifest, []byte("\n"))
	var m struct {
		Version, Sequence int
		State             State
		Segments          []*named
	}
	_ = json.Unmarshal(body, &m)
	for _, s := range m.Segments {
		if s.File == name {
			s.Sum = f.Sum
		}
	}
	body, _ = json.Marshal(m)
	return segment, SealManifest(body)
}
