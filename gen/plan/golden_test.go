package plan_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/spec"
)

// goldenDir has projects with their output: one archive for each feature of specs. Under want/ are generated files,
// single Go declarations, as want/generated/notes/list.go#ListArgs, or members of JSON files, as
// want/generated/contract.lock#tool.
//
// UPDATE_GOLDEN=1 writes the output into the existing files; read the difference before you commit it.
const goldenDir = corpusDir + "/golden"

func TestGoldenProjects(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(goldenDir + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	covered := map[string]bool{} // keys and their values; see addKeys
	for i, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		project := fstest.MapFS{}
		for _, file := range archive.Files {
			if !strings.HasPrefix(file.Name, "want/") {
				project[file.Name] = &fstest.MapFile{Data: file.Data}
			}
		}
		result, printed := diagnose(t, project)
		if printed != "" {
			t.Errorf("%s is not clean:\n%s", name, printed)
			continue
		}
		goldenCase(t, name, archive, result)
		for _, file := range result.Files {
			if path.Ext(file.Path) == ".go" || strings.HasPrefix(file.Path, "generated/jpfiles/") {
				writeGo(t, module, i, file.Path, file.Data)
			}
		}
		for file, data := range project {
			kind := spec.ToolKind
			if file == spec.ProjectFile {
				kind = spec.ProjectKind
			}
			var document map[string]any
			if _, err := toml.Decode(string(data.Data), &document); err != nil {
				t.Fatal(err)
			}
			addKeys(covered, kind, document)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(spec.Keys())) {
		for _, key := range spec.Keys()[kind] {
			words := key.Values
			if len(words) == 0 {
				words = []string{""}
			}
			for _, value := range words {
				if !covered[values(kind)+" "+key.Name+" "+value] {
					t.Errorf("no archive in %s has %s = %q in the table %s", goldenDir, key.Name, value, kind)
				}
			}
		}
	}
	writeModule(t, module, "example.com/notes")
	runGo(t, module, "vet", "./...")
}

// goldenCase compares the output of a project with the files under want/ in its archive.
func goldenCase(t *testing.T, name string, archive *txtar.Archive, result *plan.Result) {
	t.Helper()
	compared, stale := 0, false
	for i := range archive.Files {
		file := &archive.Files[i]
		target, ok := strings.CutPrefix(file.Name, "want/")
		if !ok {
			continue
		}
		compared++
		target, declaration, _ := strings.Cut(target, "#")
		var got []byte
		for _, generated := range result.Files {
			if generated.Path == target {
				got = generated.Data
			}
		}
		switch {
		case declaration == "": // the whole file
		case path.Ext(target) == ".go":
			got = declarationOf(t, got, declaration)
		default:
			got = member(t, got, declaration)
		}
		if got == nil {
			t.Errorf("%s: %s is not generated", name, file.Name)
		}
		if os.Getenv("UPDATE_GOLDEN") == "1" {
			stale = stale || !bytes.Equal(file.Data, got)
			file.Data = got
		}
		if diff := cmp.Diff(string(file.Data), string(got)); diff != "" {
			t.Errorf("%s: %s differs (-want +got):\n%s", name, file.Name, diff)
		}
	}
	if compared == 0 {
		t.Errorf("%s holds nothing that is generated", name)
	}
	if stale {
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// member returns the value of a member of a JSON object, indented.
func member(t *testing.T, text []byte, name string) []byte {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, object[name], "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// declarationOf returns the text of the named declaration in Go source, with its comment, or nil if there is none.
func declarationOf(t *testing.T, source []byte, name string) []byte {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		var doc *ast.CommentGroup
		found := false
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc, found = d.Doc, d.Recv == nil && d.Name.Name == name
		case *ast.GenDecl:
			doc = d.Doc
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					found = found || s.Name.Name == name
				case *ast.ValueSpec:
					found = found || s.Names[0].Name == name
				}
			}
		}
		if found {
			begin := d.Pos()
			if doc != nil {
				begin = doc.Pos()
			}
			return append(source[fset.Position(begin).Offset:fset.Position(d.End()).Offset:fset.Position(d.End()).Offset], '\n')
		}
	}
	return nil
}

// values maps kinds of tables with equal keys to one kind: members and items are values like parameters and fields.
func values(kind string) string {
	switch kind {
	case "members", "items":
		return "parameters"
	case "result members", "result items":
		return "fields"
	}
	return kind
}

// addKeys adds to covered each key of a table and of the tables in it: alone, and with its value if the key has a list
// of allowed values.
func addKeys(covered map[string]bool, kind string, table map[string]any) {
	for _, key := range spec.Keys()[kind] {
		value, present := table[key.Name]
		if !present {
			continue
		}
		add := func(word any) {
			if text, ok := word.(string); ok && len(key.Values) > 0 {
				covered[values(kind)+" "+key.Name+" "+text] = true
			}
			if inner, ok := word.(map[string]any); ok && key.Kind != "" {
				addKeys(covered, key.Kind, inner)
			}
		}
		covered[values(kind)+" "+key.Name+" "] = true
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				add(item)
			}
		case []map[string]any:
			for _, item := range value {
				add(item)
			}
		case map[string]any:
			if key.Type != spec.NamedKey {
				add(value)
				break
			}
			for _, inner := range value {
				add(inner)
			}
		default:
			add(value)
		}
	}
}
