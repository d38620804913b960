package jp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	locksDir = "locks"
	// newLock is the lock of whoever chooses a new id. JP has no such lock: it is
	// spelled so that JP takes it for no conversation's.
	newLock = "convtools-new.lock"
	// lockInterval is how often a lock is tried that another process has.
	lockInterval = 10 * time.Millisecond
	// maxLockSize bounds what is read of a lock file.
	maxLockSize = 4 << 10
)

// LockedError is the error for a conversation that another process is changing.
type LockedError struct {
	ID transcript.ID // empty where it is the lock for new conversations
	// PID and Since are what the other process wrote into its lock: 0 and the zero
	// time where it wrote nothing that can be read.
	PID    int
	Since  time.Time
	Waited time.Duration
}

func (e *LockedError) Error() string {
	what := "conversation " + string(e.ID)
	if e.ID == "" {
		what = "the choice of a new id"
	}
	text := what + " is locked by another process"
	if e.PID != 0 {
		text += fmt.Sprintf(" (pid %d)", e.PID)
	}
	if !e.Since.IsZero() {
		text += " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// locks is where the locks of a workspace are, as JP has them: in the user's
// store, or in the project's where there is no user store, or where a lock stands
// there already.
type locks struct {
	user, project *os.Root // nil where there is none
	pid           int
	now           func() time.Time
}

func (w *Workspace) openLocks(now func() time.Time) (*locks, error) {
	l := &locks{pid: os.Getpid(), now: now}
	var err error
	if l.project, err = config.OpenDir(w.root, storageDir, w.getenv); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path.Join(w.root, storageDir), err)
	}
	if w.user != "" {
		if l.user, err = safefile.OpenDir(w.user); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.close()
			return nil, fmt.Errorf("opening %s: %w", w.user, reason(err))
		}
	}
	return l, nil
}

func (l *locks) close() {
	for _, root := range []*os.Root{l.project, l.user} {
		if root != nil {
			root.Close()
		}
	}
}

func lockName(n number) string { return string(n.id()) + ".lock" }

// acquire takes a lock and waits for at most a time while another process has
// it; the error is a [*LockedError] then.
func (l *locks) acquire(ctx context.Context, name string, wait time.Duration) (release func(), err error) {
	for deadline := time.Now().Add(wait); ; {
		release, busy, err := l.try(name)
		if err != nil || release != nil {
			return release, err
		}
		if busy.Waited = wait; !time.Now().Before(deadline) {
			return nil, busy
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}

// try takes a lock, or returns who has it.
func (l *locks) try(name string) (release func(), busy *LockedError, err error) {
	root := l.project
	name = path.Join(locksDir, name)
	if l.user != nil {
		if _, err := l.project.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			root = l.user
		}
	}
	if err := root.Mkdir(locksDir, newDirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, nil, lockFailed(root, err)
	}
	f, mine, err := safefile.OpenFileIn(root, name, os.O_RDWR|os.O_CREATE, newFileMode)
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, nil, fmt.Errorf("opening the lock %s: %w", name, safefile.ErrNotRegular)
	}
	if err != nil {
		return nil, nil, lockFailed(root, err)
	}
	held, err := lockFile(f)
	if err == nil && !held {
		busy = readHolder(f)
	} else if there, statErr := root.Stat(name); err == nil && (statErr != nil || !os.SameFile(mine, there)) {
		// Who had the lock has removed what was opened, and somebody else may have made and
		// locked another.
		busy = &LockedError{}
	}
	if err != nil || busy != nil {
		f.Close()
		return nil, busy, err
	}
	l.sign(f)
	return func() {
		// The file is removed before the lock ends, so that whoever waits for it sees that it is
		// gone; an orphan is nobody's lock.
		_ = root.Remove(name)
		f.Close()
		if runtime.GOOS == "windows" { // where an open file cannot be removed
			_ = root.Remove(name)
		}
	}, nil, nil
}

// lockFailed is the error where a lock cannot be made, as in a store that is
// read-only.
func lockFailed(root *os.Root, err error) error {
	return &StoreError{Path: filepath.Join(root.Name(), locksDir), Err: reason(err)}
}

// holder is what is in a lock file, for people.
type holder struct {
	PID        int       `json:"pid"`
	AcquiredAt time.Time `json:"acquired_at"`
}

// sign writes who has the lock. The lock holds also where that fails.
func (l *locks) sign(f *os.File) {
	text, err := json.Marshal(holder{l.pid, l.now().UTC()})
	if err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(text, 0)
	}
}

func readHolder(f *os.File) *LockedError {
	var by holder
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxLockSize))
	if err != nil || json.Unmarshal(data, &by) != nil {
		return &LockedError{}
	}
	return &LockedError{PID: by.PID, Since: by.AcquiredAt}
}
