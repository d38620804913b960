package sqlitetable

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/convtools/convtools/runtime/store"
)

const (
	// blockSize is how many bytes are read at a time, where they are needed.
	blockSize = 256 << 10
	// partSize is how many bytes of these are looked at at a time: the second look finds
	// them in the nearest cache of a processor.
	partSize = 24 << 10
	// maxGap is how many pages on another leaf is read together with one.
	maxGap = 8
	// chainSize is how many bytes are read at a time of what has no room in a leaf.
	chainSize = 64 << 10
)

// reader reads leaves for one goroutine.
type reader struct {
	*sieve
	block, chain window
	text         []byte // of a column that has no room in a leaf, a part of it
}

// window is a part of the file.
type window struct {
	data  []byte
	first uint32 // page; 0 for none
}

// page returns a page of the window, or nil.
func (w *window) page(page uint32, size int64) []byte {
	at := (int64(page) - int64(w.first)) * size
	if w.first == 0 || at < 0 || at+size > int64(len(w.data)) {
		return nil
	}
	return w.data[at : at+size]
}

// fill reads some pages.
func (w *window) fill(s *sieve, first uint32, pages int64) error {
	size := int(pages * s.pageSize)
	if cap(w.data) < size {
		w.data = make([]byte, size)
	}
	w.data, w.first = w.data[:size], 0
	if err := s.read(w.data, first); err != nil {
		return err
	}
	w.first = first
	return nil
}

// sift looks at all rows of some leaves.
func (r *reader) sift(ctx context.Context, leaves []uint32) error {
	most := max(blockSize/r.pageSize, 1)
	step := max(partSize/r.pageSize, 1)
	slices.Sort(leaves)
	for len(leaves) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Those that are near are read together, with what stands between them.
		first, n := leaves[0], 1
		for n < len(leaves) && leaves[n]-leaves[n-1] <= maxGap && int64(leaves[n]-first) < most {
			n++
		}
		if err := r.block.fill(r.sieve, first, int64(leaves[n-1]-first)+1); err != nil {
			return err
		}
		partEnd, inPart := int64(0), false
		for _, page := range leaves[:n] {
			// A row is in one page, but for what has no room in it.
			if at := int64(page - first); at >= partEnd {
				partEnd = at + step
				inPart = r.may(r.block.data[at*r.pageSize : min(partEnd*r.pageSize, int64(len(r.block.data)))])
			}
			if err := r.leaf(page, inPart); err != nil {
				return err
			}
		}
		leaves = leaves[n:]
	}
	return nil
}

// leaf looks at the rows of a leaf, which is in the block. any is false where nothing in the
// page itself is what is looked for.
func (r *reader) leaf(page uint32, any bool) error {
	data := r.block.page(page, r.pageSize)
	if data[0] != leaf {
		return damaged(page, "not a leaf of a table")
	}
	any = any && r.may(data)
	data = data[:r.usable]
	count := int(binary.BigEndian.Uint16(data[3:]))
	if leafHeader+2*count > len(data) {
		return damaged(page, "number of cells")
	}
	left := int64(len(data)) // for cells: none has a byte of another one
	for i := range count {
		at := int(binary.BigEndian.Uint16(data[leafHeader+2*i:]))
		if at >= len(data) {
			return damaged(page, "place of a cell")
		}
		cell := data[at:]
		size, n := uvarint(cell)
		rowid, m := uvarint(cell[n:])
		if n == 0 || m == 0 || size > uint64(r.Size) { //nolint:gosec // not negative
			return damaged(page, "a cell")
		}
		cell = cell[n+m:]
		local := r.local(int64(size)) //nolint:gosec // in range
		overflows := local < int64(size)
		if local > int64(len(cell)) || overflows && local+4 > int64(len(cell)) {
			return damaged(page, "a cell that ends behind its page")
		}
		if left -= int64(n+m) + local; left < 0 {
			return damaged(page, "cells in the place of others")
		}
		holds, err := false, error(nil)
		if overflows {
			holds, err = r.long(cell[:local], int64(size), binary.BigEndian.Uint32(cell[local:]))
		} else {
			holds = r.short(cell[:local], any)
		}
		if err != nil {
			return err
		}
		if holds && !r.found(int64(rowid)) { //nolint:gosec // its bits are those of a signed one
			return errEnough
		}
	}
	return nil
}

