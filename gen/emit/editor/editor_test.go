package editor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/emit/editor"
	"github.com/convtools/convtools/gen/spec"
)

// schemas returns the compiled schema of each kind of file.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiled := map[string]*jsonschema.Schema{}
	for _, kind := range []string{spec.ToolKind, spec.ProjectKind} {
		s, err := jsonschema.CompileString("mem:///"+kind+".json", string(editor.Schema(kind)))
		if err != nil {
			t.Fatal(err)
		}
		compiled[kind] = s
	}
	return compiled
}

// eachFile calls do for every correct file of this repository and of the generator's test projects, and for every file
// of these projects that breaks a rule about form.
func eachFile(t *testing.T, do func(name, kind string, data []byte, formBroken bool)) {
	t.Helper()
	kind := func(name string) string {
		if filepath.Base(name) == "tools.toml" {
			return spec.ProjectKind
		}
		return spec.ToolKind
	}
	const root = "../../.."
	for _, pattern := range []string{"tools.toml", "specs/*/*.toml", "testdata/specs/positive/*/tools.toml", "testdata/specs/positive/*/specs/*/*.toml"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			do(name, kind(name), data, false)
		}
	}
	archives, err := filepath.Glob(filepath.Join(root, "testdata/specs/*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal(err)
	}
	broken := regexp.MustCompile(`(?m)^(\S+?):[0-9:]* error: (.*) \[SP00[234]\]$`)
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]bool{} // the files with an error about form
		for _, f := range archive.Files {
			if f.Name == "stderr" {
				for _, match := range broken.FindAllSubmatch(f.Data, -1) {
					// Whether an envelope or a result is required depends on another key.
					if !bytes.HasSuffix(match[2], []byte(`has no "envelope"`)) && !bytes.HasSuffix(match[2], []byte(`has no "result"`)) {
						reported[string(match[1])] = true
					}
				}
			}
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".toml") && len(f.Data) > 0 {
				if fixed := strings.HasPrefix(f.Name, "fixed/"); fixed || reported[f.Name] {
					do(name+":"+f.Name, kind(f.Name), f.Data, !fixed)
				}
			}
		}
	}
}

// The schema accepts every correct spec, and rejects every spec with a form that the loader refuses.
func TestSchemaAgreesWithTheLoader(t *testing.T) {
	t.Parallel()
	compiled := schemas(t)
	accepted, refused := 0, 0
	eachFile(t, func(name, kind string, data []byte, formBroken bool) {
		var document map[string]any
		if _, err := toml.Decode(string(data), &document); err != nil {
			return // it is not TOML
		}
		err := compiled[kind].Validate(plain(document))
		switch {
		case formBroken && err == nil:
			t.Errorf("%s: the schema takes what the loader refuses", name)
		case !formBroken && err != nil:
			t.Errorf("%s: %#v", name, err)
		case formBroken:
			refused++
		default:
			accepted++
		}
	})
	if accepted < 100 || refused < 3 {
		t.Errorf("only %d files are right and %d wrong", accepted, refused)
	}
}

// plain converts the values of a TOML document to types that a JSON Schema library knows.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			out[name] = plain(value)
		}
		return out
	case []map[string]any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	}
	return v
}

func TestReferenceHasEveryKey(t *testing.T) {
	t.Parallel()
	text := string(editor.Reference())
	for kind, keys := range spec.Keys() {
		for _, k := range keys {
			if !strings.Contains(text, "| `"+k.Name+"` |") || strings.Contains(text, "| `"+k.Name+"` |  |") || k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s of %s is not told", k.Name, kind)
			}
		}
	}
}

// TestSchemaKeepsToTheRulesOfTaplo checks that the schemas use only features that Taplo, the TOML language server of
// most editors, knows: those of draft 4, and no keywords beside a reference. See
// https://taplo.tamasfe.dev/configuration/developing-schemas.html
func TestSchemaKeepsToTheRulesOfTaplo(t *testing.T) {
	t.Parallel()
	// If true, the members of the value have free names.
	draft4 := map[string]bool{
		"$schema": false, "title": false, "description": false, "type": false, "enum": false, "items": false, "required": false,
		"additionalProperties": false, "allOf": false, "anyOf": false, "$ref": false, "properties": true, "definitions": true,
	}
	var walk func(path string, v any, free bool) // free: the members of v have free names
	walk = func(path string, v any, free bool) {
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(fmt.Sprintf("%s/%d", path, i), v[i], false)
			}
		case map[string]any:
			if _, ok := v["$ref"]; ok && !free && len(v) > 1 {
				t.Errorf("%s has a reference, and more, which is ignored", path)
			}
			for name, value := range v {
				hasFreeNames, known := draft4[name]
				if !free && !known {
					t.Errorf("%s: %s is no keyword of draft 4 that is known here", path, name)
				}
				walk(path+"/"+name, value, hasFreeNames && !free)
			}
		}
	}
	for _, kind := range []string{spec.ToolKind, spec.ProjectKind} {
		text := editor.Schema(kind)
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		walk(kind, document, false)
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///4.json", bytes.NewReader(bytes.Replace(text, []byte("draft-07"), []byte("draft-04"), 1))); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("mem:///4.json"); err != nil {
			t.Errorf("%s is no schema of draft 4: %v", kind, err)
		}
	}
}
