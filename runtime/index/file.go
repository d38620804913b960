package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync/atomic"
)

// A segment is a file of sections, each read as a whole or in ranges; behind them the
// checksum of each page, and the footer. A page is checked when a byte of it is first read.

// version is that of the files. Files of another one are not read.
const version = 3

// pageSize is how many bytes of a file have a checksum together.
const pageSize = 16 << 10

const magic = 0x7865646e_69747663 // "cvtindex"

// The sections of a segment. Numbers in them are little-endian.
const (
	secText             = iota // codes of what is stored of messages, one after the other
	secSymbols                 // that these stand for
	secSeconds                 // by message: Unix time, int64; noTime where there is none
	secNanoseconds             // by message: uint32
	secOwner                   // by message: number of its conversation, uint32
	secNumbers                 // by message: number of its event, uint32
	secKinds                   // by message: a byte
	secEnds                    // by message: where its bytes end among those of all messages, uint64
	secConversations           // records of conversations, by their keys
	secConversationEnds        // by conversation: where its record ends, uint64
	secTitles                  // titles of conversations, with end behind each
	secTitleEnds               // by conversation: where its title ends, that byte left out, uint64
	secListBlocks              // by block of lists: first gram, uint32; where its entries and its lists begin, uint64 each; and one more behind the last
	secListEntries             // entries of lists
	secLists                   // lists of documents, which are messages, and behind them titles
	numSections
)

// footer is the last bytes of a segment.
type footer struct {
	Sections      [numSections]struct{ Offset, Size uint64 }
	Sums, NumSums uint64 // where the checksums of the pages stand, and how many there are
	SumOfSums     uint32
	Messages      uint32
	Conversations uint32
	ListBlocks    uint32
	Version       uint32
	Sum           uint32 // of the footer up to here
	Magic         uint64
}

// footerSize is how many bytes a footer has.
const footerSize = numSections*16 + 16 + 6*4 + 8

func castagnoli(sum uint32, data []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), data)
}

// DamageError is the error for an index that cannot be used.
type DamageError struct {
	File string // its base name
	Err  error
}

func (e *DamageError) Error() string { return fmt.Sprintf("index file %s: %v", e.File, e.Err) }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

var (
	errCut      = errors.New("it is cut")
	errChecksum = errors.New("a checksum does not fit")
	errVersion  = errors.New("another version wrote it")
	errLanguage = errors.New("its words are read in another language")
	errFormat   = errors.New("it is malformed")
)

// fileWriter writes the sections of a segment one after the other.
type fileWriter struct {
	footer
	w       *bufio.Writer
	offset  uint64
	section int
	sum     uint32 // of the page, up to here
	sums    []byte
}

func newFileWriter(w io.Writer) *fileWriter {
	return &fileWriter{w: bufio.NewWriterSize(w, 1<<18)}
}

// Write implements [io.Writer]. Errors of writing are those of finish.
func (w *fileWriter) Write(p []byte) (int, error) {
	written := len(p)
	_, _ = w.w.Write(p)
	for len(p) > 0 {
		n := min(uint64(len(p)), pageSize-w.offset%pageSize)
		w.sum = castagnoli(w.sum, p[:n])
		if w.offset += n; w.offset%pageSize == 0 {
			w.endPage()
		}
		p = p[n:]
	}
	return written, nil
}

func (w *fileWriter) endPage() {
	w.sums = binary.LittleEndian.AppendUint32(w.sums, w.sum)
	w.sum = 0
}

// begin begins a section, and ends the one before.
func (w *fileWriter) begin(section int) {
	w.endSection()
	w.section = section
	w.Sections[section].Offset = w.offset
}

func (w *fileWriter) endSection() {
	s := &w.Sections[w.section]
	s.Size = w.offset - s.Offset
}

// at returns where the next byte stands in the section.
func (w *fileWriter) at() uint64 { return w.offset - w.Sections[w.section].Offset }

func (w *fileWriter) uint32(n uint32) { _, _ = w.Write(binary.LittleEndian.AppendUint32(nil, n)) }
func (w *fileWriter) uint64(n uint64) { _, _ = w.Write(binary.LittleEndian.AppendUint64(nil, n)) }

