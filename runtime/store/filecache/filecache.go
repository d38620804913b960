// Package filecache is what is known of the files of a store for lists of its conversations, so that
// nothing is read again while the files are as they were then.
//
// It never decides what is true: a value is handed out only for the very files that it was read
// of, by what the system says of them. It writes nothing: the index of the store keeps what is known.
// Nothing here is ever an error: without it, files are read.
package filecache

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// Shelf has the books of stores. A nil one has none. It is safe for concurrent use.
type Shelf struct {
	load func(kind, place string) []byte

	mu    sync.Mutex
	books map[[2]string]*Book
}

// New returns a shelf of books as they were kept, which load returns.
func New(load func(kind, place string) []byte) *Shelf {
	return &Shelf{load: load, books: map[[2]string]*Book{}}
}

// Of returns what is known of a store, of a kind and at a place.
func (s *Shelf) Of(kind, place string) *Book {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := [2]string{kind, place}
	if s.books[name] == nil {
		s.books[name] = &Book{load: func() []byte { return s.load(kind, place) }}
	}
	return s.books[name]
}

// Book is what is known of the files of a store. A nil one knows nothing. It is safe for concurrent use.
type Book struct {
	load func() []byte
	once sync.Once

	mu     sync.Mutex
	values map[string]*value
	added  int // values, since it was kept
}

// value is what is known under a key.
type value struct {
	stamp, data []byte
	used        bool // somebody asked for it: else its file is gone
}

// maxValue bounds a value, in bytes.
const maxValue = 1 << 20

// get returns what is known under a key of files of a stamp. It is not to be changed.
func (b *Book) get(key string, stamp []byte) ([]byte, bool) {
	b.once.Do(b.read)
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.values[key]
	if v == nil || !bytes.Equal(v.stamp, stamp) {
		return nil, false
	}
	v.used = true
	return v.data, true
}

func (b *Book) put(key string, stamp, data []byte) {
	if len(key)+len(stamp)+len(data) > maxValue {
		return
	}
	b.once.Do(b.read)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.values[key] = &value{stamp, data, true}
	b.added++
}

// IsStale reports whether so much is new that it is worth keeping for itself.
func (b *Book) IsStale() bool {
	if b == nil {
		return false
	}
	const share = 8
	b.mu.Lock()
	defer b.mu.Unlock()
	return share*b.added > len(b.values)
}

// Append appends what is to be kept: all that was asked for.
func (b *Book) Append(data []byte) []byte {
	if b == nil {
		return data
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(b.values)) {
		if v := b.values[key]; v.used {
			for _, part := range [][]byte{[]byte(key), v.stamp, v.data} {
				data = append(binary.AppendUvarint(data, uint64(len(part))), part...)
			}
		}
	}
	b.added = 0
	return data
}

// read reads what was kept.
func (b *Book) read() {
	rest := b.load()
	const usual = 128 // bytes of a value
	b.values = make(map[string]*value, len(rest)/usual)
	var room []value
	for len(rest) > 0 {
		if len(room) == 0 {
			room = make([]value, usual)
		}
		v := &room[0]
		room = room[1:]
		key := part(&rest)
		v.stamp, v.data = part(&rest), part(&rest)
		b.values[string(key)] = v
	}
}

// number cuts a number off data; what is no number is zero, and ends it.
func number(data *[]byte) uint64 {
	n, size := binary.Uvarint(*data)
	if size <= 0 {
		*data = nil
		return 0
	}
	*data = (*data)[size:]
	return n
}

// part cuts bytes off data that are after their number.
func part(data *[]byte) []byte {
	n := min(number(data), uint64(len(*data)))
	v := (*data)[:n:n]
	*data = (*data)[n:]
	return v
}

// Sheet is where something is kept that is read of files.
type Sheet struct {
	book  *Book
	key   string
	stamp []byte
}

// Sheet returns what is kept under a key of files with these stamps, taken before they are read.
func (b *Book) Sheet(key string, files ...Stamp) Sheet {
	s := Sheet{book: b, key: key, stamp: make([]byte, 0, len(files)*stampSize)}
	for _, f := range files {
		if !f.known {
			s.book = nil
		}
		for _, n := range []uint64{f.inode, uint64(f.size), uint64(f.modified), uint64(f.changed)} { //nolint:gosec // the same bits
			s.stamp = binary.LittleEndian.AppendUint64(s.stamp, n)
		}
	}
	return s
}

// stampSize is how many bytes a stamp takes.
const stampSize = 4 * 8

// Version returns a text that is another one when the files have changed.
func (s *Sheet) Version() string { return string(s.stamp) }

// Get reads what was kept of the files as they are into what v points to, and reports whether
// there is anything.
func (s *Sheet) Get(v any) bool {
	if s.book == nil {
		return false
	}
	data, ok := s.book.get(s.key, s.stamp)
	if f, isFields := v.(Fielder); ok && isFields {
		return ReadFields(data, f.Fields())
	}
	return ok && json.Unmarshal(data, v) == nil
}

// Put keeps what was found out by reading the files.
func (s *Sheet) Put(v any) {
	if s.book == nil {
		return
	}
	if f, ok := v.(Fielder); ok {
		s.book.put(s.key, s.stamp, AppendFields(nil, f.Fields()))
	} else if data, err := json.Marshal(v); err == nil {
		s.book.put(s.key, s.stamp, data)
	}
}
