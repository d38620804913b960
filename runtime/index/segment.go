package index

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/index/terms"
)

// The sections of a segment.
const (
	secTexts   = iota // codes of texts, one after the other
	secSymbols        // that these stand for
	secExtras         // what else is stored of messages, one after the other
	secRows           // by message, the newest first: a row
	secOwners         // parts of conversations, uint32
	secBlocks
	secEntries
	secLists
)

// rows has of each message the Unix time, noTime where there is none, int64; the nanoseconds, the
// number of its event, and where its text and what else is stored of it end, uint32; the place of
// its part among the owners, uint16; and its kind, a byte.
type rows []byte

const rowSize = 8 + 4*4 + 2 + 1

func appendRow(b []byte, m *message, textEnd, extraEnd int) []byte {
	seconds, nanoseconds := unixOf(m.Time)
	b = binary.LittleEndian.AppendUint64(b, uint64(seconds))                                  //nolint:gosec // the same bits
	for _, n := range [...]uint32{nanoseconds, m.Number, uint32(textEnd), uint32(extraEnd)} { //nolint:gosec // checked once the segment is whole
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(binary.LittleEndian.AppendUint16(b, m.owner), m.Kind)
}

func (r rows) uint32(n uint32, at int) uint32 {
	return binary.LittleEndian.Uint32(r[int(n)*rowSize+at:])
}

func (r rows) time(n uint32) time.Time {
	return timeOf(int64(binary.LittleEndian.Uint64(r[int(n)*rowSize:])), r.uint32(n, 8)) //nolint:gosec // the same bits
}

func (r rows) number(n uint32) uint32 { return r.uint32(n, 12) }
func (r rows) owner(n uint32) uint16  { return binary.LittleEndian.Uint16(r[int(n)*rowSize+24:]) }
func (r rows) kind(n uint32) uint8    { return r[int(n)*rowSize+26] }

// text and extra return where those of a message are.
func (r rows) text(n uint32) (from, to uint64)  { return r.between(n, 16) }
func (r rows) extra(n uint32) (from, to uint64) { return r.between(n, 20) }

func (r rows) between(n uint32, at int) (from, to uint64) {
	if n > 0 {
		from = uint64(r.uint32(n-1, at))
	}
	return from, uint64(r.uint32(n, at))
}

// segment is a file of messages.
type segment struct {
	*file
	*named
	close    func()
	messages uint32
	owners   []uint32        // parts of conversations
	numbers  func() []uint32 // of the conversations that have these, in the catalog of a view
	symbols  func() *symbols
}

// openSegment opens a segment.
func openSegment(files directory, n *named) (*segment, error) {
	data, done, err := files.open(n.File, n.Size)
	if err != nil {
		return nil, err
	}
	s := &segment{named: n, close: done}
	s.symbols = sync.OnceValue(s.readSymbols)
	if s.file, err = begin(n.File, data); err == nil {
		err = guard(func() error {
			if s.file.Sum != n.Sum {
				return s.damage(errChecksum)
			}
			s.messages = s.count(secRows, rowSize)
			for n := s.count(secOwners, 4); n > uint32(len(s.owners)); { //nolint:gosec // a count
				s.owners = append(s.owners, binary.LittleEndian.Uint32(s.all(secOwners)[4*len(s.owners):]))
			}
			if s.count(secBlocks, blockSize) == 0 {
				s.malformed()
			}
			return nil
		})
	}
	if err != nil {
		done()
		return nil, err
	}
	return s, nil
}

// write writes the segment.
func (n *named) write(files directory, b *builder, reader *terms.Reader) (*segment, error) {
	data, sum, err := b.file(reader)
	if err != nil {
		return nil, err
	}
	n.Size, n.Sum = int64(len(data)), sum
	if err := files.write(n.File, data); err != nil {
		return nil, err
	}
	return openSegment(files, n)
}

func (s *segment) readSymbols() *symbols {
	symbols, ok := parseSymbols(s.all(secSymbols))
	if !ok {
		s.malformed()
	}
	return symbols
}

// texts reads the messages of a segment. It is for one goroutine.
type texts struct {
	*segment
	rows    rows
	message uint32 // of text
	text    []byte // nil before the first one
}

// load reads what is known of all messages beside their texts.
func (t *texts) load() {
	if t.rows == nil {
		t.rows = t.all(secRows)
	}
}

// owner returns the place of the part that a message is of.
func (t *texts) owner(message uint32) uint16 {
	place := t.rows.owner(message)
	if int(place) >= len(t.owners) {
		t.malformed()
	}
	return place
}

// read returns the text of a message, which is valid until the next call.
func (t *texts) read(message uint32) []byte {
	t.load()
	if t.text == nil || t.message != message {
		from, to := t.rows.text(message)
		t.message, t.text = message, t.symbols().decode(t.text[:0], t.part(secTexts, from, to))
	}
	return t.text
}

// extra returns what else is stored of a message.
func (t *texts) extra(message uint32) []byte {
	t.load()
	from, to := t.rows.extra(message)
	return t.part(secExtras, from, to)
}
