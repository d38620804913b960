package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/plan"
)

// FuzzGenerate looks for specs that make the generator panic, or that pass the checker but not an emitter. The seeds
// are the files of the corpus.
func FuzzGenerate(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(corpusDir, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	golden, err := filepath.Glob(filepath.Join(goldenDir, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range slices.Concat(names, golden) {
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
		if err := errors.Join(isGo(result.Files), isData(result.Files)); err != nil {
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

// isData returns an error if a generated file is not valid JSON, TOML or a valid lock.
func isData(files []emit.File) error {
	var problems []error
	for _, file := range files {
		var err error
		switch {
		case path.Base(file.Path) == lock.File:
			_, err = lock.Parse(file.Data)
		case path.Ext(file.Path) == ".json" && !json.Valid(file.Data):
			err = errors.New("it is no JSON")
		case path.Ext(file.Path) == ".toml":
			var document map[string]any
			_, err = toml.Decode(string(file.Data), &document)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file.Path, err))
		}
	}
	return errors.Join(problems...)
}
