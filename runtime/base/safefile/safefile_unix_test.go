//go:build unix && !solaris

package safefile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// TestFIFO proves that nobody is waited for at the other end: it would hang.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skipf("this file system has no FIFOs: %v", err)
	}
	root := openRoot(t, dir)
	if _, err := safefile.Read(name, 1); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("Read: %v", err)
	}
	if _, err := safefile.ReadIn(root, "fifo", 1); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("ReadIn: %v", err)
	}
	if _, _, err := safefile.OpenNoFollow(root, "fifo"); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("OpenNoFollow: %v", err)
	}
}
