//go:build unix

package index_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/index"
)

// A FIFO in place of a file of an index is damage, which the next writer repairs. Nothing waits for it.
func TestFIFO(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"catalog", ".seg"} {
		dir := t.TempDir()
		fixture(t, dir)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		replaced := 0
		for _, e := range entries {
			if name := filepath.Join(dir, e.Name()); strings.HasSuffix(name, suffix) {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				if err := syscall.Mkfifo(name, 0o600); err != nil {
					t.Skipf("this file system has no FIFOs: %v", err)
				}
				replaced++
			}
		}
		x := index.Open(dir)
		var damage *index.DamageError
		if _, err := x.View(); !errors.As(err, &damage) || replaced == 0 {
			t.Errorf("%s, %d files: %v", suffix, replaced, err)
		}
		m := model{}
		put(t, x, m, "a", "alpha", 2)
		if _, err := x.View(); err != nil {
			t.Fatalf("%s: %v", suffix, err)
		}
	}
}
