package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge"
)

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

func findings(t *testing.T, b *knowledge.Base) string {
	t.Helper()
	found, err := b.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, f.String())
		if f.Hint != "" {
			lines = append(lines, "  hint: "+f.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

func TestCheckOfADirectoryElsewhere(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- ws/convtools.toml --\n[kb.topic.out]\nsubjects = \"kb/out\"\n[kb.topic.in]\nsubjects = \"kb/in\"\n-- elsewhere/a.md --\nA.\n-- ws/kb/real/b.md --\nB.\n")
	root := filepath.Join(dir, "ws")
	link(t, filepath.Join(dir, "elsewhere"), filepath.Join(root, "kb", "out"))
	link(t, "real", filepath.Join(root, "kb", "in"))
	want := `convtools.toml:2:1: error: topic "out" cannot be learned: its directory kb/out is a link out of the project [KB001]
  hint: put its files into the project`
	if diff := cmp.Diff(want, findings(t, open(t, root, knowledge.Options{}))); diff != "" {
		t.Errorf("nothing is trusted (-want +got):\n%s", diff)
	}
}

// A file that is too large is that first of all, whatever is in it.
func TestTooLargeComesBeforeBinary(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- convtools.toml --\n[kb.topic.x]\nsubjects = \"kb\"\n-- kb/big.bin --\n\\binary\n-- kb/a.md --\nA.\n")
	if err := os.Truncate(filepath.Join(dir, "kb", "big.bin"), 1<<30); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir, knowledge.Options{})
	wants(t, learn(t, b, "x"), "- big (1073.7 MB: over the limit of 4 MiB, cannot be loaded)")
	wants(t, learn(t, b, "x", "big"), `(subject "big": skipped: over the limit of 4 MiB)`)
	wants(t, findings(t, b), "kb/big.bin: error: \"big\" has 1073.7 MB, which is over the limit of 4 MiB: it cannot be loaded [KB008]")
	topic, err := b.Topic(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if s := topic.Subjects[1]; !s.TooLarge || s.Binary || s.Tokens != 0 {
		t.Errorf("got %+v", s)
	}
}
