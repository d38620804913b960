package sessionlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/session"
)

// Info is what a directory has of a session without opening its log.
type Info struct {
	Session  string
	Modified time.Time // when the last record was written
	Bytes    int64
	File     fs.FileInfo // of the log
}

// List returns the sessions of a directory, the one written last first. A directory that is not there has none.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Info
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), extension)
		if _, named := Path(dir, id); !ok || !named || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Info{Session: id, Modified: info.ModTime(), Bytes: info.Size(), File: info})
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Session, b.Session))
	})
	return all, nil
}

// Summary is what the first records of a log hold.
type Summary struct {
	Session string
	Started time.Time
	Root    string // the id of the root conversation
	Context session.Context
	Origin  *Origin        // nil unless the session was forked
	Input   []session.Part // the first submission; nil where there is none yet, empty where it is the call of a program outside
}

// Summarize reads the beginning of the log of a session.
func Summarize(dir, id string) (Summary, error) {
	s := Summary{Session: id}
	r, err := openReader(dir, id)
	if err != nil {
		return s, err
	}
	defer r.file.Close()
	s.Origin = r.origin
	for s.Input == nil {
		record, _, err := r.record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return s, err
		}
		for _, e := range record.Events {
			switch b := e.Body.(type) {
			case session.SessionStarted:
				s.Started = e.At
			case session.ConversationOpened:
				if b.Parent == "" {
					s.Root, s.Context = e.Conversation, b.Context
				}
			case session.SubmissionQueued:
				if s.Input = b.Submission.Input; b.Submission.Call {
					s.Input = []session.Part{} // nobody has said anything
				}
			}
		}
	}
	return s, nil
}

// Holding returns the session that has had a conversation. The error is a [*NotFoundError] where none has.
func Holding(ctx context.Context, dir, conversation string) (string, error) {
	all, err := List(dir)
	if err != nil {
		return "", err
	}
	// Text that is recorded has its quotes escaped, so that it cannot look like this.
	needle := []byte(`"conversation_id":"` + conversation + `"`)
	buffer := make([]byte, 256<<10)
	for _, info := range all {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		path, _ := Path(dir, info.Session)
		f, _, err := safefile.Open(path)
		if err != nil {
			continue // it has been removed, or cannot be used
		}
		found, err := holds(f, needle, buffer)
		f.Close()
		switch {
		case err != nil:
			return "", err
		case found:
			return info.Session, nil
		}
	}
	return "", &NotFoundError{Session: conversation, Dir: dir}
}

// holds reports whether a text is in a file.
func holds(f io.Reader, needle, buffer []byte) (bool, error) {
	kept := 0
	for {
		n, err := f.Read(buffer[kept:])
		part := buffer[:kept+n]
		switch {
		case bytes.Contains(part, needle):
			return true, nil
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		}
		kept = copy(buffer, part[max(0, len(part)-len(needle)):])
	}
}

// SeqError is the error for an event before the end of the first record, which every log has whole.
type SeqError struct {
	Seq   int64
	First int64 // the last event of the first record
}

func (e *SeqError) Error() string {
	return fmt.Sprintf("a session cannot be forked at event %d: the first %d events belong together", e.Seq, e.First)
}

// Fork makes a session with another id, in the same directory, from the records of one that end at an event or before it:
// a step is forked whole or not at all. It returns the last event that both have.
func Fork(dir, id string, seq int64, as string) (int64, error) {
	var lines []byte
	last := int64(0)
	for record, err := range Read(dir, id) {
		if err != nil {
			return 0, err
		}
		end := record.Events[len(record.Events)-1].Seq
		if end > seq {
			if last == 0 {
				return 0, &SeqError{Seq: seq, First: end}
			}
			break
		}
		for i := range record.Events {
			record.Events[i].Session = as
		}
		if started, ok := record.Events[0].Body.(session.SessionStarted); ok {
			started.ID = as
			record.Events[0].Body = started
		}
		line, err := MarshalRecord(record.Events)
		if err != nil {
			return 0, err
		}
		lines, last = append(lines, line...), end
	}
	log, err := createLines(dir, as, header{Format: format, Version: version, Origin: &Origin{Session: id, Seq: last}}, lines)
	if err != nil {
		return 0, err
	}
	return last, log.Close()
}

// UnfinishedError is why [GC] keeps a session that has something to go on with.
type UnfinishedError struct{ Session string }

func (e *UnfinishedError) Error() string { return "session " + e.Session + " has not finished" }

// Collected is what [GC] has done.
type Collected struct {
	Removed []Info
	Kept    []Kept // of those that are old enough
}

// Kept is a session that was not removed, and why: a [*BusyError], an [*UnfinishedError], or what is wrong with its log.
type Kept struct {
	Info
	Err error
}

// GC removes the logs of sessions that have finished, and were last written before a time, with all their
// conversations, destroyed ones too. Where dry is set nothing is removed.
func GC(dir string, before time.Time, dry bool) (Collected, error) {
	var done Collected
	all, err := List(dir)
	if err != nil {
		return done, err
	}
	for _, info := range all {
		if !info.Modified.Before(before) {
			continue
		}
		if err := collect(dir, info.Session, dry); err != nil {
			done.Kept = append(done.Kept, Kept{Info: info, Err: err})
			continue
		}
		done.Removed = append(done.Removed, info)
	}
	return done, removeTemporary(dir, before, dry)
}

func collect(dir, id string, dry bool) error {
	path, _ := Path(dir, id)
	unlock, err := lock(path, id, lockTime)
	if err != nil {
		return err
	}
	defer unlock()
	state, _, err := Load(dir, id)
	switch {
	case err != nil:
		return err
	case !state.Idle():
		return &UnfinishedError{Session: id}
	case dry:
		return nil
	}
	return os.Remove(path)
}

// removeTemporary removes what was left by processes that were killed while they made a log.
func removeTemporary(dir string, before time.Time, dry bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dry {
		return nil
	}
	for _, entry := range entries {
		info, gone := entry.Info()
		if safefile.Temporary(entry.Name()) && gone == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// followInterval is how often a log is looked at that is being followed.
const followInterval = 50 * time.Millisecond

// Follow is [Read], and goes on with what is written as long as a process has the session open. It ends without an error
// too when the context is done, or the log is removed.
func Follow(ctx context.Context, dir, id string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r, err := openReader(dir, id)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer r.file.Close()
		wait := time.NewTicker(followInterval)
		defer wait.Stop()
		for last := false; ; {
			record, torn, err := r.record()
			switch {
			case err == nil:
				last = false
				if !yield(record, nil) {
					return
				}
				continue
			case err != io.EOF:
				yield(Record{}, err)
				return
			case torn != nil:
				if err := r.back(torn.Offset); err != nil {
					yield(Record{}, err)
					return
				}
			}
			if last {
				return
			}
			unlock, err := lock(r.path, id, 0)
			if err == nil {
				unlock()
			}
			var busy *BusyError
			if last = !errors.As(err, &busy); last {
				continue // with what was written before its process ended
			}
			select {
			case <-ctx.Done():
				return
			case <-wait.C:
			}
		}
	}
}
