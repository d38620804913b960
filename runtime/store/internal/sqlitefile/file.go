package sqlitefile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
)

// fileName is what a database is called where it is read, and where it is copied to.
const fileName = "database"

// file is a database in one file, with nothing beside it. It implements [fs.FS] with that
// as the only file, and [io.ReaderAt].
type file struct {
	*os.File
	info    fs.FileInfo // when it was opened
	dir     string      // of a copy; empty for none
	changed atomic.Bool // a read has found that the owner changed it
}

// Open implements [fs.FS].
func (f *file) Open(name string) (fs.File, error) {
	if name != fileName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return opened{io.NewSectionReader(f, 0, f.info.Size()), f.info}, nil
}

// opened is a file as a connection reads it.
type opened struct {
	*io.SectionReader
	info fs.FileInfo
}

func (o opened) Stat() (fs.FileInfo, error) { return o.info, nil }
func (opened) Close() error                 { return nil }

// ReadAt implements [io.ReaderAt]. The error is [ErrChanged] where the file is not any more
// what was opened.
func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(b, offset)
	if info, failed := f.Stat(); failed != nil || !isSame(info, f.info) {
		f.changed.Store(true)
		return 0, ErrChanged
	}
	return n, err
}

func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (f *file) close() {
	f.File.Close()
	if f.dir != "" {
		os.RemoveAll(f.dir) // where the system does not remove an open file
	}
}

// openFile opens a database below a root, or a copy of it, and returns its stamp.
func openFile(ctx context.Context, root *os.Root, name string) (*file, string, error) {
	parts, err := openParts(root, name)
	if err != nil {
		return nil, "", err
	}
	stamp := stampOf(parts)
	used := parts[:1:1]
	for _, p := range parts[1:] {
		if p.isHot() {
			used = append(used, p)
		}
	}
	// The clock of a file system moves in steps: a change just after this one would have the
	// same time.
	const tick = 10 * time.Millisecond
	if age := time.Since(parts[0].info.ModTime()); !hasLog(used) && age >= 0 && age < tick {
		closeParts(parts)
		return nil, "", ErrChanged
	}
	if len(used) == 1 {
		closeParts(parts[1:])
		return &file{File: parts[0].File, info: parts[0].info}, stamp, nil
	}
	defer closeParts(parts)
	f, err := copyOf(ctx, root, used)
	return f, stamp, err
}

// part is the file of a database, or one beside it.
type part struct {
	*os.File
	name   string // in its directory
	suffix string
	info   fs.FileInfo
	head   []byte
}

// The files beside a database, how they begin where they have something of it, and how much of
// each part tells whether it has changed: the counter of changes of a database, the salt of a
// log, the random number of a journal.
const (
	logSuffix, journalSuffix = "-wal", "-journal"
	logMark, journalMark     = "\x37\x7f\x06", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	headSize                 = 28
)

// openParts opens the files of a database that there are, the database first.
func openParts(root *os.Root, name string) (parts []*part, err error) {
	for _, suffix := range []string{"", logSuffix, journalSuffix} {
		p := &part{name: name + suffix, suffix: suffix}
		p.File, p.info, err = safefile.OpenIn(root, p.name)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			parts = append(parts, p)
			p.head, err = p.readHead()
		}
		if err != nil {
			closeParts(parts)
			if suffix != "" {
				err = fmt.Errorf("reading what its owner keeps beside it: %w", err)
			}
			return nil, err
		}
	}
	return parts, nil
}

func closeParts(parts []*part) {
	for _, p := range parts {
		p.Close()
	}
}