// local returns how many bytes of a record of a size are in a leaf.
func (s *sieve) local(size int64) int64 {
	usable := int64(s.usable)
	if size <= usable-35 {
		return size
	}
	least := (usable-12)*32/255 - 23
	if k := least + (size-least)%(usable-4); k <= usable-35 {
		return k
	}
	return least
}

// short reports whether a record may have what is looked for. any is false where no text
// and no blob in it has.
func (r *reader) short(record []byte, any bool) bool {
	for _, column := range r.Columns {
		start, size, known := locate(record, column)
		if !known || start+size > int64(len(record)) {
			return true
		}
		if any && size > 0 && r.may(record[start:start+size]) {
			return true
		}
	}
	return false
}

// long is short of a record that goes on in other pages.
func (r *reader) long(local []byte, size int64, next uint32) (bool, error) {
	start, end := size, int64(0) // of all that is looked at
	for _, column := range r.Columns {
		from, length, known := locate(local, column)
		if !known || length > size-from {
			return true, nil
		}
		if length > 0 {
			start, end = min(start, from), max(end, from+length)
		}
	}
	r.text = r.text[:0]
	for at, piece := int64(0), local; ; {
		if low, high := max(start-at, 0), min(end-at, int64(len(piece))); low < high {
			r.text = append(r.text, piece[low:high]...)
		}
		at += int64(len(piece))
		if at >= end {
			return r.may(r.text), nil
		}
		if len(r.text) >= chainSize {
			if r.may(r.text) {
				return true, nil
			}
			r.text = r.text[:copy(r.text, r.text[len(r.text)-store.SiftOverlap:])]
		}
		data, err := r.chained(next)
		if err != nil {
			return false, err
		}
		next = binary.BigEndian.Uint32(data)
		piece = data[4:r.usable]
		piece = piece[:min(int64(len(piece)), size-at)]
	}
}

// chained returns a page that a record goes on in. Each is of one record: there cannot be
// more of them than pages.
func (r *reader) chained(page uint32) ([]byte, error) {
	if r.overflow.Add(1) > r.pages {
		return nil, damaged(page, "of several rows")
	}
	if data := r.block.page(page, r.pageSize); data != nil {
		return data, nil
	}
	if data := r.chain.page(page, r.pageSize); data != nil {
		return data, nil
	}
	pages := min(max(chainSize/r.pageSize, 1), int64(r.pages)-int64(page)+1)
	if err := r.chain.fill(r.sieve, page, max(pages, 1)); err != nil {
		return nil, err
	}
	return r.chain.page(page, r.pageSize), nil
}

// locate returns where in a record the text or the blob of a column is, as far as its
// beginning tells: size is 0 for NULL. known is false for a number, for a column that is
// not recorded, and where the beginning is too short.
func locate(record []byte, column int) (start, size int64, known bool) {
	header, n := uvarint(record)
	if n == 0 || header > uint64(len(record)) {
		return 0, 0, false
	}
	start = int64(header) //nolint:gosec // in range
	types := record[n:max(int(header), n)]
	for i := 0; ; i++ {
		kind, n := uvarint(types)
		if n == 0 {
			return 0, 0, false
		}
		types = types[n:]
		const bytes, most = 12, 1 << 40 // from which on it is a size; none is as large as that
		size = 0
		switch {
		case kind >= most:
			return 0, 0, false
		case kind >= bytes:
			size = int64(kind-bytes) / 2 //nolint:gosec // in range
		default:
			size = int64([bytes]byte{0, 1, 2, 3, 4, 6, 8, 8}[kind])
		}
		if i == column {
			return start, size, kind == 0 || kind >= bytes
		}
		start += size
	}
}

// uvarint reads a number of up to 9 bytes. n is 0 where there is none.
func uvarint(data []byte) (value uint64, n int) {
	for i, b := range data {
		if i == 8 {
			return value<<8 | uint64(b), 9
		}
		value = value<<7 | uint64(b&0x7f)
		if b < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
