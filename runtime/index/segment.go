package index

import (
	"encoding/binary"
	"sync"
	"time"
)

// The sections of a segment.
const (
	secTexts   = iota // encoded texts, one after the other
	secSymbols        // the symbols of the codes
	secExtras         // extra data, one after the other
	secRows           // a row for each message, the newest first
	secOwners         // parts of conversations, uint32
	secBlocks
	secEntries
	secLists
)

// rows has a row for each message: the Unix time, int64; the nanoseconds, the number of the event, the end of the
// text and the end of the extra data, uint32; the place of its part among the owners, uint16; the kind, a byte.
type rows []byte

const rowSize = 8 + 4*4 + 2 + 1

func appendRow(b []byte, m *message, textEnd, extraEnd int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Time.Unix())) //nolint:gosec // the same bits
	for _, n := range [...]int{m.Time.Nanosecond(), int(m.Number), textEnd, extraEnd} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n)) //nolint:gosec // a segment is below 4 GB
	}
	return append(binary.LittleEndian.AppendUint16(b, m.owner), m.Kind)
}

func (r rows) uint32(n uint32, at int) uint32 {
	return binary.LittleEndian.Uint32(r[int(n)*rowSize+at:])
}

func (r rows) time(n uint32) time.Time {
	return time.Unix(int64(binary.LittleEndian.Uint64(r[int(n)*rowSize:])), int64(r.uint32(n, 8))).UTC() //nolint:gosec // the same bits
}

func (r rows) number(n uint32) uint32 { return r.uint32(n, 12) }
func (r rows) owner(n uint32) uint16  { return binary.LittleEndian.Uint16(r[int(n)*rowSize+24:]) }
func (r rows) kind(n uint32) uint8    { return r[int(n)*rowSize+26] }

// text and extra return the places of the text and the extra data of message n in their sections.
func (r rows) text(n uint32) (from, to uint64)  { return r.between(n, 16) }
func (r rows) extra(n uint32) (from, to uint64) { return r.between(n, 20) }

// between returns where a value of message n begins and ends in its section. The row of a message has the end of the
// value, at an offset. The value begins where that of the message before ends.
func (r rows) between(n uint32, offset int) (from, to uint64) {
	if n > 0 {
		from = uint64(r.uint32(n-1, offset))
	}
	return from, uint64(r.uint32(n, offset))
}

// segment is a file of messages.
type segment struct {
	*file
	named
	messages uint32    // at least one
	newest   time.Time // the time of the first message
	owners   []uint32  // parts of conversations
	load     func() *tables
}

// tables are the sections that are read as a whole when the segment is first searched.
type tables struct {
	rows    rows
	extras  []byte
	blocks  []byte
	symbols *symbols
}

// openSegment opens the file of a segment. The error is a [*DamageError] if it is not the file that the catalog names.
func openSegment(files directory, n named) (*segment, error) {
	f, err := openFile(files, n.file())
	if err != nil {
		return nil, err
	}
	s := &segment{file: f, named: n}
	s.load = sync.OnceValue(s.readTables)
	return s, guard(func() error {
		if f.Sum != n.Sum {
			return s.damage(errChecksum)
		}
		owners := s.all(secOwners)
		for i := range s.count(secOwners, 4) {
			s.owners = append(s.owners, binary.LittleEndian.Uint32(owners[4*i:]))
		}
		s.messages = s.count(secRows, rowSize)
		s.newest = rows(s.part(secRows, 0, rowSize)).time(0)
		return nil
	})
}

// readTables returns the tables of the segment. If they are malformed, it panics: guard makes an error of the panic.
func (s *segment) readTables() *tables {
	t := &tables{s.all(secRows), s.all(secExtras), s.all(secBlocks), &symbols{}}
	if s.count(secBlocks, blockSize) == 0 || !t.symbols.parse(s.all(secSymbols)) {
		s.malformed()
	}
	for n := range s.messages {
		if int(t.rows.owner(n)) >= len(s.owners) {
			s.malformed()
		}
	}
	return t
}

// texts reads the messages of a segment. It is for one goroutine.
type texts struct {
	*segment
	*tables
	message uint32 // the message that text is of
	text    []byte // the text that was read last; nil before the first one
	codes   []byte // encoded texts: a part of the section, from the offset start
	start   uint64
}

func (s *segment) texts() texts { return texts{segment: s, tables: s.load()} }

// read returns the text of a message, which is valid until the next call.
func (t *texts) read(message uint32) []byte {
	if t.text == nil || t.message != message {
		from, to := t.rows.text(message)
		t.message, t.text = message, t.symbols.decode(t.text[:0], t.encoded(from, to))
	}
	return t.text
}

// encoded returns the encoded texts between two offsets, valid until the next call. If they begin less than readAhead
// bytes after t.codes, it reads readAhead bytes more: the next calls probably go on from there.
func (t *texts) encoded(from, to uint64) []byte {
	const readAhead = 8 << 10
	end := t.start + uint64(len(t.codes))
	if from > to {
		t.malformed()
	}
	if from < t.start || to > end {
		readTo := to
		if from >= end && from-end < readAhead {
			readTo = max(to, min(to+readAhead, t.Sections[secTexts].Size)) // if to is after the section, partIn panics
		}
		buffer := t.codes
		t.codes = nil // the buffer is undefined if the read fails
		t.codes, t.start = t.partIn(buffer, secTexts, from, readTo), from
	}
	return t.codes[from-t.start : to-t.start]
}

// extra returns the extra data of a message. It must not be changed.
func (t *texts) extra(message uint32) []byte {
	from, to := t.rows.extra(message)
	if from > to || to > uint64(len(t.extras)) {
		t.malformed()
	}
	return t.extras[from:to:to]
}

// scored returns message n without its score.
func (t *texts) scored(n uint32) Scored {
	return Scored{Number: t.rows.number(n), Kind: t.rows.kind(n), Time: t.rows.time(n), segment: t.segment, message: n}
}
