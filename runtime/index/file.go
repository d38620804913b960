package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
)

// A file of an index, a segment or the catalog, has sections, then a checksum for each page, then the footer. The
// checksum of a page is verified when the page is first read.

const (
	// magic ends a file. It changes with the format; files of other formats are not read.
	magic = 0x06646e69_747663 // "cvtind", 6

	pageSize    = 16 << 10
	numSections = 8
	footerSize  = numSections*16 + 8 + 4 + 8
)

// footer is the end of a file. Numbers in files are little-endian.
type footer struct {
	Sections [numSections]struct{ Offset, Size uint64 }
	Sums     uint64 // offset of the checksums of pages
	Sum      uint32 // of the checksums, and of the footer up to here
	Magic    uint64
}

// sumOf returns the checksum of the checksums and the footer at the end of a file.
func sumOf(tail []byte) uint32 { return castagnoli(tail[:len(tail)-4-8]) }

func castagnoli(data []byte) uint32 {
	return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
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
	errChecksum = errors.New("a checksum does not fit")
	errFormat   = errors.New("it is malformed, or of another format")
	errLanguage = errors.New("its words are read in another language")
)

// guard calls a function that reads files, and returns its error. If the function panics with a [*DamageError], guard
// returns that: so methods that read a number of a file need no error result.
func guard(read func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil: // no panic
		case *DamageError:
			err = p
		default:
			panic(p)
		}
	}()
	return read()
}

// fileBuilder makes a file.
type fileBuilder struct {
	footer
	data []byte
}

// reset begins another file.
func (b *fileBuilder) reset() { *b = fileBuilder{data: b.data[:0]} }

// add appends data to a section. The section is new, or the last that data was added to.
func (b *fileBuilder) add(section int, data []byte) {
	s := &b.Sections[section]
	if s.Size == 0 {
		s.Offset = uint64(len(b.data))
	}
	b.data = append(b.data, data...)
	s.Size += uint64(len(data))
}

// finish adds the checksums of pages and the footer. It returns the file, valid until reset, and the footer's checksum.
func (b *fileBuilder) finish() (data []byte, sum uint32) {
	b.Sums, b.Magic = uint64(len(b.data)), magic // Sums is the offset of the checksums of the pages
	end := len(b.data)
	for from := 0; from < end; from += pageSize {
		b.data = binary.LittleEndian.AppendUint32(b.data, castagnoli(b.data[from:min(from+pageSize, end)]))
	}
	b.data, _ = binary.Append(b.data, binary.LittleEndian, &b.footer) // its field Sum is still 0
	sum = sumOf(b.data[end:])                                         // without the last two fields, Sum and Magic
	binary.LittleEndian.PutUint32(b.data[len(b.data)-4-8:], sum)      // Sum has four bytes, and Magic the last eight
	return b.data, sum
}

// file is a file that is read. It is safe for concurrent use.
type file struct {
	footer
	name    string
	content content
	sums    []byte        // the checksums of pages
	checked []atomic.Bool // by page: its checksum was verified
}

// openFile opens a file and reads its footer.
func openFile(files directory, name string) (*file, error) {
	content, err := files.open(name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, content: content}
	if err := guard(f.readFooter); err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return f, nil
}

// readFooter reads and verifies the footer and the checksums of pages.
func (f *file) readFooter() error {
	room := f.content.Len() - footerSize
	if room < 0 {
		return f.damage(errFormat)
	}
	_, _ = binary.Decode(f.read(nil, uint64(room), footerSize), binary.LittleEndian, &f.footer) //nolint:gosec // a size
	pages := (f.Sums + pageSize - 1) / pageSize
	if f.Magic != magic || f.Sums > uint64(room) || 4*pages != uint64(room)-f.Sums { //nolint:gosec // a size
		return f.damage(errFormat)
	}
	tail := f.read(nil, f.Sums, 4*pages+footerSize)
	if sumOf(tail) != f.Sum {
		return f.damage(errChecksum)
	}
	f.sums, f.checked = tail, make([]atomic.Bool, pages)
	for _, s := range f.Sections {
		if s.Offset > f.Sums || s.Size > f.Sums-s.Offset {
			return f.damage(errFormat)
		}
	}
	return nil
}

func (f *file) damage(err error) error { return &DamageError{f.name, err} }

// malformed panics with a [*DamageError] for guard.
func (f *file) malformed() { panic(f.damage(errFormat)) }

// read returns size bytes of the file without verifying them, in the array of a buffer if that is large enough.
func (f *file) read(buffer []byte, from, size uint64) []byte {
	data := resized(buffer, int(size))                                //nolint:gosec // as large as the file at most
	if n, err := f.content.ReadAt(data, int64(from)); n < len(data) { //nolint:gosec // bounded by the size of the file
		panic(f.damage(err))
	}
	return data
}

// part returns the bytes of a section between two offsets. It verifies each page when the page is first read.
func (f *file) part(section int, from, to uint64) []byte { return f.partIn(nil, section, from, to) }

// partIn returns the bytes of a section between two offsets in the section. If the pages with the bytes are verified,
// it reads the bytes into buffer, if they fit. Otherwise it reads whole pages, and verifies the checksum of each.
func (f *file) partIn(buffer []byte, section int, from, to uint64) []byte {
	s := f.Sections[section]
	if from > to || to > s.Size {
		f.malformed()
	}
	if from == to {
		return nil
	}
	from, to = from+s.Offset, to+s.Offset
	first, end := from/pageSize, (to-1)/pageSize+1 // the pages with the bytes
	verified := true
	for page := first; page < end; page++ {
		verified = verified && f.checked[page].Load()
	}
	if verified {
		return f.read(buffer, from, to-from)
	}
	begin := first * pageSize // whole pages are read: checksums are of pages
	data := f.read(nil, begin, min(end*pageSize, f.Sums)-begin)
	for page := first; page < end; page++ {
		content := data[(page-first)*pageSize:]
		if castagnoli(content[:min(pageSize, len(content))]) != binary.LittleEndian.Uint32(f.sums[4*page:]) {
			panic(f.damage(errChecksum))
		}
		f.checked[page].Store(true)
	}
	return data[from-begin : to-begin : to-begin]
}

// all returns a whole section.
func (f *file) all(section int) []byte { return f.part(section, 0, f.Sections[section].Size) }

// count returns the number of records in a section; each record has recordSize bytes.
func (f *file) count(section int, recordSize uint64) uint32 {
	const most = 1 << 30
	size := f.Sections[section].Size
	if size%recordSize != 0 || size/recordSize > most {
		f.malformed()
	}
	return uint32(size / recordSize) //nolint:gosec // at most most
}
