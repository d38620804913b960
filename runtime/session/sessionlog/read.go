package sessionlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/session"
)

// DamagedError is the error for a log with a line that is not as it was written, and that no crash has left.
type DamagedError struct {
	Path   string
	Offset int64 // of the line in the file
	Line   int   // its number, from 1
	Seq    int64 // the last event before it
	Err    error // what is wrong
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d (line %d, after event %d): %v", e.Path, e.Offset, e.Line, e.Seq, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// VersionError is the error for a log that another version of the format is in, written by a newer program.
type VersionError struct {
	Path      string
	Version   int
	Supported int // the newest that this program reads
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d of the session format; this program reads up to %d", e.Path, e.Version, e.Supported)
}

// Torn is what a crash has left at the end of a log.
type Torn struct {
	Offset int64 // where it begins
	Bytes  int64
	Err    error // what is wrong with the first line
}

// reader reads the records of a log one after the other.
type reader struct {
	path   string
	file   *os.File
	in     *bufio.Reader
	offset int64 // of the next line
	line   int   // the number of the line before
	seq    int64
	origin *Origin
}

// openReader opens the log of a session for reading.
func openReader(dir, id string) (*reader, error) {
	path, ok := Path(dir, id)
	if !ok {
		return nil, &NotFoundError{Session: id, Dir: dir}
	}
	f, _, err := safefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = &NotFoundError{Session: id, Dir: dir}
	}
	if err != nil {
		return nil, err
	}
	r, err := newReader(path, f)
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
	switch err := json.Unmarshal(line, &h); {
	case err != nil:
		return nil, r.damaged(0, errors.New("the first line is not that of a session log"))
	case h.Format != format || h.Version < 1:
		return nil, r.damaged(0, errors.New("the first line is not that of a session log"))
	case h.Version > version:
		return nil, &VersionError{Path: path, Version: h.Version, Supported: version}
	}
	var again bytes.Buffer
	if err := encode(&again, h); err != nil || !bytes.Equal(again.Bytes(), line) {
		return nil, r.damaged(0, errors.New("the first line is not as it was written"))
	}
	r.origin = h.Origin
	return r, nil
}

// next returns the next line with its line break, which may be missing at the end. At the end the error is [io.EOF].
func (r *reader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if line == nil && err == nil {
			line = part // valid until the next call
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull && len(line) <= maxRecord:
			continue
		case err == bufio.ErrBufferFull:
			return nil, r.damaged(r.offset, &TooLargeError{Bytes: len(line), Most: maxRecord})
		case err == io.EOF && len(line) > 0:
			err = nil
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("reading %s: %w", r.path, err)
		}
		r.offset += int64(len(line))
		r.line++
		return line, err
	}
}

func (r *reader) damaged(offset int64, err error) *DamagedError {
	return &DamagedError{Path: r.path, Offset: offset, Line: r.line, Seq: r.seq, Err: err}
}

// record returns the events of the next line. At the end of the log the error is [io.EOF]; torn is set with it where a
// crash has left something there.
func (r *reader) record() (Record, *Torn, error) {
	start := r.offset
	line, err := r.next()
	if err != nil {
		return Record{}, nil, err
	}
	events, err := unmarshalRecord(line)
	if err == nil {
		r.seq = events[len(events)-1].Seq
		return Record{Events: events, Line: line}, nil, nil
	}
	damage := r.damaged(start, err)
	if r.syncedAfter(line) {
		return Record{}, nil, damage
	}
	return Record{}, &Torn{Offset: start, Bytes: r.offset - start, Err: err}, io.EOF
}

// syncedAfter reads on to the end, from a line that is not a record, and reports whether what is there proves that the
// line was synced: a whole record follows one which has to be synced before anything is written after it.
func (r *reader) syncedAfter(line []byte) bool {
	synced, proven := false, false
	for {
		// Where a line break is damaged, a record begins within the line.
		for begin := 0; begin >= 0; {
			line = line[begin:]
			if events, err := unmarshalRecord(line); err == nil {
				proven = proven || synced
				synced = synced || !unsynced(events)
			}
			if begin = bytes.Index(line[min(1, len(line)):], []byte(beforeSum)); begin >= 0 {
				begin++
			}
		}
		var err error
		if line, err = r.next(); err != nil {
			return proven || !errors.Is(err, io.EOF)
		}
	}
}

// Record is one record of a log.
type Record struct {
	Events []session.Event
	Line   []byte // as it stands in the log; valid until the next record is read
}

// Read reads the records of the log of a session, also while it is being written. What a crash has left at the end, or
// a record that is half written, ends it without an error. Errors are as those of [Open], except that nobody is busy.
func Read(dir, id string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r, err := openReader(dir, id)
		if err == nil {
			defer r.file.Close()
		}
		for err == nil {
			var record Record
			if record, _, err = r.record(); err == nil && !yield(record, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Record{}, err)
		}
	}
}

// back has a line read again that was not whole.
func (r *reader) back(offset int64) error {
	if _, err := r.file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	r.in.Reset(r.file)
	r.offset = offset
	return nil
}
