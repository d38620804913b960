package subjects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Everything counts, so that a directory of a million directories or links is not
// read to its end.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                    string
		maxSubjects, maxEntries int
		want                    []string
		warning                 string
	}{
		{"all fit", 4, 8, []string{"a", "b", "d0/x", "d1/x"}, ""},
		{"a file too many", 3, 8, []string{"a", "b", "d0/x"}, "more than 3 files"},
		{"an entry too many", 4, 7, []string{"a", "b", "d0/x", "d1/x"}, "more than 7 entries"},
		{"in a directory below", 4, 6, []string{"a", "b", "d0/x", "d1/x"}, "more than 6 entries"},
		{"in an earlier directory", 4, 5, []string{"a", "b", "d0/x"}, "more than 5 entries"},
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
			w := newWalker(root)
			w.maxSubjects, w.maxEntries = test.maxSubjects, test.maxEntries
			if _, err := w.tree(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := w.files
			var warnings []string
			for _, w := range w.warnings {
				warnings = append(warnings, fmt.Sprint(w.Path, " ", w.Reason))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if test.warning == "" && len(warnings) > 0 || test.warning != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], test.warning)) {
				t.Errorf("%q", warnings)
			}
		})
	}
}
