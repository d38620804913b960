package sqlitefile

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"os"
)

// The form of a rollback journal, from https://www.sqlite.org/fileformat2.html#the_rollback_journal.
const (
	journalMagic      = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	journalHeaderSize = 28
	maxSectorSize     = 64 << 10
	toTheEnd          = 0xffffffff // count of pages where they go to the end of the file
)

// journal is the pages that a transaction which has not ended has changed, as they were
// before. It implements [overlay].
type journal struct {
	file   *os.File
	header [journalHeaderSize]byte
	size   layout
	pages  map[uint32]int64 // offset of the content of a page
}

// readJournal reads a journal. It returns nil where there is no transaction.
func readJournal(file *os.File) (*journal, error) {
	j := &journal{file: file, pages: map[uint32]int64{}}
	for offset := int64(0); ; {
		next, err := j.segment(offset)
		if err != nil {
			return nil, err
		}
		if next == 0 {
			break
		}
		offset = next
	}
	if j.size.pageSize == 0 {
		return nil, nil
	}
	return j, nil
}

// segment reads the header at an offset, and the pages behind it. It returns where the
// next header may be, or 0 where there is none.
func (j *journal) segment(offset int64) (next int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, offset, math.MaxInt64-offset), 256<<10)
	var header [journalHeaderSize]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return 0, notShort(err)
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(header[at:]) }
	count, nonce, sector, pageSize := word(8), word(12), int64(word(20)), int64(word(24))
	if string(header[:8]) != journalMagic || !isPageSize(pageSize) || sector < journalHeaderSize || sector > maxSectorSize {
		return 0, nil
	}
	if offset == 0 {
		j.header, j.size = header, layout{pageSize, int64(word(16))}
	} else if pageSize != j.size.pageSize {
		return 0, nil
	}
	if _, err := io.CopyN(io.Discard, in, sector-journalHeaderSize); err != nil {
		return 0, notShort(err)
	}
	offset += sector
	record := make([]byte, 4+pageSize+4)
	for n := uint32(0); n < count || count == toTheEnd; n++ {
		if _, err := io.ReadFull(in, record); err != nil {
			return 0, notShort(err)
		}
		page, content := binary.BigEndian.Uint32(record), record[4:4+pageSize]
		sum := nonce
		for at := pageSize - 200; at > 0; at -= 200 {
			sum += uint32(content[at])
		}
		if page == 0 || sum != binary.BigEndian.Uint32(record[4+pageSize:]) {
			return 0, nil
		}
		if _, ok := j.pages[page]; !ok {
			j.pages[page] = offset + 4
		}
		offset += int64(len(record))
	}
	return (offset + sector - 1) / sector * sector, nil
}

func (j *journal) layout() layout { return j.size }

func (j *journal) holds(page uint32) bool { return j.pages[page] != 0 }

func (j *journal) read(b []byte, page uint32, within int64) error {
	switch _, err := j.file.ReadAt(b, j.pages[page]+within); {
	case err == io.EOF:
		return ErrChanged // the owner cut it
	case err != nil:
		return err
	case !j.current():
		return ErrChanged
	}
	return nil
}

// current reports whether the journal is of the same transaction still: its header has a
// random number.
func (j *journal) current() bool {
	var header [journalHeaderSize]byte
	_, err := j.file.ReadAt(header[:], 0)
	return err == nil && header == j.header
}
