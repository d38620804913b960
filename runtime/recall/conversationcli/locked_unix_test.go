//go:build unix && !solaris && !aix

package conversationcli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLocked changes conversations while another process has locked one.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeSample(dir, filepath.Join(dir, "no-user-data")); err != nil {
		t.Fatal(err)
	}
	locks := filepath.Join(dir, "no-user-data", "workspace", filepath.Base(dir)+"-tests", "locks")
	if err := os.MkdirAll(locks, 0o755); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(locks, "jp-c17610000000.lock")
	if err := os.WriteFile(name, []byte(`{"pid":4711,"session":"x","acquired_at":"2026-03-01T11:59:00.5Z"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	const said = "error: conversation jp-c17610000000 is locked by another process (pid 4711) since 2026-03-01T11:59:00Z\n" +
		"hint: try again when it is done, or wait for it with --wait=30s\n"
	got := run(t, dir, "edit", "17610000000", "--hide")
	if got.stderr != said || got.code != 1 || got.stdout != "" {
		t.Errorf("%+v", got)
	}
	got = run(t, dir, "archive", "--yes", "17610000000", "17640000000")
	if !strings.Contains(got.stdout, "archived jp-c17640000000") || got.stderr != said || got.code != 1 {
		t.Errorf("one of two: %+v", got)
	}
	got = run(t, dir, "rm", "--yes", "17610000000", "17600000000")
	if !strings.Contains(got.stdout, "removed jp-c17600000000") || got.stderr != said || got.code != 1 {
		t.Errorf("one of two removed: %+v", got)
	}
	time.AfterFunc(50*time.Millisecond, func() { lock.Close() })
	if got = run(t, dir, "edit", "17610000000", "--hide", "--wait=5m"); got.code != 0 || got.stderr != "" {
		t.Errorf("after waiting: %+v", got)
	}
}
