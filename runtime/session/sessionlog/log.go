package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/session"
)

const (
	extension = ".jsonl"
	fileMode  = 0o600
	dirMode   = 0o700
)

// BusyError is the error for a session that another process, or this one, has open for writing.
type BusyError struct{ Session string }

func (e *BusyError) Error() string {
	return "session " + e.Session + " is in use by another process"
}

// NotFoundError is the error for a session that the directory does not have.
type NotFoundError struct{ Session, Dir string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no session %q in %s", e.Session, e.Dir)
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// File is what a log is written to.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Log is a log that is open for writing, by this process alone. Its methods must not be called at the same time.
type Log struct {
	file   File
	unlock func()
	state  session.State
	torn   *Torn
	err    error // why nothing more is written
}

// Path returns the path of the log of a session in a directory. An id that is no plain file name has none.
func Path(dir, id string) (string, bool) {
	name := id + extension
	if id == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || id[0] == '.' {
		return "", false
	}
	return filepath.Join(dir, name), true
}

// Create makes the log of a new session with its first record, the events of [session.Start], in a directory that is
// made where it is missing. The log is there with that record or not at all.
func Create(dir string, events []session.Event) (*Log, error) {
	line, err := MarshalRecord(events)
	if err != nil {
		return nil, err
	}
	return createLines(dir, events[0].Session, header{Format: format, Version: version}, line)
}

// createLines makes a log of whole lines, and opens it.
func createLines(dir, id string, h header, lines []byte) (*Log, error) {
	path, ok := Path(dir, id)
	if !ok {
		return nil, &NotFoundError{Session: id, Dir: dir}
	}
	var b bytes.Buffer
	if err := encode(&b, h); err != nil {
		return nil, err
	}
	b.Write(lines)
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.Base(path)
	if _, err := root.Lstat(name); err == nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	temp, err := safefile.Stage(root, name, b.Bytes(), fileMode)
	if err != nil {
		return nil, err
	}
	if err := root.Rename(temp, name); err != nil {
		return nil, errors.Join(err, root.Remove(temp))
	}
	if err := safefile.SyncDir(root); err != nil {
		return nil, err
	}
	return Open(dir, id)
}

// makeDir makes a directory where it is missing, with those above it, so that they last.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := safefile.OpenDir(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	return safefile.SyncDir(root)
}

// Open opens the log of a session for writing. Where another process has it open the error is a [*BusyError]; where
// there is none, a [*NotFoundError]; where it cannot be continued, a [*DamagedError], a [*VersionError] or a
// [*session.LogError].
func Open(dir, id string) (*Log, error) {
	path, ok := Path(dir, id)
	if !ok {
		return nil, &NotFoundError{Session: id, Dir: dir}
	}
	unlock, err := lock(path, id, lockTime)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{Session: id, Dir: dir}
	}
	if err != nil {
		return nil, err
	}
	log, err := open(dir, id)
	if err != nil {
		unlock()
		return nil, err
	}
	log.unlock = unlock
	return log, nil
}

// lockTime is how long to wait for a lock: a follower has it for a moment, to see whether anybody else does.
const lockTime = 100 * time.Millisecond

// lock locks a log, or fails with a [*BusyError] where another process works in the session.
func lock(path, id string, wait time.Duration) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	unlock, err = safefile.Lock(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &BusyError{Session: id}
	}
	return unlock, err
}

// open opens a log that is locked: its end is repaired where a crash has left something there.
func open(dir, id string) (*Log, error) {
	state, torn, err := Load(dir, id)
	if err != nil {
		return nil, err
	}
	path, _ := Path(dir, id)
	if torn != nil {
		if err := cutOff(path, torn.Offset); err != nil {
			return nil, err
		}
	}
	out, _, err := safefile.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return &Log{file: out, state: state, torn: torn}, nil
}

func cutOff(path string, size int64) error {
	f, _, err := safefile.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// Load returns the state that the log of a session leads to, also while it is being written, and what a crash, or a
// record that is half written, leaves at its end. Errors are as those of [Read].
func Load(dir, id string) (session.State, *Torn, error) {
	r, err := openReader(dir, id)
	if err != nil {
		return session.State{}, nil, err
	}
	defer r.file.Close()
	return r.state()
}

// state returns the state that the records lead to, and what a crash has left at the end.
func (r *reader) state() (session.State, *Torn, error) {
	var torn *Torn
	state, err := session.FoldRecords(func(yield func([]session.Event, error) bool) {
		for {
			var record Record
			var err error
			if record, torn, err = r.record(); err == io.EOF || !yield(record.Events, err) {
				return
			}
		}
	})
	var damage *session.LogError
	if errors.As(err, &damage) {
		err = fmt.Errorf("reading %s: %w", r.path, err)
	}
	return state, torn, err
}

// State returns the state that the log led to when it was opened.
func (l *Log) State() session.State { return l.state }

// Torn returns what [Open] has cut off the end, and nil where the log was whole.
func (l *Log) Torn() *Torn { return l.torn }

// Through has everything written through another file, as one that injects faults, counts, or leaves out syncs. It is
// called before the first Append.
func (l *Log) Through(wrap func(File) File) { l.file = wrap(l.file) }

// Sync returns when what the log held when it was opened is on disk. The process that wrote the last record may have been
// killed before its sync, and whoever goes on from that record must not lose it.
func (l *Log) Sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("syncing the session log: %w", err)
	}
	return nil
}

// Append writes a record: the events of one step. When it returns, they are on disk, apart from pieces of messages (see
// the package). A record that is too large, a [*TooLargeError], is not written at all. After any other error nothing more
// is written: how much of the record is on disk is not known, and whoever opens the log again finds out.
func (l *Log) Append(events []session.Event) error {
	if l.err != nil {
		return l.err
	}
	line, err := MarshalRecord(events)
	if err != nil {
		return err
	}
	_, err = l.file.Write(line)
	if err == nil && !unsynced(events) {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("writing the session log: %w", err)
	}
	return l.err
}

// Close ends the use of a log.
func (l *Log) Close() error {
	if l.err == nil {
		l.err = fs.ErrClosed
	}
	err := l.file.Close()
	if l.unlock != nil {
		l.unlock()
	}
	return err
}
