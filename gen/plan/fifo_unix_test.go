//go:build unix

package plan_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/plan"
)

// Reading a pipe in the place of an output would block. Neither comparing nor looking for orphans does.
func TestPipesAmongOutputs(t *testing.T) {
	t.Parallel()
	p := newProject(t, notesProject())
	p.mustGenerate()
	const output = "generated/schemas/notes_list.json"
	p.remove(output)
	for _, name := range []string{output, "generated/schemas/other.json", "generated/docs/other.md", ".jp/mcp/tools/notes/other.toml"} {
		if err := syscall.Mkfifo(p.path(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := plan.Generate(p.root.FS())
	if err != nil {
		t.Fatal(err)
	}
	differences, err := plan.Compare(p.root.FS(), result)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]plan.Difference{{Path: output, Kind: plan.Foreign}}, differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if err := plan.Write(p.root, result, differences); err == nil || !strings.Contains(err.Error(), output) {
		t.Errorf("writing: %v, want an error that names %s", err, output)
	}
}

func TestPipesAmongSpecs(t *testing.T) {
	t.Parallel()
	p := newProject(t, notesProject())
	if err := syscall.Mkfifo(p.path("specs/notes/pipe.toml"), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := plan.Generate(p.root.FS())
	if err != nil || !result.Diags.HasErrors() {
		t.Errorf("%v, %v", result.Diags, err)
	}
}
