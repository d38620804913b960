package log

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/session"
)

// DamagedError is the error for a log with a line that cannot be what Append wrote, nor what a crash left.
type DamagedError struct {
	Path   string
	Offset int64 // of the line, in bytes
	Err    error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v", e.Path, e.Offset, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Torn is what a crash left at the end of a log.
type Torn struct {
	Offset int64 // where it begins
	Bytes  int64
}

// reader reads the records of a log.
type reader struct {
	path   string
	file   *os.File
	in     *bufio.Reader
	offset int64 // of the end of the last record that was read
	end    int64 // of the end of the last line that was read
}

// openReader opens the log of a session for reading, without a lock, and reads the first line.
func openReader(dir, id string) (*reader, error) {
	name, err := logPath(dir, id)
	if err != nil {
		return nil, err
	}
	f, _, err := safefile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = &NotFoundError{Session: id, Dir: dir}
	}
	if err != nil {
		return nil, err
	}
	r, err := newReader(name, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// newReader returns a reader that has read the first line, which names the format and the version of this program.
func newReader(path string, in io.Reader) (*reader, error) {
	r := &reader{path: path, in: bufio.NewReaderSize(in, 64<<10)}
	line, err := r.readLine()
	if err != nil && err != io.EOF { // an empty file has a wrong first line
		return nil, err
	}
	var v int
	if _, err := fmt.Sscanf(string(line), header, &v); err != nil || v < 1 {
		return nil, &DamagedError{Path: path, Err: errors.New("the first line is not that of a session log")}
	}
	if v != version {
		return nil, fmt.Errorf("%s has version %d of the session format, and this program reads version %d", path, v, version)
	}
	r.offset = r.end
	return r, nil
}

// readLine returns the next line with its line break, if it has one. The error at the end of the file is [io.EOF].
func (r *reader) readLine() ([]byte, error) {
	line, err := r.in.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("reading %s: %w", r.path, err)
	}
	r.end += int64(len(line))
	return line, err
}

// readRecord returns the events of the next record. The error is [io.EOF] at the end of the file, and for a line that a
// crash may have left incomplete. It is a [*DamagedError] for a line that is wrong although it was synced to disk.
func (r *reader) readRecord() ([]session.Event, error) {
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	events, err := eventsIn(line)
	switch {
	case err == nil:
		r.offset = r.end
		return events, nil
	case r.wasSynced(): // so no crash has left the line incomplete
		return nil, &DamagedError{Path: r.path, Offset: r.offset, Err: err}
	}
	return nil, io.EOF
}

// wasSynced reports whether the line that was just read, which is no record, had been synced to disk. Append syncs the
// file after a record with more than deltas, before it writes the next record. So wasSynced looks for two records: one
// with more than deltas, and any later one. If the rest cannot be read, wasSynced returns true.
func (r *reader) wasSynced() bool {
	syncFollows := false
	for {
		line, err := r.readLine()
		if err != nil {
			return err != io.EOF
		}
		events, err := eventsIn(line)
		switch isRecord := err == nil; {
		case isRecord && syncFollows:
			return true
		case isRecord && !onlyDeltas(events):
			syncFollows = true
		}
	}
}

// records yields the events of each record up to the end, or up to an error, which it yields too.
func (r *reader) records(yield func([]session.Event, error) bool) {
	for goOn := true; goOn; {
		events, err := r.readRecord()
		if err == io.EOF {
			return
		}
		goOn = yield(events, err) && err == nil
	}
}

// events yields the events one by one, or an error. It returns true at the end of the log, false after an error or a stop.
func (r *reader) events(yield func(session.Event, error) bool) bool {
	for events, err := range r.records {
		if err != nil {
			yield(session.Event{}, err)
			return false
		}
		for _, e := range events {
			if !yield(e, nil) {
				return false
			}
		}
	}
	return true
}

// replay returns the state that the records lead to, and what a crash left at the end of the log, or nil.
func (r *reader) replay() (s session.State, torn *Torn, err error) {
	begin := r.offset // of the record
	for events, err := range r.records {
		if err != nil {
			return session.State{}, nil, err
		}
		if s, err = s.Apply(events); err != nil {
			return session.State{}, nil, &DamagedError{Path: r.path, Offset: begin, Err: err}
		}
		begin = r.offset
	}
	if s.Root() == nil { // the first record is made together with the first line
		return s, nil, &DamagedError{Path: r.path, Offset: r.offset, Err: errors.New("the first record is missing")}
	}
	if r.end > r.offset {
		torn = &Torn{Offset: r.offset, Bytes: r.end - r.offset}
	}
	return s, torn, nil
}

// Load returns the state of a session, and the incomplete record at the end of its log, if there is one: a crash left
// the record, or a process is writing it. Errors are those of [Open] except [*BusyError].
func Load(dir, id string) (session.State, *Torn, error) {
	r, err := openReader(dir, id)
	if err != nil {
		return session.State{}, nil, err
	}
	defer r.file.Close()
	return r.replay()
}

// Events yields the events of a session, without an incomplete record at the end. Errors are those of [Load].
func Events(dir, id string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r, err := openReader(dir, id)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		defer r.file.Close()
		r.events(yield)
	}
}

// Follow is like [Events], but waits for further events while a process has the session open. It stops when ctx ends.
func Follow(ctx context.Context, dir, id string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r, err := openReader(dir, id)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		defer r.file.Close()
		for isLast := false; r.events(yield) && !isLast; {
			isLast = !isOpen(dir, id) // one more round reads what the process has written before it closed the session
			select {
			case <-ctx.Done():
				return
			case <-time.After(followInterval):
			}
			_, _ = r.file.Seek(r.offset, io.SeekStart) // reads a record again that was incomplete; cannot fail in a regular file
			r.in.Reset(r.file)
			r.end = r.offset
		}
	}
}

// isOpen reports whether a process has a session open for writing.
func isOpen(dir, id string) bool {
	unlock, err := lock(dir, id, 0)
	if err == nil {
		unlock()
	}
	_, busy := errors.AsType[*BusyError](err)
	return busy
}
