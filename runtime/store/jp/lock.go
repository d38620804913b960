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
)

func lockName(n number) string { return string(n.id()) + ".lock" }

// LockedError is the error for a conversation that another process is changing.
type LockedError struct {
	ID transcript.ID // empty where it is the lock for new conversations
	// PID and Since are what the other process wrote into its lock: 0 and the zero
	// time where it wrote nothing that can be read.
	PID   int
	Since time.Time
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

// lock takes a lock and waits for at most a time while another process has
// it; the error is a [*LockedError] then.
func (wr *Writer) lock(ctx context.Context, name string, wait time.Duration) (release func(), err error) {
	const interval = 10 * time.Millisecond
	for deadline := time.Now().Add(wait); ; {
		release, err := wr.tryLock(name)
		var busy *LockedError
		if !errors.As(err, &busy) || !time.Now().Before(deadline) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}

// tryLock takes a lock. The error is a [*LockedError] where another process has it.
func (wr *Writer) tryLock(name string) (release func(), err error) {
	name = path.Join(locksDir, name)
	root, err := wr.w.lockRoot(name)
	if err != nil {
		return nil, err
	}
	f, err := openLock(root, name)
	if err != nil {
		root.Close()
		return nil, err
	}
	holder := holder{os.Getpid(), wr.now().UTC()}
	if text, err := json.Marshal(holder); err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(text, 0) // the lock holds also without
	}
	return func() {
		// The file is removed before the lock ends, so that whoever waits for it sees that it is
		// gone; an orphan is nobody's lock.
		_ = root.Remove(name)
		f.Close()
		if runtime.GOOS == "windows" { // where an open file cannot be removed
			_ = root.Remove(name)
		}
		root.Close()
	}, nil
}

// lockRoot opens the directory with the directory of the locks, as JP has them: in the user's
// store, or in the project's where there is no user store, or where the lock is there already.
func (w *Workspace) lockRoot(name string) (*os.Root, error) {
	project, err := config.OpenDir(w.root, storageDir, w.getenv)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", filepath.Join(w.root, storageDir), err)
	}
	if _, err := project.Lstat(name); err == nil || w.user == "" {
		return project, nil
	}
	user, err := safefile.OpenDir(w.user)
	if errors.Is(err, fs.ErrNotExist) {
		return project, nil
	}
	project.Close()
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", w.user, reason(err))
	}
	return user, nil
}

// openLock opens a file that is a lock and locks it, if nobody else has it.
func openLock(root *os.Root, name string) (*os.File, error) {
	if err := root.Mkdir(locksDir, newDirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &StoreError{Path: filepath.Join(root.Name(), locksDir), Err: reason(err)}
	}
	f, mine, err := safefile.OpenFileIn(root, name, os.O_RDWR|os.O_CREATE, newFileMode)
	if err != nil {
		return nil, &StoreError{Path: filepath.Join(root.Name(), locksDir), Err: reason(err)}
	}
	held, err := lockFile(f)
	if err == nil && !held {
		err = readHolder(f)
	} else if there, statErr := root.Stat(name); err == nil && (statErr != nil || !os.SameFile(mine, there)) {
		// Who had the lock has removed what was opened, and somebody else may have made and
		// locked another.
		err = &LockedError{}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holder is what is in a lock file, for people.
type holder struct {
	PID        int       `json:"pid"`
	AcquiredAt time.Time `json:"acquired_at"`
}

// readHolder returns the error that says who has a lock.
func readHolder(f *os.File) error {
	const maxSize = 4 << 10
	var by holder
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxSize))
	if err != nil || json.Unmarshal(data, &by) != nil {
		return &LockedError{}
	}
	return &LockedError{PID: by.PID, Since: by.AcquiredAt}
}
