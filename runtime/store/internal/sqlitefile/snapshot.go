package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
)

// The suffixes of the files beside a database.
const logSuffix, journalSuffix = "-wal", "-journal"

// snapshot is the state of the files of a database.
type snapshot struct {
	path     string // without links
	database fs.FileInfo
	files    []part // the database first, then those beside it that exist
}

// part is the state of one file.
type part struct {
	suffix string
	info   fs.FileInfo
	// head begins the file: the change counter is in the head of a database, the salt in that of a log, a
	// random number in that of a journal. The head of a journal is zero after the transaction.
	head string
}

// takeSnapshot returns the state of the files of the database at a path. A file beside the database need not exist.
func takeSnapshot(path string) (*snapshot, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	dir, err := safefile.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	s := &snapshot{path: path}
	for _, suffix := range []string{"", logSuffix, journalSuffix} {
		p, err := takePart(dir, filepath.Base(path), suffix)
		switch {
		case suffix == "" && err != nil:
			return nil, err
		case err == nil:
			s.files = append(s.files, p)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading the file %s beside it: %w", suffix, err)
		}
	}
	s.database = s.files[0].info
	return s, nil
}

// takePart returns the state of the file with a suffix beside a database, or of the database itself.
func takePart(dir *os.Root, name, suffix string) (p part, err error) {
	// A change shows in the head: in the change counter of a database, the salt of a log, or the random number of a journal.
	const headSize = 28 // bytes, up to the end of the change counter
	f, info, err := safefile.OpenIn(dir, name+suffix)
	if err != nil {
		return p, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return part{suffix, info, string(head[:n])}, err
}

// isHot reports whether a file beside a database has content that belongs to the database.
func (p *part) isHot() bool { return p.suffix != "" && p.head != "" && p.head[0] != 0 }

// hot returns the log, or else the journal, that has content of the database. It returns nil if the database is whole.
func (s *snapshot) hot() *part {
	for i := range s.files {
		if s.files[i].isHot() {
			return &s.files[i]
		}
	}
	return nil
}

// stamp returns a text that changes when the database does.
func (s *snapshot) stamp() string {
	var b strings.Builder
	for _, p := range s.files {
		fmt.Fprintf(&b, "%s %d %d %x;", p.suffix, p.info.Size(), p.info.ModTime().UnixNano(), p.head)
	}
	return b.String()
}

// isSame reports whether two states of a file are equal.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// areCopiesWhole reports whether copies of the files, made between the states s and later, have the whole content of the
// database. The state s has a log or a journal with content of the database: only then are files copied.
func (s *snapshot) areCopiesWhole(later *snapshot) bool {
	before, after := s.hot(), later.hot() // the log or the journal
	isSameFile := after != nil && before.suffix == after.suffix && os.SameFile(before.info, after.info)
	isGoingOn := isSameFile && before.head == after.head && os.SameFile(s.database, later.database) // the owner began no file anew
	// With a log, the database may have changed: the log has these changes too. With a journal, it must not have changed.
	return isGoingOn && (before.suffix == logSuffix || isSame(s.database, later.database))
}

const (
	copyName   = "database"
	maxCopy    = 2 << 30             // the largest size of a database that is copied, with the files beside it, in bytes
	tempPrefix = "convtools-sqlite-" // begins the names of the directories of copies
)

// copy copies the files of a database, as its owner last committed it, to a temporary directory, and sets db.dir.
// The error is a [*store.CopyTooLargeError], or [ErrChanged] if the copies do not have the whole content.
func (db *DB) copy(ctx context.Context, s *snapshot) (err error) {
	var size int64
	for _, p := range s.files {
		size += p.info.Size()
	}
	if size > maxCopy {
		return &store.CopyTooLargeError{Size: size, Most: maxCopy}
	}
	removeLeft()
	if db.dir, err = os.MkdirTemp("", tempPrefix); err != nil {
		return err
	}
	// The database is copied before the log or the journal. Changes that the owner writes from the log to the database
	// meanwhile are then still in the copied log, and a copied journal has the former content of changed pages.
	for _, p := range s.files {
		if p.suffix == "" || p.isHot() {
			if err := copyFile(ctx, s.path+p.suffix, filepath.Join(db.dir, copyName+p.suffix)); err != nil {
				return err
			}
		}
	}
	later, err := takeSnapshot(s.path)
	if err == nil && !s.areCopiesWhole(later) {
		err = ErrChanged
	}
	return err
}

// removeLeft removes the copies of processes that were killed.
func removeLeft() {
	const day = 24 * time.Hour
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")) // the only error is a bad pattern
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > day {
			os.RemoveAll(dir)
		}
	}
}

// copyFile copies a file; the system lets the copy share its blocks if it can. The error is [ErrChanged] if the file is
// gone or shorter than it was, and [ErrJoint] for a journal of a transaction in several databases: it names another journal.
func copyFile(ctx context.Context, from, to string) error {
	in, info, err := safefile.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, _, err := safefile.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	const chunk = 64 << 20
	for left := min(info.Size(), maxCopy); left > 0 && err == nil; left -= chunk { // only a log can have grown over maxCopy
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(out, in, min(left, chunk))
		}
	}
	if err == io.EOF {
		err = ErrChanged // the owner truncated it
	}
	if err == nil && strings.HasSuffix(to, journalSuffix) && namesOther(out, info.Size()) {
		err = ErrJoint
	}
	return errors.Join(err, out.Close())
}

// namesOther reports whether a journal names another file, which SQLite would open wherever it is. Such a journal
// ends with the mark of a journal: https://www.sqlite.org/fileformat2.html#the_rollback_journal.
func namesOther(journal io.ReaderAt, size int64) bool {
	const mark = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	end := make([]byte, len(mark))
	_, err := journal.ReadAt(end, size-int64(len(end)))
	return err == nil && string(end) == mark
}