// finish writes the checksums and the footer, and returns how large the file is and the
// checksum of the footer.
func (w *fileWriter) finish() (size int64, sum uint32, err error) {
	w.endSection()
	if w.offset%pageSize != 0 {
		w.endPage()
	}
	w.Sums, w.NumSums, w.SumOfSums = w.offset, uint64(len(w.sums)/4), castagnoli(0, w.sums)
	w.Version, w.Magic = version, magic
	data, err := binary.Append(nil, binary.LittleEndian, &w.footer)
	if err != nil {
		return 0, 0, err
	}
	const behind = 4 + 8 // the sum, the magic number
	at := len(data) - behind
	sum = castagnoli(0, data[:at])
	binary.LittleEndian.PutUint32(data[at:], sum)
	_, _ = w.w.Write(w.sums)
	_, _ = w.w.Write(data)
	return int64(w.offset) + int64(len(w.sums)+len(data)), sum, w.w.Flush()
}

// file is a segment that is read. It is safe for concurrent use.
type file struct {
	footer
	name    string
	users   int // views
	data    []byte
	close   func()
	sums    []byte
	checked []atomic.Uint32 // by page, a bit
	kinds   atomic.Uint64   // of its messages; 0 before somebody asked
}

// openFile opens a segment.
func openFile(files directory, n *named) (*file, error) {
	data, done, err := files.open(n.File, n.Size)
	if err != nil {
		return nil, err
	}
	s := &file{name: n.File, users: 1, data: data, close: done}
	if err := guard(s.begin, n.Sum); err != nil {
		done()
		return nil, &DamageError{n.File, err}
	}
	return s, nil
}

// begin reads the footer.
func (s *file) begin(sum uint32) error {
	const behind = 4 + 8
	raw := s.data[len(s.data)-footerSize:]
	if _, err := binary.Decode(raw, binary.LittleEndian, &s.footer); err != nil {
		return err
	}
	switch {
	case s.Magic != magic:
		return errFormat
	case s.Version != version:
		return errVersion
	case s.Sum != sum, castagnoli(0, raw[:footerSize-behind]) != sum:
		return errChecksum
	}
	room := uint64(len(s.data) - footerSize)
	if s.Sums > room || s.NumSums != (room-s.Sums)/4 || s.NumSums != (s.Sums+pageSize-1)/pageSize {
		return errFormat
	}
	s.sums = s.data[s.Sums:room]
	if castagnoli(0, s.sums) != s.SumOfSums {
		return errChecksum
	}
	for _, section := range s.Sections {
		if section.Offset > s.Sums || section.Size > s.Sums-section.Offset {
			return errFormat
		}
	}
	s.checked = make([]atomic.Uint32, s.NumSums/32+1)
	for section, each := range map[int]uint64{
		secSeconds: 8, secNanoseconds: 4, secOwner: 4, secNumbers: 4, secKinds: 1, secEnds: 4,
	} {
		if s.Sections[section].Size != each*uint64(s.Messages) {
			return errFormat
		}
	}
	if s.Sections[secConversationEnds].Size != 8*uint64(s.Conversations) || s.Sections[secTitleEnds].Size != 8*uint64(s.Conversations) ||
		s.Sections[secListBlocks].Size != 20*uint64(s.ListBlocks+1) {
		return errFormat
	}
	return nil
}

// part returns some bytes of a section, once their pages are checked.
func (s *file) part(section int, from, to uint64) ([]byte, error) {
	at := s.Sections[section]
	if from > to || to > at.Size {
		return nil, &DamageError{s.name, errFormat}
	}
	if from == to {
		return nil, nil
	}
	from, to = from+at.Offset, to+at.Offset
	for page := from / pageSize; page <= (to-1)/pageSize; page++ {
		bit := uint32(1) << (page % 32)
		if s.checked[page/32].Load()&bit != 0 {
			continue
		}
		content := s.data[page*pageSize : min((page+1)*pageSize, s.Sums)]
		if castagnoli(0, content) != binary.LittleEndian.Uint32(s.sums[4*page:]) {
			return nil, &DamageError{s.name, errChecksum}
		}
		s.checked[page/32].Or(bit)
	}
	return s.data[from:to:to], nil
}

// all returns a section.
func (s *file) all(section int) ([]byte, error) { return s.part(section, 0, s.Sections[section].Size) }
