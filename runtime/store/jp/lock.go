package jp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	locksDir = "locks"
	// newLock is the lock for making and removing directories. JP has no such lock; the name is not the lock of any
	// conversation.
	newLock = "convtools-new.lock"
)

func lockName(n number) string { return string(n.id()) + ".lock" }

// LockedError is the error for a conversation that another process is changing.
type LockedError struct {
	ID transcript.ID `json:"-"` // empty for the lock for new conversations
	// PID and Since are recorded in the lock; 0 and the zero time if it has nothing that can be read.
	PID   int       `json:"pid"`
	Since time.Time `json:"acquired_at"`
}

func (e *LockedError) Error() string {
	text := "conversation " + string(e.ID)
	if e.ID == "" {
		text = "the choice of a new id"
	}
	text += " is locked by another process"
	if e.PID != 0 {
		text += fmt.Sprintf(" (pid %d)", e.PID)
	}
	if !e.Since.IsZero() {
		text += " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// lock takes a lock until the end of the transaction. While another process holds the lock it tries again, for as long as
// wait says; then the error is a [*LockedError].
func (tx *transaction) lock(ctx context.Context, name string, wait time.Duration) error {
	const interval = 10 * time.Millisecond
	for deadline := time.Now().Add(wait); ; {
		release, err := tx.wr.tryLock(name)
		if err == nil {
			tx.release = append(tx.release, release)
			return nil
		}
		if _, isLocked := errors.AsType[*LockedError](err); !isLocked || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}

// tryLock takes a lock. The error is a [*LockedError] if another process holds it.
func (wr *Writer) tryLock(name string) (release func(), err error) {
	name = locksDir + "/" + name
	root, err := wr.w.lockRoot(name)
	if err != nil {
		return nil, err
	}
	f, err := openLock(root, name)
	if err != nil {
		root.Close()
		return nil, err
	}
	if text, err := json.Marshal(LockedError{PID: os.Getpid(), Since: wr.now().UTC()}); err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(text, 0) // it is for people; the lock needs no content
	}
	return func() {
		// The file is removed before the lock ends: a process that opens it earlier sees that it is gone.
		_ = root.Remove(name)
		f.Close()
		if runtime.GOOS == "windows" { // an open file cannot be removed there
			_ = root.Remove(name)
		}
		root.Close()
	}, nil
}

// lockRoot opens the store that has the directory of locks: as in JP that is the user's store, or the project's if there is
// no user store or the lock exists in the project already.
func (w *Workspace) lockRoot(name string) (*os.Root, error) {
	project, err := config.OpenDir(w.root, storageDir, w.getenv)
	if err != nil {
		return nil, cannotChange(filepath.Join(w.root, storageDir), err)
	}
	if _, err := project.Lstat(name); err == nil || !store.IsThere(w.user) {
		return project, nil
	}
	project.Close()
	user, err := safefile.OpenDir(w.user)
	if err != nil {
		return nil, cannotChange(w.user, history.Reason(err))
	}
	return user, nil
}

// openLock opens a lock file, or makes it, and locks it. The error is a [*LockedError] if another process holds the lock.
func openLock(root *os.Root, name string) (f *os.File, err error) {
	err = root.Mkdir(locksDir, newDirMode)
	var opened fs.FileInfo
	if err == nil || errors.Is(err, fs.ErrExist) {
		f, opened, err = safefile.OpenFileIn(root, name, os.O_RDWR|os.O_CREATE, newFileMode)
	}
	if err != nil {
		return nil, cannotChange(filepath.Join(root.Name(), locksDir), history.Reason(err))
	}
	isLocked, err := lockFile(f)
	if err == nil && !isLocked {
		err = holder(f)
	}
	if current, statErr := root.Stat(name); err == nil && (statErr != nil || !os.SameFile(opened, current)) {
		err = &LockedError{} // the holder has removed this file, and another process may have locked a new one
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holder returns the [*LockedError] with the content of a lock file, an empty one if the content cannot be read.
func holder(f *os.File) error {
	const maxSize = 4 << 10
	var locked LockedError
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxSize))
	if err != nil || json.Unmarshal(data, &locked) != nil {
		return &LockedError{}
	}
	return &locked
}
