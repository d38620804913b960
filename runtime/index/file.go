package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync/atomic"
)

// A file of an index, a segment or the catalog, is sections, then the checksum of each page, and
// then the footer. A page is checked when a byte of it is first read.

const (
	// version is that of the files. Files of another one are not read.
	version = 4
	// pageSize is how many bytes of a file have a checksum together.
	pageSize = 16 << 10

	magic       = 0x7865646e_69747663 // "cvtindex"
	numSections = 8
)

// footer is the last bytes of a file. Numbers in files are little-endian.
type footer struct {
	Sections [numSections]struct{ Offset, Size uint64 }
	Sums     uint64 // where the checksums of the pages are
	Version  uint32
	Sum      uint32 // of these, and of the footer up to here
	Magic    uint64
}

const (
	footerSize = numSections*16 + 8 + 4 + unsummed
	// unsummed is how many bytes of a footer its own checksum is not of.
	unsummed = 4 + 8
)

// sumOf returns the checksum of the checksums and the footer at the end of a file.
func sumOf(tail []byte) uint32 { return castagnoli(tail[:len(tail)-unsummed]) }

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
	errCut      = errors.New("it is cut")
	errChecksum = errors.New("a checksum does not fit")
	errVersion  = errors.New("another version wrote it")
	errLanguage = errors.New("its words are read in another language")
	errFormat   = errors.New("it is malformed")
)

// guard calls a function that reads files. What reads them panics with a [*DamageError], so that
// not each byte of a file has an error beside it; guard returns that. It is one, too, that the
// system cannot read a page of a mapped file, because somebody cut it or its disk fails.
func guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *DamageError:
			err = p
		case interface{ Addr() uintptr }:
			err = &DamageError{"*" + segmentExt, errCut}
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

// add appends to a section, which is a new one, or the last one.
func (b *fileBuilder) add(section int, data []byte) {
	s := &b.Sections[section]
	if s.Size == 0 {
		s.Offset = uint64(len(b.data))
	}
	b.data = append(b.data, data...)
	s.Size += uint64(len(data))
}

// finish returns the file, and its checksum.
func (b *fileBuilder) finish() (data []byte, sum uint32) {
	b.Sums, b.Version, b.Magic = uint64(len(b.data)), version, magic
	end := len(b.data)
	for from := 0; from < end; from += pageSize {
		b.data = binary.LittleEndian.AppendUint32(b.data, castagnoli(b.data[from:min(from+pageSize, end)]))
	}
	b.data, _ = binary.Append(b.data, binary.LittleEndian, &b.footer)
	sum = sumOf(b.data[end:])
	binary.LittleEndian.PutUint32(b.data[len(b.data)-unsummed:], sum)
	return b.data, sum
}

// file is a file that is read. It is safe for concurrent use.
type file struct {
	footer
	name    string
	data    []byte
	sums    []byte
	checked []atomic.Uint32 // by page, a bit
}

// begin returns a file with some content, once its footer is read.
func begin(name string, data []byte) (*file, error) {
	f := &file{name: name, data: data}
	err := guard(func() error {
		room := len(data) - footerSize
		if room < 0 {
			return &DamageError{name, errCut}
		}
		_, _ = binary.Decode(data[room:], binary.LittleEndian, &f.footer)
		switch pages := (f.Sums + pageSize - 1) / pageSize; {
		case f.Magic != magic:
			return f.damage(errFormat)
		case f.Version != version:
			return f.damage(errVersion)
		case f.Sums > uint64(room) || 4*pages != uint64(room)-f.Sums:
			return f.damage(errFormat)
		case sumOf(data[f.Sums:]) != f.Sum:
			return f.damage(errChecksum)
		default:
			f.sums, f.checked = data[f.Sums:room], make([]atomic.Uint32, pages/32+1)
		}
		for _, s := range f.Sections {
			if s.Offset > f.Sums || s.Size > f.Sums-s.Offset {
				return f.damage(errFormat)
			}
		}
		return nil
	})
	return f, err
}

func (f *file) damage(err error) error { return &DamageError{f.name, err} }

// malformed panics, which is for guard.
func (f *file) malformed() { panic(f.damage(errFormat)) }

// part returns some bytes of a section, once their pages are checked.
func (f *file) part(section int, from, to uint64) []byte {
	at := f.Sections[section]
	if from > to || to > at.Size {
		f.malformed()
	}
	if from == to {
		return nil
	}
	from, to = from+at.Offset, to+at.Offset
	for page := from / pageSize; page <= (to-1)/pageSize; page++ {
		bit := uint32(1) << (page % 32)
		if f.checked[page/32].Load()&bit != 0 {
			continue
		}
		if castagnoli(f.data[page*pageSize:min((page+1)*pageSize, f.Sums)]) != binary.LittleEndian.Uint32(f.sums[4*page:]) {
			panic(f.damage(errChecksum))
		}
		f.checked[page/32].Or(bit)
	}
	return f.data[from:to:to]
}

// all returns a section.
func (f *file) all(section int) []byte { return f.part(section, 0, f.Sections[section].Size) }

// count returns how many records a section has, of some bytes each.
func (f *file) count(section int, each uint64) uint32 {
	size := f.Sections[section].Size
	if size%each != 0 || size/each > maxCount {
		f.malformed()
	}
	return uint32(size / each) //nolint:gosec // at most maxCount
}

// maxCount bounds how many conversations an index has, and how many messages and blocks of lists
// a segment has.
const maxCount = 1 << 30

// ending returns the range that record n has among records whose ends a section has.
func (f *file) ending(section int, n uint32) (from, to uint64) {
	if n == 0 {
		return 0, binary.LittleEndian.Uint64(f.part(section, 0, 8))
	}
	b := f.part(section, 8*uint64(n-1), 8*uint64(n+1))
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}
