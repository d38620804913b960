package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// ErrChanged is the error where the owner of a database has changed what is being
// read. Opened again, the database has its present content.
var ErrChanged = errors.New("the database was changed while it was read")

// snapshot is a database as it was committed last when it was opened. It implements
// [fs.FS] with the database as the only file.
type snapshot struct {
	file     *os.File
	beside   *os.File // what over reads; nil for none
	over     overlay  // nil for none
	size     int64
	pageSize int64
	fileSize int64 // of file, and its modification, when it was opened
	modified time.Time
	changed  atomic.Bool // a read has found that the owner changed something
}

// overlay is pages that count in place of those in the file of a database: the ones in a
// write-ahead log, or in the rollback journal of a transaction that has not ended.
type overlay interface {
	layout() layout
	// holds reports whether the overlay has a page.
	holds(page uint32) bool
	// read fills b with a part of a page that the overlay has. The error is [ErrChanged]
	// where that is not what it was any more.
	read(b []byte, page uint32, within int64) error
	// current reports whether the overlay is still what it was when it was read.
	current() bool
}

// layout is the size of a database, as an overlay has it.
type layout struct{ pageSize, pages int64 }

// fileName is what the database is called in a snapshot.
const fileName = "database"

// openSnapshot opens a database below a root.
func openSnapshot(root *os.Root, name string) (*snapshot, error) {
	s := &snapshot{}
	if err := s.open(root, name); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *snapshot) open(root *os.Root, name string) error {
	var info fs.FileInfo
	var err error
	if s.file, info, err = safefile.OpenIn(root, name); err != nil {
		return err
	}
	s.size, s.fileSize, s.modified = info.Size(), info.Size(), info.ModTime()
	// A database has one of them at the most: which one stands in its header.
	err = s.openBeside(root, name+"-wal", func(f *os.File) (overlay, error) {
		w, err := readWAL(f)
		if w == nil {
			return nil, err
		}
		return w, err
	})
	if s.over == nil && err == nil {
		err = s.openBeside(root, name+"-journal", func(f *os.File) (overlay, error) {
			j, err := readJournal(f)
			if j == nil {
				return nil, err
			}
			return j, err
		})
	}
	if err != nil {
		return err
	}
	if s.over != nil {
		size := s.over.layout()
		s.pageSize = size.pageSize
		s.size = size.pages * s.pageSize
	}
	return s.check()
}

// openBeside opens a file beside the database, if there is one with pages in it.
func (s *snapshot) openBeside(root *os.Root, name string, read func(*os.File) (overlay, error)) error {
	f, _, err := safefile.OpenIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if s.over, err = read(f); s.over != nil {
			s.beside = f
		} else {
			f.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("reading what its owner keeps beside it: %w", err)
	}
	return nil
}

func (s *snapshot) close() {
	for _, f := range []*os.File{s.file, s.beside} {
		if f != nil {
			f.Close()
		}
	}
}

// check returns [ErrChanged] where the files are not those any more that were opened.
func (s *snapshot) check() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != s.fileSize || !info.ModTime().Equal(s.modified) || s.over != nil && !s.over.current() {
		s.changed.Store(true)
		return ErrChanged
	}
	return nil
}

// The versions for writing and reading in the header of a database, from
// https://www.sqlite.org/fileformat2.html#file_format_version_numbers.
const (
	versionsAt  = 18
	versionsEnd = 20
	rollback    = 1 // there is no write-ahead log
)

// ReadAt implements [io.ReaderAt].
func (s *snapshot) ReadAt(b []byte, offset int64) (int, error) {
	n := 0
	for n < len(b) && offset < s.size {
		part := b[n:min(int64(len(b)), int64(n)+s.size-offset)]
		if err := s.readPart(&part, offset); err != nil {
			return n, err
		}
		// A log is in what is read here, and SQLite must not look for it.
		for i := max(offset, versionsAt); i < min(offset+int64(len(part)), versionsEnd); i++ {
			part[i-offset] = rollback
		}
		n += len(part)
		offset += int64(len(part))
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// readPart fills a part, shortened where pages of an overlay begin or end.
func (s *snapshot) readPart(part *[]byte, offset int64) error {
	if s.over != nil {
		page, within := uint32(offset/s.pageSize+1), offset%s.pageSize
		end := s.pageSize - within
		if s.over.holds(page) {
			*part = (*part)[:min(int64(len(*part)), end)]
			err := s.over.read(*part, page, within)
			if errors.Is(err, ErrChanged) {
				s.changed.Store(true)
			}
			return err
		}
		for page++; end < int64(len(*part)) && !s.over.holds(page); page++ {
			end += s.pageSize
		}
		*part = (*part)[:min(int64(len(*part)), end)]
	}
	n, err := s.file.ReadAt(*part, offset)
	switch {
	case err == io.EOF && n > 0:
		*part = (*part)[:n]
	case err == io.EOF:
		return s.ended()
	case err != nil:
		return err
	}
	return s.check()
}

// ended returns the error where a file is shorter than the database in it.
func (s *snapshot) ended() error {
	if err := s.check(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// Open implements [fs.FS].
func (s *snapshot) Open(name string) (fs.File, error) {
	if name != fileName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{SectionReader: io.NewSectionReader(s, 0, s.size)}, nil
}

// openFile is a snapshot as a file, which a connection reads.
type openFile struct{ *io.SectionReader }

// Stat implements [fs.File].
func (f *openFile) Stat() (fs.FileInfo, error) { return fileInfo{f.Size()}, nil }

// Close implements [fs.File].
func (f *openFile) Close() error { return nil }

// fileInfo describes a snapshot as a file.
type fileInfo struct{ size int64 }

func (i fileInfo) Name() string     { return fileName }
func (i fileInfo) Size() int64      { return i.size }
func (fileInfo) Mode() fs.FileMode  { return 0o400 }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }
