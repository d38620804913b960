package jp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lock takes a lock as another process does.
func (f *fixture) lock(name string) func() {
	f.t.Helper()
	release, err := f.writer().tryLock(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return release
}

func TestLocked(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	release := f.lock(string(projected) + ".lock")
	hide := always(Change{Hidden: to(true)})
	var busy *LockedError
	if _, err := f.writer().Edit(t.Context(), projected, hide); !errors.As(err, &busy) {
		t.Fatalf("edited what is locked: %v", err)
	}
	if busy.ID != projected || busy.PID != os.Getpid() || !busy.Since.Equal(writtenAt) {
		t.Errorf("%+v", busy)
	}
	if err := f.writer().Remove(t.Context(), projected); !errors.As(err, &busy) {
		t.Errorf("removed what is locked: %v", err)
	}
	if _, err := f.writer().Fork(t.Context(), projected, ForkOptions{}); err != nil {
		t.Errorf("a fork has to wait for its source: %v", err)
	}

	patient := f.writer()
	patient.wait = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := patient.Edit(ctx, projected, hide); !errors.Is(err, enough) {
		t.Errorf("waiting ends with its context: %v", err)
	}
	done := make(chan error)
	go func() {
		_, err := patient.Edit(t.Context(), projected, hide)
		done <- err
	}()
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if locks, _ := os.ReadDir(filepath.Join(f.base, "data/workspace/project-"+testID, locksDir)); len(locks) > 0 {
		t.Errorf("left: %v", locks)
	}
}

// TestLockPlaces tests that locks are where JP makes them.
func TestLockPlaces(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	name := string(projected) + ".lock"
	// A file that no process has locked is no lock.
	f.write("data/workspace/project-"+testID+"/locks/"+name, "{}")
	f.lock(name)()
	// If the lock exists in the project, that one is taken.
	f.write("project/.jp/locks/"+name, "not JSON")
	release := f.lock(name)
	if _, err := os.Stat(filepath.Join(f.base, "data/workspace/project-"+testID, locksDir, name)); err == nil {
		t.Error("the lock is in the user's store")
	}
	release()
	if _, err := os.Stat(filepath.Join(f.base, "project/.jp/locks", name)); err == nil {
		t.Error("the lock is left in the project")
	}
	// It is also taken there if there is no user's store.
	if err := os.RemoveAll(filepath.Join(f.base, "data")); err != nil {
		t.Fatal(err)
	}
	release = f.lock(name)
	defer release()
	if _, err := os.Stat(filepath.Join(f.base, "project/.jp/locks", name)); err != nil {
		t.Error(err)
	}
	var busy *LockedError
	if _, err := f.writer().Edit(t.Context(), projected, always(Change{})); !errors.As(err, &busy) {
		t.Errorf("edited what is locked: %v", err)
	}
}

// TestLocksStayInside tests a link out of the project in place of the directory of locks.
func TestLocksStayInside(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	f.mkdir("outside")
	if err := os.Symlink(filepath.Join(f.base, "outside"), filepath.Join(f.base, "project/.jp/locks")); err != nil {
		t.Skip(err)
	}
	f.write("outside/"+string(projected)+".lock", "")
	if _, err := f.writer().Edit(t.Context(), projected, always(Change{Hidden: to(true)})); err == nil {
		if _, err := os.Stat(filepath.Join(f.base, "outside", string(projected)+".lock")); err != nil {
			t.Errorf("a file outside of the project: %v", err)
		}
	}
}

// TestNoPlaceForLocks tests the error for a directory of locks that cannot be written: it names the
// directory.
func TestNoPlaceForLocks(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	dir := filepath.Join(f.base, "data/workspace/project-"+testID, locksDir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := f.writer().Edit(t.Context(), projected, always(Change{Hidden: to(true)}))
	if err == nil || !strings.HasPrefix(err.Error(), dir+" cannot be changed: ") {
		t.Errorf("%v, want one about %s", err, dir)
	}
}
