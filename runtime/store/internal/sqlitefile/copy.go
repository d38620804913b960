package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
)

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
