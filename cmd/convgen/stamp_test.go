package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/convtools/convtools/gen/plan/plantest"
)

// A project that was up to date is not looked at again, except by -check.
func TestStamp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, plantest.Project(2)); err != nil {
		t.Fatal(err)
	}
	o := options{dir: dir, caches: t.TempDir(), format: "text"}
	generate := func(want bool) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		ok, err := o.run(&stdout, &stderr)
		if err != nil {
			t.Fatal(err)
		}
		if ok != want {
			t.Fatalf("all is well: %v, want %v\n%s", ok, want, &stderr)
		}
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	age := func() {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chtimes(path, old, old)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	generate(true) // writes
	age()
	generate(true) // finds nothing to write, and stamps
	spec := filepath.Join(dir, "specs", "family0", "tool0.toml")
	text, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing shows that this is no spec any more.
	if err := os.WriteFile(spec, bytes.Replace(text, []byte("name "), []byte("nome "), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	age()
	generate(true)
	o.check = true
	generate(false)
	o.check, o.caches = false, ""
	generate(false)
}
