package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// notesProject has a project with several specs.
const notesProject = "../../testdata/specs/positive/notes"

// While one run writes in a project, no other run writes there. A run that only checks does not wait.
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(notesProject)); err != nil {
		t.Fatal(err)
	}
	unlock, err := safefile.Lock(t.Context(), dir)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no locks here")
	}
	if err != nil {
		t.Fatal(err)
	}
	o := options{dir: dir, format: "text"}
	if _, err := o.run(io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "another convgen is at work in it") {
		t.Errorf("a run beside another ended with %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "generated")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run beside another has written: %v", err)
	}
	check := options{dir: dir, format: "text", check: true}
	if ok, err := check.run(io.Discard, io.Discard); ok || err != nil {
		t.Errorf("a check beside a run ended with %v, %v", ok, err)
	}
	unlock()
	if ok, err := o.run(io.Discard, io.Discard); !ok || err != nil {
		t.Errorf("a run after another ended with %v, %v", ok, err)
	}
}

// Concurrent runs, some of them after a change of the specs, all succeed, and leave the same files as one run.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(notesProject)); err != nil {
		t.Fatal(err)
	}
	generate := func() {
		o := options{dir: dir, format: "text", wait: time.Minute}
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
		// Remove a spec, so that the next runs have orphans to remove.
		specs, err := filepath.Glob(filepath.Join(dir, "specs", "*", "*.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(specs[len(specs)-1]); err != nil {
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
