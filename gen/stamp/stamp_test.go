package stamp_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/convtools/convtools/gen/stamp"
)

// project is a project whose files are a day old, stamped.
func project(t *testing.T) (name string, p stamp.Project) {
	t.Helper()
	dir := t.TempDir()
	p = stamp.Project{
		Dir: dir, Patterns: []string{"specs/**/*.toml"},
		Read:    []string{"tools.toml", "specs/a/one.toml"},
		Written: []string{"generated/a/one.go", "generated/contract.lock"},
	}
	old := time.Now().Add(-24 * time.Hour)
	for _, path := range append(p.Read, p.Written...) {
		write(t, filepath.Join(dir, path), "text", old)
	}
	for _, path := range []string{"generated/a", "generated"} {
		if err := os.Chtimes(filepath.Join(dir, path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	name = stamp.Name(t.TempDir(), dir)
	if err := stamp.Write(name, p, time.Now()); err != nil {
		t.Fatal(err)
	}
	return name, p
}

func write(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-24 * time.Hour)
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"a file that has nothing to do with it", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "specs/a/README.md"), "x", old) }, true},
		{"a spec is touched", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "specs/a/one.toml"), "text", old.Add(time.Hour))
		}, false},
		{"a spec has another size at the same time", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "tools.toml"), "texts", old) }, false},
		{"a new spec", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "specs/b/two.toml"), "text", old) }, false},
		{"a spec is gone", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "specs/a/one.toml")) }, false},
		{"an output is edited", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "generated/a/one.go"), "text", time.Now()) }, false},
		{"an output is gone", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "generated/contract.lock")) }, false},
		{"a file beside the outputs", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "generated/a/two.go"), "text", old) }, false},
		{"an output is a link now", func(t *testing.T, dir string) {
			name := filepath.Join(dir, "generated/contract.lock")
			if err := os.Rename(name, filepath.Join(dir, "elsewhere")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../elsewhere", name); err != nil {
				t.Skip(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name, p := project(t)
			c.change(t, p.Dir)
			if got := stamp.Current(name, p.Dir); got != c.want {
				t.Errorf("current is %v, want %v", got, c.want)
			}
		})
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// What was changed while a run worked, or just before, is never stamped.
func TestTooNew(t *testing.T) {
	t.Parallel()
	name, p := project(t)
	remove(t, name)
	for _, age := range []time.Duration{-time.Hour, 0, time.Second} {
		start := time.Now()
		write(t, filepath.Join(p.Dir, "tools.toml"), "new", start.Add(-age))
		if err := stamp.Write(name, p, start); err != nil {
			t.Fatal(err)
		}
		if stamp.Current(name, p.Dir) {
			t.Errorf("a file %v older than the run is stamped", age)
		}
	}
}

// A damaged stamp is none.
func TestDamaged(t *testing.T) {
	t.Parallel()
	name, p := project(t)
	for _, text := range []string{"", "{}", "null", "[1]", `{"Files":[{"Path":"tools.toml"}]}`} {
		write(t, name, text, time.Now())
		if stamp.Current(name, p.Dir) {
			t.Errorf("%q is current", text)
		}
	}
}
