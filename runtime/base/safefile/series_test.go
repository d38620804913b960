package safefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
)

func TestSeriesOpensWhatOpenInDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"top", "a/b/one", "a/b/two", "c/one"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a/b/link": filepath.Join("..", "..", "c", "one"), "a/b/out": outside, "d": "c"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip("there are no links here")
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	series := safefile.NewSeries(root)
	defer series.Close()
	read := func(f *os.File, info fs.FileInfo, err error) string {
		if err != nil {
			var pathErr *fs.PathError
			if !errors.As(err, &pathErr) {
				t.Errorf("%v is no error of a path", err)
				return err.Error()
			}
			return pathErr.Err.Error()
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil || int64(len(data)) != info.Size() {
			t.Errorf("%q, %v", data, err)
		}
		return string(data)
	}
	for _, name := range []string{
		"a/b/one", "a/b/two", "top", "a/b/link", "a/b/out", "a/b", "a/b/nothing", "c/one", "d/one", "nowhere/one", "../x", "a/../top", "a/b/one",
	} {
		want := read(safefile.OpenIn(root, name))
		if got := read(series.Open(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
