package subjects_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// topic makes a directory with files, named by their paths.
func topic(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for path, content := range files {
		write(tb, dir, path, content)
	}
	return dir
}

func write(tb testing.TB, dir, path, content string) {
	tb.Helper()
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// soon is a context for what must never hang.
func soon(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	tb.Cleanup(cancel)
	return ctx
}

// root opens a topic's directory.
func root(tb testing.TB, dir string) *os.Root {
	tb.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { root.Close() })
	return root
}

func scan(tb testing.TB, dir string) *subjects.Tree {
	tb.Helper()
	tree, err := subjects.Scan(soon(tb), root(tb, dir))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { tree.Close() })
	return tree
}

// find returns the subject with a path.
func find(tb testing.TB, tree *subjects.Tree, path string) *subjects.Subject {
	tb.Helper()
	for i := range tree.Subjects {
		if tree.Subjects[i].Path == path {
			return tree.Subjects[i]
		}
	}
	tb.Fatalf("no subject %q among %d", path, len(tree.Subjects))
	return nil
}

func paths(tree *subjects.Tree) []string {
	var all []string
	for _, s := range tree.Subjects {
		all = append(all, s.Path)
	}
	return all
}

// content reads the one file of a topic.
func content(tb testing.TB, name, data string) subjects.Content {
	tb.Helper()
	tree := scan(tb, topic(tb, map[string]string{name: data}))
	c, err := tree.Read(soon(tb), find(tb, tree, name))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
