package plan_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/plan"
)

// TestDefinitions has a tool on every target, and one in a group where there are groups.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	project := notesProject()
	result, err := plan.Generate(project)
	if err != nil || result.Diags.HasErrors() {
		t.Fatal(err, result.Diags)
	}
	all := result.Definitions()
	tools := map[string][]string{}
	for _, d := range all {
		tools[d.Target] = append(tools[d.Target], d.Tool)
		if d.Bytes < 100 {
			t.Errorf("%s has %d bytes to %s", d.Tool, d.Bytes, d.Target)
		}
	}
	var names []string
	for _, tool := range result.Contract.Tools() {
		names = append(names, tool.Name)
	}
	want := []string{"anthropic", "jp", "mcp", "openai", "responses", "schema"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tools))); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	for target, got := range tools {
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}
