//go:build unix

package jp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
)

// TestFIFO tests that reading does not wait for a writer of a FIFO.
func TestFIFO(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "good")
	f.conversation(inProject+"20", "bad")
	f.conversation(inProject+"30", "bad")
	for _, name := range []string{"20/metadata.json", "30/events.json", ".archive"} {
		path := filepath.Join(f.base, inProject, name)
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no FIFOs: %v", err)
		}
	}
	lines, skipped := f.list(store.Live)
	if strings.Join(lines, ";") != "10 good ext;30 bad ext" || len(skipped) != 2 || !strings.Contains(skipped[1].Err.Error(), "not a regular file") {
		t.Errorf("%q, %v", lines, skipped)
	}
	if lines, skipped := f.list(store.Archived); len(lines) > 0 || len(skipped) != 1 {
		t.Errorf("a FIFO as archive: %q, %v", lines, skipped)
	}
	if _, err := f.find(30).readEvents(t.Context()); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("events: %v", err)
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	f := newFixture(t)
	f.conversation(inProject+"10", "x")
	if err := os.Chmod(filepath.Join(f.base, inProject, "10/events.json"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.find(10).readEvents(t.Context()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v", err)
	}
}
