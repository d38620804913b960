package irtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
)

// Golden compares files with those under testdata/golden of the package under test, which must hold no other files.
// With UPDATE_GOLDEN=1 in the environment, Golden first writes the files there; read the difference before you commit it.
func Golden(t testing.TB, files []emit.File) {
	t.Helper()
	const dir = "testdata/golden"
	update := os.Getenv("UPDATE_GOLDEN") == "1"
	want := map[string]bool{}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if want[name] {
			t.Errorf("%s is emitted twice", f.Path)
		}
		want[name] = true
		if update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s has no golden file: %v", f.Path, err)
			continue
		}
		if diff := cmp.Diff(string(golden), string(f.Data)); diff != "" {
			t.Errorf("%s differs from its golden file (-want +got):\n%s", f.Path, diff)
		}
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !want[name] {
			t.Errorf("%s is a golden file of nothing that is emitted", name)
		}
		return err
	})
	if err != nil {
		t.Errorf("looking for golden files: %v", err)
	}
}
