//go:build unix

package trust_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/trust"
)

// A FIFO must not keep anybody waiting.
func TestFIFO(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := syscall.Mkfifo(filepath.Join(l.project, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	for name, open := range map[string]func() (*os.Root, error){
		"OpenDir":     func() (*os.Root, error) { return trust.OpenDir(l.project, "pipe", nil) },
		"OpenUserDir": func() (*os.Root, error) { return trust.OpenUserDir(filepath.Join(l.project, "pipe")) },
	} {
		done := make(chan error, 1)
		go func() {
			_, err := open()
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s takes a pipe for a directory", name)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s waits for the other end of a FIFO", name)
		}
	}
}
