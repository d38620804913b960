//go:build unix && !solaris

package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

func TestOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "dir")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	at := link(t, "dir", filepath.Join(dir, "link"))
	for _, own := range []string{name, at, filepath.Join(dir, "none")} {
		if safefile.OfAnother(own) {
			t.Errorf("%s belongs to another user", own)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	const nobody = 65534
	if err := os.Lchown(at, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if !safefile.OfAnother(at) || safefile.OfAnother(name) {
		t.Error("a link of another user is taken for one's own")
	}
	if err := errors.Join(os.Lchown(at, 0, 0), os.Chown(name, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	if !safefile.OfAnother(at) || !safefile.OfAnother(name) {
		t.Error("a directory of another user is taken for one's own")
	}
}

// TestFIFO checks that no call waits for the other end of a FIFO: it would hang.
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
	if _, _, err := safefile.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("OpenFile: %v", err)
	}
	if _, _, err := safefile.OpenFileIn(root, "fifo", os.O_WRONLY|os.O_APPEND, 0); err == nil {
		t.Error("OpenFileIn opens it for writing")
	}
	if _, err := safefile.OpenDir(name); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("OpenDir: %v", err)
	}
	if _, err := safefile.OpenDirIn(root, "fifo"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("OpenDirIn: %v", err)
	}
	if _, err := safefile.ReadDirIn(root, "fifo", -1); err == nil {
		t.Error("ReadDirIn reads it")
	}
	if err := safefile.Write(filepath.Join(name, "file"), nil, 0o600); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Write: %v", err)
	}
	if err := safefile.Write(name, []byte("text"), 0o600); err != nil {
		t.Errorf("Write in its place: %v", err)
	}
}
