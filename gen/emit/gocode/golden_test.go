package gocode_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the output for a complete contract with golden files.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := gocode.Emit(library(), schemaOf)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("testdata", "golden")
	if *update {
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		name := filepath.Join(root, filepath.FromSlash(file.Path)+".golden")
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, file.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(file.Data)); diff != "" {
			t.Errorf("%s differs from its golden file (-want +got); -update rewrites it:\n%s", file.Path, diff)
		}
	}
	golden := 0
	if err := filepath.WalkDir(root, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			golden++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if golden != len(files) {
		t.Errorf("%d golden files for %d files", golden, len(files))
	}
}

func schemaOf(tool *ir.Tool) string { return `{"title":"` + tool.Name + `"}` }
