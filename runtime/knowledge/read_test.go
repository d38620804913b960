package knowledge

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files that go away after the directory was scanned are named, and are an error
// where nothing else was asked for.
func TestFilesThatGoAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"convtools.toml": "[kb.topic.x]\nsubjects = \"kb\"\n", "kb/a.md": "A.", "kb/b.md": "B."} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := b.scan(t.Context(), b.topics[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scanned.tree.Close)
	if err := os.Remove(filepath.Join(dir, "kb", "a.md")); err != nil {
		t.Fatal(err)
	}
	got, err := scanned.load(t.Context(), []string{"*"}, false, &remarks{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "<subject \"b\">\nB.\n</subject>\n\n(subject \"a\": could not be read: "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
	got, err = scanned.list(t.Context(), false, &remarks{})
	if err != nil || !strings.Contains(got, "- a (cannot be read)\n- b\n") {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = scanned.load(t.Context(), []string{"a"}, false, &remarks{})
	if err != nil || !strings.HasPrefix(got, `(subject "a": could not be read: `) || strings.Contains(got, dir) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	few, many := []string{"a", "b"}, strings.Split(strings.Repeat("x ", 1024)+"x", " ")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{few, "a, b"},
		{many, strings.Repeat("x, ", 19) + "x and 1,005 more"},
		{[]string{strings.Repeat("y", 5000), "z"}, strings.Repeat("y", 5000) + " and 1 more"},
	} {
		if diff := cmp.Diff(c.want, joinNames(c.names)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
