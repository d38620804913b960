package subjects

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Everything counts, so that a directory of a million directories or links is not
// read to its end.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		most int
		want []string
	}{
		{"all fit", 8, []string{"a", "b", "d0/x", "d1/x"}},
		{"an entry too many", 7, []string{"a", "b", "d0/x", "d1/x"}},
		{"in an earlier directory", 5, []string{"a", "b", "d0/x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"d0/x", "d1/x", "d1/empty/", "a", "b"} {
				full := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
					t.Fatal(err)
				}
				var err error
				if strings.HasSuffix(name, "/") {
					err = os.Mkdir(full, 0o755)
				} else {
					err = os.WriteFile(full, nil, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "d2"), 0o755); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			w := walker{root: root, room: test.most, files: map[string]bool{}}
			if err := w.walk(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(w.files))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if all := test.most == 8; all != (len(w.warnings) == 0) || !all && !strings.Contains(w.warnings[0].Reason, "entries") {
				t.Errorf("%q", w.warnings)
			}
		})
	}
}
