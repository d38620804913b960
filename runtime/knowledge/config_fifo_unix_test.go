//go:build unix

package knowledge

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A FIFO must not keep anybody waiting, whatever it stands in for.
func TestFIFO(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"convtools.toml", ".jp/kb.toml", ".jp", userTopics} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, map[string]string{"convtools.toml": "", ".jp/x": "", "~/.config/convtools/x": ""})
			if err := os.RemoveAll(w.path(name)); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(w.path(name), 0o644); err != nil {
				t.Skipf("a FIFO cannot be made here: %v", err)
			}
			done := make(chan error, 1)
			go func() {
				config, err := w.load()
				if err == nil && len(config.problems()) > 0 {
					err = errors.New(strings.Join(rendered(config.problems()), ""))
				}
				done <- err
			}()
			select {
			case err := <-done:
				if name == ".jp" {
					if err != nil {
						t.Errorf("Load = %v", err)
					}
				} else if err == nil || !strings.Contains(err.Error(), "not a regular file") {
					t.Errorf("Load = %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Load waits for the other end of a FIFO")
			}
		})
	}
}
