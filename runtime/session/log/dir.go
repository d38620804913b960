package log

import (
	"cmp"
	"context"
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
		if _, err := path(dir, id); !ok || err != nil || !entry.Type().IsRegular() {
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
func Summarize(dir, id string) (s Summary, err error) {
	for events, err := range Read(dir, id) {
		if err != nil {
			return s, err
		}
		for _, e := range events {
			switch {
			case e.Kind == session.ConversationOpened && e.Parent == "":
				s.Started, s.Context = e.At, e.Context
			case e.Kind == session.SubmissionQueued:
				s.Input = e.Queued.Input
				return s, nil
			}
		}
	}
	return s, nil
}

// Begun returns the sessions, by conversation, of the conversations whose ids begin with id: roots if any do, and
// otherwise those that models have begun. With part, it returns the conversations that models have begun whose ids begin
// with part, in the sessions whose ids begin with id. A log that cannot be read has only its root.
func Begun(ctx context.Context, dir, id, part string) (map[string]string, error) {
	all, err := List(dir)
	found := map[string]string{}
	for _, info := range all {
		if part == "" && strings.HasPrefix(info.Session, id) {
			found[info.Session] = info.Session
		}
	}
	if err != nil || len(found) > 0 {
		return found, err
	}
	for _, info := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if part != "" && !strings.HasPrefix(info.Session, id) {
			continue
		}
		for events := range Read(dir, info.Session) {
			for _, e := range events {
				if e.Kind == session.ConversationOpened && e.Parent != "" && strings.HasPrefix(e.Conversation, cmp.Or(part, id)) {
					found[e.Conversation] = info.Session
				}
			}
		}
	}
	return found, nil
}

// Collected is what [GC] has done.
type Collected struct {
	Removed []Info
	Kept    []error // why others that are old enough are: it is in use, has not finished, or is damaged
}

// GC removes the logs of sessions that have finished, and were last written before a time, with all their
// conversations, destroyed ones too. Where dry is set nothing is removed.
func GC(dir string, before time.Time, dry bool) (done Collected, err error) {
	all, err := List(dir)
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
	return done, err
}

func collect(dir, id string, dry bool) error {
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
