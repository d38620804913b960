package plan_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/plan"
)

const repository = "../.."

// shuffled lists folders in random order, as file systems may.
type shuffled struct{ fs.FS }

func (s shuffled) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries, err
}

func TestGenerateIsDeterministic(t *testing.T) {
	t.Parallel()
	projects := map[string]fs.FS{
		"repository": os.DirFS(repository),
		"positive":   os.DirFS(positiveDir),
		// These names sort differently by file, by tool and by folder.
		"folders": fstest.MapFS{
			"tools.toml":         {Data: []byte(projectTOML)},
			"specs/b/z.toml":     {Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "b_a"))},
			"specs/b/a.toml":     {Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "b_z"))},
			"specs/a/y.toml":     {Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "zz"))},
			"specs/a_b/x.toml":   {Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "a_b_x"))},
			"specs/a_b/w/q.toml": {Data: []byte("no TOML, and matched by no pattern")},
		},
	}
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := plan.Generate(project)
			if err != nil || want.Diags.HasErrors() || len(want.Files) == 0 {
				t.Fatalf("generating: %v, %v", err, want.Diags)
			}
			for range 4 {
				got, err := plan.Generate(shuffled{project})
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(want.Files, got.Files) { // much faster than computing a difference
					t.Fatalf("equal specs, and other files (-first +later):\n%s", cmp.Diff(want.Files, got.Files))
				}
				if diff := cmp.Diff(want.Lowered(), got.Lowered()); diff != "" {
					t.Fatalf("equal specs, and other reports (-first +later):\n%s", diff)
				}
			}
		})
	}
}

// Diagnostics come from maps too, and must be in a stable order.
func TestDiagnosticsAreDeterministic(t *testing.T) {
	t.Parallel()
	project := fstest.MapFS{
		"tools.toml":         {Data: []byte(projectTOML)},
		"specs/b/list.toml":  {Data: []byte(strings.Replace(toolTOML, "[command]", "a = 1\nb = 1\nc = 1\n[command]", 1))},
		"specs/ab/list.toml": {Data: []byte(toolTOML)},
		"specs/a_b/all.toml": {Data: []byte(strings.ReplaceAll(toolTOML, "notes_list", "all"))},
		"specs/if/none.toml": {Data: []byte(toolTOML)},
	}
	_, want := diagnose(t, project)
	for range 20 {
		if _, got := diagnose(t, project); got != want {
			t.Fatalf("equal specs, and other diagnostics (-first +later):\n%s", cmp.Diff(want, got))
		}
	}
}

func TestRepositoryIsUpToDate(t *testing.T) {
	t.Parallel()
	fsys := os.DirFS(repository)
	result, err := plan.Generate(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Diags) > 0 {
		t.Errorf("the specs of this repository have diagnostics: %v", result.Diags)
	}
	differences, err := plan.Compare(fsys, result)
	if err != nil {
		t.Fatal(err)
	}
	if len(differences) > 0 {
		t.Errorf("run go generate ./...: %v", differences)
	}
}

// No output may depend on the place of generation or on the user.
func TestOutputNamesNoMachine(t *testing.T) {
	t.Parallel()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Generate(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range result.Files {
		if bytes.Contains(file.Data, []byte(dir)) || bytes.Contains(file.Data, []byte("\r")) {
			t.Errorf("%s holds the path of this folder, or a carriage return", file.Path)
		}
	}
}

// convgen must build if its output is missing or broken, in order to repair it.
func TestGeneratorBuildsWithoutItsOutput(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "./cmd/convgen")
	cmd.Dir = repository
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("go list named %d packages", len(packages))
	}
	for _, name := range packages {
		if strings.HasPrefix(name, "github.com/convtools/convtools/generated") {
			t.Errorf("convgen imports %s", name)
		}
	}
}

// The project and the tool that other tests vary.
const (
	projectTOML = `module = "example.com/notes"
specs  = ["specs/*/*.toml"]

[cli.notes]
command = ["notes"]

[targets.go]
dir = "generated"

[targets.jp]
tools   = ".jp/mcp/tools"
command = "convtools jp-tool {{context}} {{tool}}"

[[targets.jp.skills]]
file    = ".jp/config/skill/notes.toml"
tag     = "notes_skill"
title   = "Skill: Notes"
content = "Notes are written down."
tools   = []
`
	toolTOML = `name        = "notes_list"
summary     = "List notes"
description = "Lists all notes."
effect      = "read"

[command]
cli  = "notes"
args = ["list", "--json"]

[envelope]
root = "notes_list"

[[envelope.elements]]
name     = "notes_list"
children = ["item*", "note*"]

[[envelope.elements]]
name       = "item"
from       = "records"
attributes = [{ name = "id", type = "string", from = "id", summary = "The note" }]

[[envelope.elements]]
name = "note"
body = "inline"
`
)

func notesProject() fstest.MapFS {
	return fstest.MapFS{
		"tools.toml":            {Data: []byte(projectTOML)},
		"specs/notes/list.toml": {Data: []byte(toolTOML)},
	}
}