func (p *part) readHead() ([]byte, error) {
	head := make([]byte, headSize)
	n, err := p.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// isHot reports whether a file beside a database has something of it. The mark of a journal
// that is over is overwritten.
func (p *part) isHot() bool {
	mark := map[string]string{logSuffix: logMark, journalSuffix: journalMark}[p.suffix]
	return bytes.HasPrefix(p.head, []byte(mark))
}

// hasLog reports whether one of the parts that are used is a log.
func hasLog(parts []*part) bool { return len(parts) > 1 && parts[1].suffix == logSuffix }

// isCurrent reports whether a part is what it was when it was opened. One beside a database may
// have grown, and a database with a log may have got what that has.
func (p *part) isCurrent(root *os.Root, logged bool) bool {
	info, err := root.Stat(p.name)
	if err != nil || !os.SameFile(info, p.info) {
		return false
	}
	if p.suffix == "" {
		return logged || isSame(info, p.info)
	}
	head, err := p.readHead()
	return err == nil && info.Size() >= p.info.Size() && bytes.Equal(head, p.head)
}

// stampOf returns a text that is another one when the database of parts has changed.
func stampOf(parts []*part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%s %d %d %x;", p.suffix, p.info.Size(), p.info.ModTime().UnixNano(), p.head)
	}
	return b.String()
}

// maxCopy bounds the bytes of a database that is copied, with the files beside it.
const maxCopy = 2 << 30

// copyOf returns a copy of a database, as its owner committed it last. Parts are the database
// and those beside it that have something of it.
func copyOf(ctx context.Context, root *os.Root, parts []*part) (*file, error) {
	var size int64
	for _, p := range parts {
		size += p.info.Size()
	}
	if size > maxCopy {
		return nil, &store.CopyTooLargeError{Size: size, Most: maxCopy}
	}
	removeLeft()
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // an open file stays readable, or [file.close] removes it
	path := filepath.Join(dir, fileName)
	// The database is first. Whatever of the log or of a transaction its owner has put into it
	// by then, the log has too, and the journal says how it was.
	for _, p := range parts {
		if err := p.copyTo(ctx, path+p.suffix); err != nil {
			return nil, err
		}
	}
	for _, p := range parts {
		if !p.isCurrent(root, hasLog(parts)) {
			return nil, ErrChanged
		}
	}
	if err := settleCopy(ctx, path); err != nil {
		return nil, err
	}
	opened, info, err := safefile.Open(path)
	if err != nil {
		return nil, err
	}
	return &file{File: opened, info: info, dir: dir}, nil
}

// tempPrefix begins the names of directories of copies.
const tempPrefix = "convtools-sqlite-"

// removeLeft removes the copies of processes that were killed while they made them.
func removeLeft() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")) // of a pattern that is none
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(dir)
		}
	}
}

// copyTo copies a file, as it is now. The system shares its blocks where it can.
func (p *part) copyTo(ctx context.Context, path string) error {
	info, err := p.Stat()
	if err != nil {
		return err
	}
	to, _, err := safefile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	const chunk = 64 << 20
	for left := min(info.Size(), maxCopy); left > 0 && err == nil; left -= chunk {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(to, p.File, min(left, chunk))
		}
	}
	if errors.Is(err, io.EOF) {
		err = ErrChanged // the owner cut it
	}
	if err == nil && p.suffix == journalSuffix && namesOther(to, info.Size()) {
		err = ErrJoint
	}
	return errors.Join(err, to.Close())
}

// namesOther reports whether a journal has the name of another file, which SQLite would open
// wherever it is: the mark of a journal is at its end then,
// https://www.sqlite.org/fileformat2.html#the_rollback_journal.
func namesOther(journal *os.File, size int64) bool {
	end := make([]byte, len(journalMark))
	_, err := journal.ReadAt(end, size-int64(len(end)))
	return err == nil && string(end) == journalMark
}

// settleCopy has SQLite move the log beside a copy of a database into it, or undo with the
// journal.
func settleCopy(ctx context.Context, path string) error {
	connector, err := sqlite.NewConnector(URI(path, url.Values{"_pragma": {
		"locking_mode(exclusive)", "synchronous(off)", "trusted_schema(0)", "temp_store(2)", "mmap_size(0)",
	}}))
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	// The first has it take back what a journal says.
	_, err = db.ExecContext(ctx, "PRAGMA user_version; PRAGMA journal_mode = delete")
	return errors.Join(ctx.Err(), described(err))
}

// URI returns what names the file of an absolute path to the driver of SQLite.
func URI(path string, options url.Values) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: options.Encode()}).String()
}
