package format_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/format"
)

// TestTOML formats the file "in" of every case. The result is "out", and formatting "out" does not change it.
func TestTOML(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) < 4 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			for _, in := range []string{files["in"], strings.ReplaceAll(files["in"], "\n", "\r\n"), "\uFEFF" + files["in"], files["out"]} {
				got, err := format.TOML([]byte(in))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(files["out"], string(got)); diff != "" {
					t.Errorf("%q (-want +got):\n%s", in[:min(len(in), 20)], diff)
				}
			}
		})
	}
}

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"a", "a = [1, 2", "a = 'x", "[a", "a = 1\na = 2\n", "a = {b = }"} {
		if got, err := format.TOML([]byte(src)); !errors.Is(err, format.ErrSyntax) {
			t.Errorf("%q: %q, %v", src, got, err)
		}
	}
}

// FuzzTOML checks that formatted text decodes to the same values, does not change when formatted again, and keeps all
// comments.
func FuzzTOML(f *testing.F) {
	for _, pattern := range []string{"testdata/*.txtar", "../../specs/*/*.toml", "../../tools.toml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("a=[ # c1\n\n# c2\n  1,#c3\n\n\n\n2\n# c4\n] # c5\n# c6"))
	f.Add([]byte("#c\r\n[ a . \"b\" ]\r\nx = { y.z=1979-05-27 07:32:00 , w='''\n\n''' }"))
	comment := regexp.MustCompile(`# ?c[0-9]+`)
	f.Fuzz(func(t *testing.T, src []byte) {
		once, err := format.TOML(src)
		if err != nil {
			return
		}
		twice, err := format.TOML(once)
		if diff := cmp.Diff(string(once), string(twice)); diff != "" || err != nil {
			t.Errorf("formatted twice, %v (-once +twice):\n%s", err, diff)
		}
		if diff := cmp.Diff(comment.FindAllString(string(src), -1), comment.FindAllString(string(once), -1)); diff != "" {
			t.Errorf("comments (-before +after):\n%s", diff)
		}
	})
}
