// Package sqlitetable finds rows of a table in the pages of an SQLite database, several
// times as fast as SQLite reads them: what is looked for is looked for in many pages at once,
// and only where it stands are rows told apart.
//
// It reads a database that somebody else has made, and believes none of its numbers. What it
// does not find is certain not to be there; where that cannot be said, the error is
// [ErrOther] or [ErrDamaged], and SQLite has to read the table.
//
// The form of the file is that of https://www.sqlite.org/fileformat2.html.
package sqlitetable

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

var (
	// ErrOther is the error for a database in a form that is not read here: text in UTF-16.
	ErrOther = errors.New("the database has another form")
	// ErrDamaged is wrapped by the error for pages that cannot be what they should.
	ErrDamaged = errors.New("the database is damaged")
)

// Table is a table with rowids, without columns that are generated.
type Table struct {
	// File is the database as it was committed last, of Size bytes.
	File io.ReaderAt
	Size int64
	// Root is the first page of the table, and Columns are those that are looked at, by
	// their place in the table, from 0.
	Root    uint32
	Columns []int
}

// Sift calls found with the rowid of each row in which a column may have something: the
// column is a text or a blob that may returns true for, or for a part of it with
// [store.SiftOverlap] bytes in common with the part before; or a number; or not recorded, so
// that the schema has its value. Both are called from several goroutines at a time, in any
// order, until found returns false.
func (t *Table) Sift(ctx context.Context, may func(part []byte) bool, found func(rowid int64) bool) error {
	s := &sieve{Table: t, may: may, found: found}
	if err := s.readHeader(); err != nil {
		return err
	}
	levels, err := s.levels()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	readers := make(chan *reader, min(runtime.GOMAXPROCS(0), maxReaders))
	for range cap(readers) {
		readers <- &reader{sieve: s}
	}
	group.SetLimit(cap(readers))
	err = s.walk(t.Root, levels, func(leaves []uint32) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		group.Go(func() error {
			r := <-readers
			defer func() { readers <- r }()
			return r.sift(ctx, leaves)
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// maxReaders bounds how many goroutines read pages.
const maxReaders = 8

// errEnough ends reading where nothing more is wanted.
var errEnough = errors.New("enough rows")

// sieve is a [Table] that is being sifted.
type sieve struct {
	*Table
	may      func(part []byte) bool
	found    func(rowid int64) bool
	pageSize int64
	usable   int // bytes of a page: there may be others at its end
	pages    uint32
	seen     uint32        // interior pages and leaves
	overflow atomic.Uint32 // pages that were read for what has no room in a leaf
}

// damaged returns the error for a page that is not what it should be.
func damaged(page uint32, what string) error {
	return fmt.Errorf("%w: page %d: %s", ErrDamaged, page, what)
}

const (
	headerSize  = 100
	magic       = "SQLite format 3\x00"
	minPageSize = 512
	maxPageSize = 64 << 10
	minUsable   = 480
	utf8Text    = 1 // text encoding
)

func (s *sieve) readHeader() error {
	var header [headerSize]byte
	if _, err := s.File.ReadAt(header[:], 0); err != nil {
		return err
	}
	s.pageSize = int64(binary.BigEndian.Uint16(header[16:]))
	if s.pageSize == 1 {
		s.pageSize = maxPageSize
	}
	s.usable = int(s.pageSize) - int(header[20])
	// The fractions of a page that a cell has are always these.
	const fractions = "\x40\x20\x20"
	if string(header[:len(magic)]) != magic || s.pageSize < minPageSize || s.pageSize&(s.pageSize-1) != 0 || s.usable < minUsable || string(header[21:24]) != fractions {
		return damaged(1, "header")
	}
	if binary.BigEndian.Uint32(header[56:]) != utf8Text {
		return ErrOther
	}
	s.pages = uint32(min(s.Size/s.pageSize, 1<<32-2)) //nolint:gosec // in range
	return nil
}

// The kinds of pages of a table.
const (
	interior = 0x05
	leaf     = 0x0d
)

const (
	leafHeader     = 8
	interiorHeader = 12
	maxLevels      = 20 // of a tree in a file of 2^32 pages, by far
)

// levels returns how many levels of interior pages the tree has.
func (s *sieve) levels() (int, error) {
	page := s.Root
	for levels := range maxLevels {
		kind, children, err := s.children(page)
		if err != nil {
			return 0, err
		}
		if kind == leaf {
			return levels, nil
		}
		page = children[0]
	}
	return 0, damaged(s.Root, "its tree is too deep")
}

// children returns the kind of a page, and which pages are below an interior one: at least
// one.
func (s *sieve) children(page uint32) (kind byte, children []uint32, err error) {
	data := make([]byte, s.pageSize)
	if err := s.read(data, page); err != nil {
		return 0, nil, err
	}
	switch kind = data[0]; kind {
	case leaf:
		return kind, nil, nil
	case interior:
	default:
		return 0, nil, damaged(page, "not of a table")
	}
	data = data[:s.usable]
	count := int(binary.BigEndian.Uint16(data[3:]))
	if interiorHeader+2*count > len(data) {
		return 0, nil, damaged(page, "number of cells")
	}
	children = make([]uint32, 0, count+1)
	for i := range count {
		at := int(binary.BigEndian.Uint16(data[interiorHeader+2*i:]))
		if at+4 > len(data) {
			return 0, nil, damaged(page, "place of a cell")
		}
		children = append(children, binary.BigEndian.Uint32(data[at:]))
	}
	return kind, append(children, binary.BigEndian.Uint32(data[8:])), nil
}

// walk calls visit with the leaves below a page, several at a time. A page has its place
// in the tree once: there cannot be more of them than pages.
func (s *sieve) walk(page uint32, levels int, visit func(leaves []uint32) error) error {
	if levels == 0 {
		return visit([]uint32{page})
	}
	kind, children, err := s.children(page)
	if err != nil {
		return err
	}
	if kind != interior {
		return damaged(page, "a leaf out of its level")
	}
	if s.seen += uint32(len(children)); s.seen > s.pages { //nolint:gosec // at most a page of them
		return damaged(page, "its tree has more pages than the file")
	}
	if levels == 1 {
		return visit(children)
	}
	for _, child := range children {
		if err := s.walk(child, levels-1, visit); err != nil {
			return err
		}
	}
	return nil
}

// read reads pages from one on. The first page of the file is none of a table.
func (s *sieve) read(data []byte, page uint32) error {
	if page < 2 || int64(page)-1+int64(len(data))/s.pageSize > int64(s.pages) {
		return damaged(page, "not in the file")
	}
	n, err := s.File.ReadAt(data, (int64(page)-1)*s.pageSize)
	if n == len(data) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}
