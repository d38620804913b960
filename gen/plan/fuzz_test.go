package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/plan"
)

// FuzzGenerate looks for specs that make the generator panic, or that pass the
// checker and that an emitter refuses. Both files begin as those of the corpus.
func FuzzGenerate(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(corpusDir, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		top, tool := projectTOML, toolTOML
		for _, file := range archive.Files {
			switch {
			case file.Name == "tools.toml":
				top = string(file.Data)
			case strings.HasPrefix(file.Name, "specs/"):
				tool = string(file.Data)
			}
		}
		f.Add(top, tool)
	}
	for _, name := range []string{"find.toml", "tags.toml"} {
		tool, err := os.ReadFile(filepath.Join(positiveDir, "specs", "notes", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(projectTOML, string(tool))
	}
	f.Fuzz(func(t *testing.T, top, tool string) {
		project := fstest.MapFS{"tools.toml": {Data: []byte(top)}, "specs/notes/list.toml": {Data: []byte(tool)}}
		result, err := plan.Generate(project)
		if err != nil {
			t.Fatalf("%v\n%s", err, dump(project))
		}
		if err := isGo(result.Files); err != nil {
			t.Errorf("%v\n%s", err, dump(project))
		}
		if result.Diags.HasErrors() != (len(result.Files) == 0) {
			t.Errorf("%d files and %v", len(result.Files), result.Diags)
		}
		for _, d := range result.Diags {
			if d.Rule == "" || d.Message == "" || d.File == "" {
				t.Errorf("the diagnostic %q has no rule, message or file", d)
			}
		}
	})
}
