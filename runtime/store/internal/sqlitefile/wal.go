package sqlitefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// The form of a write-ahead log, from https://www.sqlite.org/fileformat2.html#walformat.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // the lowest bit is set where checksums are big-endian
	walVersion      = 3007000
	minPageSize     = 512
	maxPageSize     = 64 << 10
)

func isPageSize(n int64) bool { return minPageSize <= n && n <= maxPageSize && n&(n-1) == 0 }

// wal is what of a write-ahead log is committed. It implements [overlay].
type wal struct {
	file     *os.File
	header   [walHeaderSize]byte
	pageSize int64
	pages    int64            // of the database with the log
	frames   map[uint32]int64 // offset of the last frame of a page
}

// readWAL reads a log up to its last commit. It returns nil where nothing is committed
// in it.
func readWAL(file *os.File) (*wal, error) {
	w := &wal{file: file, frames: map[uint32]int64{}}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, math.MaxInt64), 256<<10)
	if _, err := io.ReadFull(in, w.header[:]); err != nil {
		return nil, notShort(err)
	}
	magic := binary.BigEndian.Uint32(w.header[0:])
	w.pageSize = int64(binary.BigEndian.Uint32(w.header[8:]))
	if magic&^1 != walMagic || binary.BigEndian.Uint32(w.header[4:]) != walVersion || !isPageSize(w.pageSize) {
		return nil, nil
	}
	sum := checksum{order: binary.LittleEndian}
	if magic&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(w.header[:24])
	if !sum.is(w.header[24:]) {
		return nil, nil
	}
	frame := make([]byte, frameHeaderSize+w.pageSize)
	begun := map[uint32]int64{} // frames that are not committed yet
	for offset := int64(walHeaderSize); ; offset += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); err != nil {
			return w.committed(), notShort(err)
		}
		page, pages := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		sum.add(frame[:8])
		sum.add(frame[frameHeaderSize:])
		if page == 0 || !w.has(frame) || !sum.is(frame[16:]) {
			return w.committed(), nil
		}
		begun[page] = offset
		if pages == 0 {
			continue
		}
		w.pages = int64(pages)
		for page, offset := range begun {
			w.frames[page] = offset
		}
		clear(begun)
	}
}

// notShort returns nil for the error of a file that ends.
func notShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (w *wal) committed() *wal {
	if w.pages == 0 {
		return nil
	}
	return w
}

// has reports whether a frame was written since the log was begun: both have the same
// salt.
func (w *wal) has(frame []byte) bool { return bytes.Equal(frame[8:16], w.header[16:24]) }

func (w *wal) layout() layout { return layout{w.pageSize, w.pages} }

func (w *wal) holds(page uint32) bool { return w.frames[page] != 0 }

func (w *wal) read(b []byte, page uint32, within int64) error {
	offset := w.frames[page]
	switch _, err := w.file.ReadAt(b, offset+frameHeaderSize+within); {
	case err == io.EOF:
		return ErrChanged // the owner cut it
	case err != nil:
		return err
	}
	// The owner writes the head of a frame before its page: as long as it is the one that
	// was there, so was the page.
	var head [frameHeaderSize]byte
	if _, err := w.file.ReadAt(head[:], offset); err != nil || !w.has(head[:]) || binary.BigEndian.Uint32(head[:]) != page {
		return ErrChanged
	}
	return nil
}

func (w *wal) current() bool {
	var header [walHeaderSize]byte
	_, err := w.file.ReadAt(header[:], 0)
	return err == nil && header == w.header
}

// checksum is the running checksum of a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.s0 += c.order.Uint32(data) + c.s1
		c.s1 += c.order.Uint32(data[4:]) + c.s0
	}
}

// is reports whether the checksum is the stored one, which is always big-endian.
func (c *checksum) is(stored []byte) bool {
	return c.s0 == binary.BigEndian.Uint32(stored) && c.s1 == binary.BigEndian.Uint32(stored[4:])
}
