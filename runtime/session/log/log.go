// Package log keeps sessions on disk: one append-only log a session, in a directory that the caller chooses.
//
// A log is a text file of lines. The first one names the format and its version:
//
//	{"format":"convtools-session","version":2}
//
// Each other line is a record: the events of one step of package session, in JSON, with the CRC-32C of that JSON in
// hexadecimal.
//
//	{"crc32c":"1c291ca3","events":[{"seq":3,…},{"seq":4,…}]}
//
// A record is one write, and one sync before [Log.Append] returns. Records of agent_message_delta alone are the exception:
// they are written but not synced, since no state comes from them. A process that is killed loses nothing that was
// written; where power is lost, the pieces of a message since the last synced record may be lost too. The message itself
// is in the log when the model has ended it, and where it has not, Recovered voids its pieces.
//
// The state of a session is made from its log alone, from the beginning, whenever it is opened: there is no snapshot that
// could differ from it.
//
// What a crash leaves at the end of a log is cut off by [Open]: the first line that is not whole and all after it, as
// long as nothing of it can have been synced. Damage elsewhere is a [*DamagedError].
//
// The package must never change or remove what Append has written, other than what a crash left at the end and, in [GC],
// whole logs; and never decide what happens in a session.
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
	format    = "convtools-session"
	version   = 2
)

// header is the first line.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// record is any other line.
type record struct {
	Sum    string          `json:"crc32c"`
	Events json.RawMessage `json:"events"`
}

func checksum(events []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(events, crc32.MakeTable(crc32.Castagnoli)))
}

// recordOf returns the line of a record.
func recordOf(events []session.Event) ([]byte, error) {
	text, err := model.JSON(events)
	if err != nil {
		return nil, fmt.Errorf("encoding events from %d: %w", events[0].Seq, err)
	}
	line, err := model.JSON(record{checksum(text), text})
	return append(line, '\n'), err
}

// eventsIn returns the events of the line of a record.
func eventsIn(line []byte) ([]session.Event, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil || !bytes.HasSuffix(line, []byte("}\n")) {
		return nil, errors.New("the line is not a whole record")
	}
	if r.Sum != checksum(r.Events) {
		return nil, errors.New("the checksum is not that of the events")
	}
	var events []session.Event
	if err := json.Unmarshal(r.Events, &events); err != nil || len(events) > 0 {
		return events, err
	}
	return nil, errors.New("the line has no events")
}

// pieces reports whether a record is written without a sync.
func pieces(events []session.Event) bool {
	return !slices.ContainsFunc(events, func(e session.Event) bool { return e.Kind != session.AgentMessageDelta })
}

// BusyError is the error for a session that another process, or this one, has open for writing.
type BusyError struct{ Session string }

func (e *BusyError) Error() string { return "session " + e.Session + " is in use by another process" }

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
	// File is what is written to. It is replaced before the first Append to inject faults, count, or leave out syncs.
	File  File
	State session.State // that the log led to when it was opened
	Torn  *Torn         // what was cut off the end then; nil where the log was whole

	unlock func()
	err    error // why nothing more is written
}

// path returns the path of the log of a session in a directory. The error is a [*NotFoundError] for an id that is no plain
// file name.
func path(dir, id string) (string, error) {
	name := id + extension
	if id == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || id[0] == '.' {
		return "", &NotFoundError{Session: id, Dir: dir}
	}
	return filepath.Join(dir, name), nil
}

// Create makes the log of a new session with its first record, the events of [session.Start], in a directory that is
// made where it is missing. The log is there with that record or not at all.
func Create(dir string, events []session.Event) (*Log, error) {
	name, err := path(dir, events[0].Session)
	if err != nil {
		return nil, err
	}
	line, err := recordOf(events)
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
	first := fmt.Appendf(nil, "{\"format\":%q,\"version\":%d}\n", format, version)
	if err := safefile.Write(name, append(first, line...), 0o600); err != nil {
		return nil, err
	}
	if err := safefile.SyncDir(root); err != nil {
		return nil, err
	}
	return Open(dir, events[0].Session)
}

// Open opens the log of a session for writing. Its end is repaired where a crash has left something there. Where another
// process has it open the error is a [*BusyError]; where there is none, a [*NotFoundError]; where it cannot be continued, a
// [*DamagedError], a [*session.LogError], or says of which version it is.
func Open(dir, id string) (*Log, error) {
	unlock, err := lock(dir, id, lockTime)
	if err != nil {
		return nil, err
	}
	l := &Log{unlock: unlock}
	if l.State, l.Torn, err = Load(dir, id); err == nil {
		err = l.open(dir, id)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return l, nil
}

func (l *Log) open(dir, id string) error {
	name, _ := path(dir, id)
	f, _, err := safefile.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if l.File = f; l.Torn != nil {
		if err := errors.Join(f.Truncate(l.Torn.Offset), f.Sync()); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return nil
}

// lockTime is how long to wait for a lock. A follower takes it for a moment to see whether a process has it.
const lockTime = 100 * time.Millisecond

// lock locks the log of a session. Errors are those of [Open].
func lock(dir, id string, wait time.Duration) (unlock func(), err error) {
	name, err := path(dir, id)
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

// Sync returns when what the log held when it was opened is on disk. The process that wrote the last record may have been
// killed before its sync, and the next process must not lose the record it continues from.
func (l *Log) Sync() error {
	if err := l.File.Sync(); err != nil {
		return fmt.Errorf("syncing the session log: %w", err)
	}
	return nil
}

// Append writes a record: the events of one step. When it returns, they are on disk, apart from pieces of messages (see
// the package). After an error nothing more is written: how much of the record is on disk is not known until the log is
// opened again.
func (l *Log) Append(events []session.Event) error {
	if l.err != nil {
		return l.err
	}
	line, err := recordOf(events)
	if err == nil {
		_, err = l.File.Write(line)
	}
	if err == nil && !pieces(events) {
		err = l.File.Sync()
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
	defer l.unlock()
	return l.File.Close()
}
