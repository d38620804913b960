package safefile_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

func TestReadDirIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/file", "a/dir/below", "b"} {
		write(t, filepath.Join(dir, name), "text")
	}
	root := openRoot(t, dir)
	entries, err := safefile.ReadDirIn(root, "a", -1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.IsDir() != (e.Name() == "dir") {
			t.Errorf("%s is a directory: %v", e.Name(), e.IsDir())
		}
		got = append(got, e.Name())
	}
	if slices.Sort(got); strings.Join(got, " ") != "dir file" {
		t.Errorf("a has %q", got)
	}
	for _, name := range []string{"missing", "b", "..", "a/file"} {
		if entries, err := safefile.ReadDirIn(root, name, -1); err == nil {
			t.Errorf("%s has %v", name, entries)
		}
	}
}
