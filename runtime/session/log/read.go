package log

import (
	"bufio"
	"context"
	"encoding/json"
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

// DamagedError is the error for a log with a line that is not as it was written, and that no crash has left.
type DamagedError struct {
	Path   string
	Offset int64 // of the line in the file
	Err    error // what is wrong
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v", e.Path, e.Offset, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Torn is what a crash has left at the end of a log.
type Torn struct {
	Offset int64 // where it begins
	Bytes  int64
}

// reader reads the records of a log one after the other.
type reader struct {
	path   string
	file   *os.File
	in     *bufio.Reader
	offset int64 // of the next line
	torn   *Torn // at the end
}

// open opens the log of a session for reading.
func open(dir, id string) (*reader, error) {
	name, err := path(dir, id)
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

// newReader reads the first line. Without one, the error is a [*DamagedError]: a log is created with it.
func newReader(path string, in io.Reader) (*reader, error) {
	r := &reader{path: path, in: bufio.NewReaderSize(in, 64<<10)}
	line, err := r.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	var h header
	if json.Unmarshal(line, &h) != nil || h.Format != format || h.Version < 1 {
		return nil, &DamagedError{Path: path, Err: errors.New("the first line is not that of a session log")}
	}
	if h.Version != version {
		return nil, fmt.Errorf("%s has version %d of the session format, and this program reads version %d", path, h.Version, version)
	}
	return r, nil
}

// next returns the next line with its line break, which may be missing at the end. At the end the error is [io.EOF].
func (r *reader) next() ([]byte, error) {
	line, err := r.in.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("reading %s: %w", r.path, err)
	}
	r.offset += int64(len(line))
	return line, err
}

// record returns the events of the next line. At the end of the log the error is [io.EOF], and torn is set where a crash
// has left something there.
func (r *reader) record() ([]session.Event, error) {
	start := r.offset
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	events, err := eventsIn(line)
	if err == nil {
		return events, nil
	}
	if r.synced() {
		return nil, &DamagedError{Path: r.path, Offset: start, Err: err}
	}
	r.torn = &Torn{Offset: start, Bytes: r.offset - start}
	return nil, io.EOF
}

// synced reads on to the end after a line that is not a record. It reports whether that line was synced: it was if a later
// record is followed by another and had to be synced first.
func (r *reader) synced() bool {
	synced := false
	for {
		line, err := r.next()
		if err != nil {
			return err != io.EOF
		}
		events, err := eventsIn(line)
		if err == nil && synced {
			return true
		}
		synced = synced || err == nil && !pieces(events)
	}
}

// records passes on the records up to the end.
func (r *reader) records(yield func([]session.Event, error) bool) (more bool) {
	for {
		events, err := r.record()
		if err == io.EOF {
			return true
		}
		if !yield(events, err) || err != nil {
			return false
		}
	}
}

// state returns the state that the records lead to, and what a crash has left at the end.
func (r *reader) state() (session.State, *Torn, error) {
	state, err := session.Fold(func(yield func([]session.Event, error) bool) { r.records(yield) })
	var damage *session.LogError
	if errors.As(err, &damage) {
		err = fmt.Errorf("reading %s: %w", r.path, err)
	}
	return state, r.torn, err
}

// Load returns the state that the log of a session leads to, also while it is being written, and what a crash, or a
// record that is half written, leaves at its end. Errors are those of [Open], except that nobody is busy.
func Load(dir, id string) (session.State, *Torn, error) {
	r, err := open(dir, id)
	if err != nil {
		return session.State{}, nil, err
	}
	defer r.file.Close()
	return r.state()
}

// Read reads the records of the log of a session, the events of one step each, also while it is being written. What a
// crash has left at the end, or a record that is half written, ends it without an error. Errors are those of [Load].
func Read(dir, id string) iter.Seq2[[]session.Event, error] {
	return read(dir, id, func(*reader) bool { return false })
}

// read reads the records, and again as long as there may be more.
func read(dir, id string, again func(*reader) bool) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		r, err := open(dir, id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.file.Close()
		for r.records(yield) && again(r) {
			if r.torn != nil { // what was half written is read again
				r.offset, r.torn = r.torn.Offset, nil
			}
			if _, err := r.file.Seek(r.offset, io.SeekStart); err != nil {
				yield(nil, err)
				return
			}
			r.in.Reset(r.file)
		}
	}
}

// followInterval is how often a log is looked at that is being followed.
const followInterval = 50 * time.Millisecond

// Follow is [Read], and goes on with what is written as long as a process has the session open. It ends without an error
// too when the context is done, or the log is removed.
func Follow(ctx context.Context, dir, id string) iter.Seq2[[]session.Event, error] {
	last := false
	return read(dir, id, func(*reader) bool {
		if last {
			return false
		}
		unlock, err := lock(dir, id, 0)
		if err == nil {
			unlock()
		}
		var busy *BusyError
		last = !errors.As(err, &busy) // and then what was written before its process ended
		select {
		case <-ctx.Done():
			return false
		case <-time.After(followInterval):
			return true
		}
	})
}
