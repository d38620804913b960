package log

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/session"
)

// Info describes a session without opening its log.
type Info struct {
	Session  string
	Modified time.Time // when the last record was written
	Bytes    int64
}

// List returns the sessions that have a log in a directory, the one written last first. A missing directory has none.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Info
	for _, entry := range entries {
		id, hasExtension := strings.CutSuffix(entry.Name(), extension)
		_, idErr := logPath(dir, id)
		isLog := hasExtension && idErr == nil && entry.Type().IsRegular()
		if info, err := entry.Info(); isLog && err == nil { // after an error, the log was removed meanwhile
			all = append(all, Info{Session: id, Modified: info.ModTime(), Bytes: info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Session, b.Session))
	})
	return all, nil
}

// Summary is the beginning of a session.
type Summary struct {
	Started time.Time
	Context session.Context // of the root
	Input   []session.Part  // of the first submission; empty if there is none, or it is a call
}

// Summarize reads the beginning of the log of a session, up to its first submission. Errors are those of [Load].
func Summarize(dir, id string) (s Summary, err error) {
	for e, err := range Events(dir, id) {
		switch {
		case err != nil:
			return s, err
		case e.Kind == session.ConversationOpened && e.Parent == "":
			s.Started, s.Context = e.At, e.Context
		case e.Kind == session.SubmissionQueued:
			s.Input = e.Queued.Input
			return s, nil
		}
	}
	return s, nil
}

// GC removes the logs of finished sessions that were last written before a time, unless dry is true. It returns these
// sessions, and in kept an error for each other session that is as old. err says that the directory cannot be listed.
func GC(dir string, before time.Time, dry bool) (removed []Info, kept []error, err error) {
	all, err := List(dir)
	for _, info := range all {
		if !info.Modified.Before(before) {
			continue
		}
		if err := removeFinished(dir, info.Session, dry); err != nil {
			kept = append(kept, err)
		} else {
			removed = append(removed, info)
		}
	}
	return removed, kept, err
}

// removeFinished removes the log of a session. It is an error if the session has not finished, is in use or cannot be
// read. If dry is true, removeFinished only checks that.
func removeFinished(dir, id string, dry bool) error {
	unlock, err := lock(dir, id, lockTime)
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
	return os.Remove(filepath.Join(dir, id+extension))
}
