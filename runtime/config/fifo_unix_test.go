//go:build unix

package config_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/config"
)

// Reading must not wait for a FIFO.
func TestFIFO(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := syscall.Mkfifo(filepath.Join(l.project, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := config.OpenDir(l.project, "pipe", nil)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("OpenDir takes a pipe for a directory")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("OpenDir waits for the other end of a FIFO")
	}
}
