//go:build unix

package project_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/project"
)

// TestFIFO tests that nothing waits for the other end of a FIFO.
func TestFIFO(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	fifo := func(name string) {
		t.Helper()
		f.mkdir(filepath.Dir(name))
		if err := syscall.Mkfifo(f.path(name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	fifo("state/excluded")
	fifo("entry/excluded/a.json")
	fifo("main/.git/worktrees")
	fifo("other/.git")
	fifo("third/.git/worktrees/x/gitdir")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, dir := range []string{"state", "entry"} {
			if _, err := project.OpenMemory(f.path(dir + "/excluded")); err == nil {
				t.Errorf("%s: a pipe is taken for what is remembered", dir)
			}
		}
		for _, dir := range []string{"main", "other", "third"} {
			if roots := project.New(project.Options{Dir: f.path(dir)}).Roots(); len(roots) != 1 {
				t.Errorf("%s: %q", dir, roots)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits for the other end of a FIFO")
	}
}
