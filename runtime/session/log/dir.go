package log

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// Info is what a directory has of a session without opening its log.
type Info struct {
	Session  string
	Modified time.Time // when the last record was written
	Bytes    int64
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
		if info, err := entry.Info(); err == nil { // it was not removed since
			all = append(all, Info{Session: id, Modified: info.ModTime(), Bytes: info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Session, b.Session))
	})
	return all, nil
}

// Summary is what the first records of a log hold.
type Summary struct {
	Started time.Time
	Context session.Context
	Input   []session.Part // the first submission; empty where there is none, or it is the call of a program outside
}

// Summarize reads the beginning of the log of a session.
func Summarize(dir, id string) (Summary, error) {
	var s Summary
	for events, err := range Read(dir, id) {
		if err != nil {
			return s, err
		}
		for _, e := range events {
			switch e.Kind {
			case session.SessionStarted:
				s.Started = e.At
			case session.ConversationOpened:
				if e.Parent == "" {
					s.Context = e.Context
				}
			case session.SubmissionQueued:
				s.Input = e.Queued.Input
				return s, nil
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
	for _, info := range all {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if holds(dir, info.Session, conversation) {
			return info.Session, nil
		}
	}
	return "", &NotFoundError{Session: conversation, Dir: dir}
}

// holds reports whether a session has had a conversation. One that cannot be read has not.
func holds(dir, id, conversation string) bool {
	r, err := open(dir, id)
	if err != nil {
		return false
	}
	defer r.file.Close()
	// Text that is recorded has its quotes escaped, so that it cannot look like this.
	needle := []byte(`"conversation_id":"` + conversation + `"`)
	for {
		line, err := r.next()
		if err != nil || bytes.Contains(line, needle) {
			return err == nil
		}
	}
}

// Collected is what [GC] has done.
type Collected struct {
	Removed []Info
	Kept    []error // why others that are old enough are: it is in use, has not finished, or is damaged
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
			done.Kept = append(done.Kept, err)
			continue
		}
		done.Removed = append(done.Removed, info)
	}
	return done, nil
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
		return fmt.Errorf("session %s has not finished", id)
	case dry:
		return nil
	}
	return os.Remove(path)
}
