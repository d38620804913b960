package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// SetLimits makes segments so small that a test has several.
func (x *Index) SetLimits(segment, messages int) {
	x.limits = limits{segment: segment, messages: messages}
}

// Dead returns the number of removed parts of conversations in all segments.
func (v *View) Dead() (n int) {
	for _, s := range v.segments {
		for _, c := range s.conversations {
			if c == nil {
				n++
			}
		}
	}
	return n
}

// ErrFull is the error of a disk that is full.
var ErrFull = errors.New("the disk is full")

// Fill makes the disk full after some bytes.
func (x *Index) Fill(room int) {
	x.files = &full{x.files, &room}
}

type full struct {
	directory
	room *int
}

func (f *full) write(name string, data []byte) error {
	n := min(len(data), *f.room)
	*f.room -= n
	if n < len(data) {
		return errors.Join(ErrFull, f.directory.write(".convtools-0123456789abcdef", data[:n]))
	}
	return f.directory.write(name, data)
}

// RoundTrip encodes a text with symbols for samples, stores and reads the symbols, and decodes it.
func RoundTrip(samples [][]byte, text []byte) (decoded []byte, codes int, ok bool) {
	var e encoder
	e.train(samples)
	var s symbols
	if !s.parse(e.symbols.append(nil)) {
		return nil, 0, false
	}
	encoded := e.append(nil, text)
	return s.decode([]byte("before"), encoded)[len("before"):], len(encoded), true
}

// Differences writes a list of messages, and reads it again.
func Differences(list []uint16, messages uint32) (read []uint16, ok bool) {
	w := listWriter{documents: messages}
	w.addList(0, list)
	return ReadDifferences(w.lists, uint32(len(list)), messages)
}

// FooterSizes returns the constant size of a footer and the actual one.
func FooterSizes() (taken, is int) { return footerSize, binary.Size(footer{}) }

// ReadDifferences reads a list of documents.
func ReadDifferences(data []byte, count, documents uint32) (list []uint16, ok bool) {
	err := guard(func() error {
		c := cursor{document: noDocument, left: count, documents: documents, low: lowBits(count, documents), file: &file{}}
		c.data = append(data[:len(data):len(data)], make([]byte, afterLists)...)
		for c.next(); c.document != noDocument; c.next() {
			list = append(list, uint16(c.document))
		}
		return nil
	})
	return list, err == nil
}

// ReadSymbols reads symbols, and decodes codes with them.
func ReadSymbols(stored, codes []byte) {
	if s := new(symbols); s.parse(stored) {
		s.decode(nil, codes)
	}
}

// ReadRecord reads the record of a conversation.
func ReadRecord(data []byte) bool {
	r := reader{data, true}
	readRecord(&r)
	return r.ok
}

// Reseal corrects the checksums of a file, if its footer can be read, and returns the checksum of the footer.
func Reseal(data []byte) (sum uint32) {
	var f footer
	room := len(data) - footerSize
	_, _ = binary.Decode(data[room:], binary.LittleEndian, &f)
	if f.Sums > uint64(room) {
		return 0
	}
	for from, at := 0, int(f.Sums); from < int(f.Sums) && at+4 <= room; from, at = from+pageSize, at+4 {
		binary.LittleEndian.PutUint32(data[at:], castagnoli(data[from:min(from+pageSize, int(f.Sums))]))
	}
	sum = sumOf(data[f.Sums:])
	binary.LittleEndian.PutUint32(data[len(data)-4-8:], sum)
	return sum
}

// WithContents returns a catalog with other contents.
func WithContents(data []byte, change func([]byte) []byte) []byte {
	m := newMemory()
	_ = m.write(catalogFile, data)
	f, err := openFile(m, catalogFile)
	if err != nil {
		return data
	}
	var b fileBuilder
	for section := range numSections {
		content := f.all(section)
		if section == secContents {
			content = change(content)
		}
		b.add(section, content)
	}
	data, _ = b.finish()
	return data
}

// WithSum returns a catalog with another checksum of a segment.
func WithSum(data []byte, name string, sum uint32) []byte {
	return WithContents(data, func(old []byte) []byte {
		var c contents
		_ = json.Unmarshal(old, &c)
		for i, s := range c.Segments {
			if s.file() == name {
				c.Segments[i].Sum = sum
			}
		}
		changed, _ := json.Marshal(c)
		return changed
	})
}

// OtherFormat returns a file with the magic of another format.
func OtherFormat(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)-8]++
	Reseal(data)
	return data
}
