package main

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/convtools/convtools/gen/plan/plantest"
	"github.com/convtools/convtools/runtime/base/safefile"
)

// Runs at the same time, among them runs after the specs have changed, all end well,
// and leave what one run leaves.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, plantest.Project(30)); err != nil {
		t.Fatal(err)
	}
	generate := func() {
		o := options{dir: dir, format: "text"}
		var stderr strings.Builder
		if ok, err := o.run(io.Discard, &stderr); !ok || err != nil {
			t.Errorf("a run ended with %v, %v\n%s", ok, err, stderr.String())
		}
	}
	for range 3 {
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(generate)
		}
		runs.Wait()
		// A tool goes, so that there is something to remove.
		gone, err := filepath.Glob(filepath.Join(dir, "specs", "*", "*.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(gone[len(gone)-1]); err != nil {
			t.Fatal(err)
		}
	}
	generate()
	o := options{dir: dir, format: "text", check: true}
	if ok, err := o.run(io.Discard, io.Discard); !ok || err != nil {
		t.Errorf("what several runs leave is not up to date: %v, %v", ok, err)
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if safefile.Temporary(path.Base(name)) {
			t.Errorf("%s is left behind", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
