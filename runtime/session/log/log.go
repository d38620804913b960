// Package log keeps sessions on disk: one append-only log for each session, in a directory that the caller chooses.
//
// A log is a text file. Its first line names the format and its version:
//
//	{"format":"convtools-session","version":2}
//
// Each other line is a record: the events of one step of a session as JSON, after the CRC-32C of that JSON in hex.
//
//	{"crc32c":"1c291ca3","events":[{"seq":3,…},{"seq":4,…}]}
//
// A record is one write, and one sync before [Log.Append] returns. Records of agent_message_delta alone are not synced:
// a power failure can lose the last pieces of a message that the model has not ended.
//
// [Open] cuts off what a crash left at the end of a log: the first line that is not a whole record and all that
// follows, if none of it can have been synced. Any other damage is a [*DamagedError].
//
// The package must never change what Append has written, except for what a crash left and, in [GC], whole logs.
package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

const (
	extension = ".jsonl"
	header    = `{"format":"convtools-session","version":%d` // up to the version
	version   = 2

	lockTime       = 100 * time.Millisecond // to wait for the lock of a log, which Follow takes for a moment
	followInterval = 50 * time.Millisecond  // between two looks of Follow at a log
)

// beforeEvents returns the beginning of a record, up to its events, with the checksum of their JSON.
func beforeEvents(events []byte) []byte {
	sum := crc32.Checksum(events, crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(nil, `{"crc32c":"%08x","events":`, sum)
}

// recordOf returns the line of a record with its line break.
func recordOf(events []session.Event) ([]byte, error) {
	text, err := model.JSON(events)
	return slices.Concat(beforeEvents(text), text, []byte("}\n")), err
}

// eventsIn returns the events in a line that recordOf has made. Any other line, or a line without events, is an error.
func eventsIn(line []byte) (events []session.Event, err error) {
	begin := min(len(line), len(beforeEvents(nil))) // where the events begin: the text before them always has this length
	text, whole := bytes.CutSuffix(line[begin:], []byte("}\n"))
	if !whole || !bytes.HasPrefix(line, beforeEvents(text)) { // beforeEvents computes the checksum of text
		return nil, errors.New("the line is not a whole record, or not as its checksum says")
	}
	err = json.Unmarshal(text, &events)
	if err == nil && len(events) == 0 {
		err = errors.New("the record has no events")
	}
	return events, err
}

// onlyDeltas reports whether a record has nothing but pieces of messages. Such a record is written without a sync.
func onlyDeltas(events []session.Event) bool {
	return !slices.ContainsFunc(events, func(e session.Event) bool { return e.Kind != session.AgentMessageDelta })
}

// BusyError is the error for a session that another process, or this one, has open for writing.
type BusyError struct{ Session string }

func (e *BusyError) Error() string { return "session " + e.Session + " is in use by another process" }

// NotFoundError is the error for a session that a directory does not have.
type NotFoundError struct{ Session, Dir string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no session %q in %s", e.Session, e.Dir)
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// File is the file of a log.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Log is a log that is open for writing, by this process alone. Its methods are not safe for concurrent use.
type Log struct {
	File  File          // where Append writes; tests and measurements replace it before the first Append
	State session.State // the state when the log was opened; Append does not change it
	Torn  *Torn         // what Open cut off; nil if the log was whole

	unlock func()
	err    error // why Append writes no more
}

// logPath returns the path of the log of a session. The error is a [*NotFoundError] if the id is no plain file name.
func logPath(dir, id string) (string, error) {
	name := id + extension
	if id == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || id[0] == '.' {
		return "", &NotFoundError{Session: id, Dir: dir}
	}
	return filepath.Join(dir, name), nil
}

// Create creates the log of a new session, and its directory if that is missing, with the events of [session.Start].
func Create(dir string, events []session.Event) (*Log, error) {
	id := events[0].Session
	name, err := logPath(dir, id)
	if err != nil {
		return nil, err
	}
	record, err := recordOf(events)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(filepath.Base(name)); err == nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	first := fmt.Appendf(nil, header+"}\n", version)
	if err := safefile.Write(name, append(first, record...), 0o600); err != nil {
		return nil, err
	}
	if err := safefile.SyncDir(root); err != nil {
		return nil, err
	}
	return Open(dir, id)
}

// Open opens the log of a session for writing, and cuts off what a crash left at its end. The error may be a
// [*BusyError], a [*NotFoundError] or a [*DamagedError].
func Open(dir, id string) (*Log, error) {
	unlock, err := lock(dir, id, lockTime)
	if err != nil {
		return nil, err
	}
	l := &Log{unlock: unlock}
	if l.State, l.Torn, err = Load(dir, id); err == nil {
		err = l.openFile(filepath.Join(dir, id+extension))
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return l, nil
}

// openFile opens the file for writing, cuts off l.Torn, and syncs the records that a killed process may not have synced.
func (l *Log) openFile(name string) error {
	f, _, err := safefile.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if l.Torn != nil {
		err = f.Truncate(l.Torn.Offset)
	}
	if err = errors.Join(err, f.Sync()); err != nil {
		return errors.Join(err, f.Close())
	}
	l.File = f
	return nil
}

// lock locks the log of a session, waiting at most wait. The error may be a [*BusyError] or a [*NotFoundError].
func lock(dir, id string, wait time.Duration) (unlock func(), err error) {
	name, err := logPath(dir, id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	unlock, err = safefile.Lock(ctx, name)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = &BusyError{Session: id}
	case errors.Is(err, fs.ErrNotExist):
		err = &NotFoundError{Session: id, Dir: dir}
	}
	return unlock, err
}

// Append writes a record. When it returns nil, the events are on disk, except for pieces of messages. After an error,
// which may leave half a record, Append writes no more and returns the same error.
func (l *Log) Append(events []session.Event) error {
	if l.err != nil {
		return l.err
	}
	line, err := recordOf(events)
	if err == nil {
		_, err = l.File.Write(line)
	}
	if err == nil && !onlyDeltas(events) {
		err = l.File.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("writing the session log: %w", err)
	}
	return l.err
}

// Close closes the log, and unlocks it for other processes.
func (l *Log) Close() error {
	defer l.unlock()
	return l.File.Close()
}
