package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store"
)

func TestIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("there are no links here")
	}
	for name, want := range map[string]bool{dir: true, filepath.Join(dir, "nothing"): false, file: false, loop: true} {
		if got := store.IsThere(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
