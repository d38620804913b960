package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/base/workspace"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"a/b/d/.jp/x", "a/b/d/convtools.toml/dir", "e/convtools.toml/dir", "a/b/c/x"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A file .jp does not count, nor does a directory convtools.toml.
	for _, path := range []string{"a/convtools.toml", "a/b/c/.jp"} {
		if err := os.WriteFile(filepath.Join(dir, path), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"a/b/c":                "a",
		"a":                    "a",
		"a/b/d/convtools.toml": "a/b/d",
		"a/missing":            "a",
		"e":                    "",
	} {
		got, ok := workspace.Find(filepath.Join(dir, from))
		if ok != (want != "") || ok && got != filepath.Join(dir, want) {
			t.Errorf("Find(%s) = %s, %v, want %q", from, got, ok, want)
		}
	}
}
