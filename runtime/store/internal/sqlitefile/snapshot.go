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

// errJournal is the error for a database with the rollback journal of a transaction
// that has not ended.
var errJournal = errors.New("a transaction has not ended: there is a rollback journal beside it")

// snapshot is a database with what is committed in its write-ahead log, as it was when
// it was opened. It implements [fs.FS] with the database as the only file.
type snapshot struct {
	file     *os.File
	log      *wal // nil for none
	logFile  *os.File
	size     int64
	pageSize int64
	fileSize int64 // of file, and its modification, when it was opened
	modified time.Time
	changed  atomic.Bool // a read has found that the owner changed something
}

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
	if journal, err := root.Stat(name + "-journal"); err == nil && journal.Size() > 0 {
		return errJournal
	}
	var info fs.FileInfo
	var err error
	if s.file, info, err = safefile.OpenIn(root, name); err != nil {
		return err
	}
	s.size, s.fileSize, s.modified = info.Size(), info.Size(), info.ModTime()
	s.logFile, _, err = safefile.OpenIn(root, name+"-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("opening its write-ahead log: %w", err)
	}
	if s.log, err = readWAL(s.logFile); err != nil {
		return fmt.Errorf("reading its write-ahead log: %w", err)
	}
	if s.log != nil {
		s.pageSize = s.log.pageSize
		s.size = s.log.pages * s.pageSize
	}
	return s.check()
}

func (s *snapshot) close() {
	for _, f := range []*os.File{s.file, s.logFile} {
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
	if info.Size() != s.fileSize || !info.ModTime().Equal(s.modified) || s.log != nil && !s.log.current() {
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
		// The log is in what is read here, and SQLite must not look for it.
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

// readPart fills a part, shortened to one page where there is a log.
func (s *snapshot) readPart(part *[]byte, offset int64) error {
	if s.log != nil {
		page, within := offset/s.pageSize, offset%s.pageSize
		*part = (*part)[:min(int64(len(*part)), s.pageSize-within)]
		found, err := s.log.read(*part, uint32(page+1), within)
		if errors.Is(err, ErrChanged) {
			s.changed.Store(true)
		}
		if found {
			return err
		}
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
