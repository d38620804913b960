package knowledge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/coerce"
)

// What is asked for by slug is answered without a look at the whole topic. The
// answer is the one that a look at all of it gives.
func TestFindingAnswersAsScanningDoes(t *testing.T) {
	t.Parallel()
	found, answered, collisions := 0, 0, 0
	for seed := range cases.Of(uint64(450)) {
		r := rand.New(rand.NewPCG(seed, 4))
		dir := t.TempDir()
		names := randomTopic(t, r, filepath.Join(dir, "kb"))
		config := "[kb.topic.a]\nsubjects = \"kb\"\n" + randomList(r, names, "disabled") + randomList(r, names, "learned")
		if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open(dir, Options{Injected: r.IntN(2) == 0})
		if err != nil {
			t.Fatal(err)
		}
		topicConfig := b.enabled()[0]
		for range 12 {
			asked := make([]string, 1+r.IntN(3))
			for i := range asked {
				asked[i] = randomName(r, names)
			}
			quick, err := b.scanFor(t.Context(), topicConfig, asked, b.injected)
			if err != nil {
				t.Fatal(err)
			}
			full, err := b.scan(t.Context(), topicConfig)
			if err != nil {
				t.Fatal(err)
			}
			if len(quick.tree.Subjects) < len(full.tree.Subjects) {
				found++
			}
			want, err := full.load(t.Context(), asked, b.injected, &remarks{})
			wantErr := fmt.Sprint(err)
			got, err := quick.load(t.Context(), asked, b.injected, &remarks{})
			if diff := cmp.Diff([]string{want, wantErr}, []string{got, fmt.Sprint(err)}); diff != "" {
				t.Fatalf("seed %d: %q of %q with\n%s(-scanning +finding):\n%s", seed, asked, names, config, diff)
			}
			if err == nil {
				answered++
			}
			if len(quick.tree.Subjects) < len(full.tree.Subjects) && len(quick.tree.Subjects) > len(asked) {
				collisions++
			}
			full.close()
			quick.close()
			checkResource(t, b, asked[0])
		}
	}
	for what, n := range map[string]int{"found": found, "answered": answered, "with several files for a slug": collisions} {
		if n < 50 {
			t.Errorf("only %d %s: the random topics try too little", n, what)
		}
	}
}

func checkResource(t *testing.T, b *Base, subject string) {
	t.Helper()
	full, err := b.scan(t.Context(), b.enabled()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer full.close()
	text, mime, err := full.readResource(t.Context(), subject)
	want := []string{text, mime, fmt.Sprint(err)}
	text, mime, err = b.ReadResource(t.Context(), "a", subject)
	if diff := cmp.Diff(want, []string{text, mime, fmt.Sprint(err)}); diff != "" {
		t.Fatalf("resource %q (-scanning +finding):\n%s", subject, diff)
	}
}

// randomTopic writes a topic and returns the names that may stand for something
// in it.
func randomTopic(t *testing.T, r *rand.Rand, dir string) []string {
	t.Helper()
	folders := []string{"x", "x", "x", ".x", "y", ".x", "..x", "X", "SKILL", ".git", "a", "é", "...", "x.md", "x y"}
	files := []string{"x", "x", "x", "x", "y", "SKILL", "git", "...x", "é", "a.b", "SKILL.md", "SKILL.md", "SKILL.md"}
	ends := []string{"", ".md", ".md", ".toml", "."}
	var names []string
	for n := range 2 + r.IntN(10) {
		var path []string
		depth := r.IntN(3)
		if r.IntN(100) == 0 {
			depth = 14 + r.IntN(4)
		}
		for range depth {
			path = append(path, folders[r.IntN(len(folders))])
		}
		file := files[r.IntN(len(files))]
		if file != "SKILL.md" {
			file = []string{"", "", "", "."}[r.IntN(4)] + file + ends[r.IntN(len(ends))]
		}
		name := strings.Join(append(path, file), "/")
		full := filepath.Join(dir, filepath.FromSlash(name))
		// A name may be taken, by a folder or on a file system that ignores case.
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			continue
		}
		if n > 1 && r.IntN(8) == 0 {
			_ = os.Symlink([]string{"x.md", "y", "../x.md", "nothing"}[r.IntN(4)], full)
		} else if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			continue
		}
		names = append(names, name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return append(names, "x")
}

// randomName returns a name, mostly as it is asked for.
func randomName(r *rand.Rand, names []string) string {
	name := names[r.IntN(len(names))]
	if r.IntN(4) > 0 {
		parts := strings.Split(name, "/")
		for i, part := range parts {
			if bare := strings.TrimLeft(part, "."); bare != "" {
				parts[i] = bare
			}
		}
		name = strings.Join(parts, "/")
		if dot := strings.LastIndexByte(name, '.'); dot > strings.LastIndexByte(name, '/')+1 {
			name = name[:dot]
		}
		if folder, skill := strings.CutSuffix(name, "/SKILL"); skill && r.IntN(2) == 0 {
			name = folder
		}
	}
	switch r.IntN(16) {
	case 0:
		return "a/" + name
	case 1:
		return "./" + name + "/"
	case 2:
		return name + "*"
	case 3:
		return name + "z"
	}
	return name
}

func randomList(r *rand.Rand, names []string, key string) string {
	var entries []string
	for range r.IntN(3) {
		entries = append(entries, coerce.JSON(randomName(r, names)))
	}
	return key + " = [" + strings.Join(entries, ", ") + "]\n"
}
