package responses_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit/responses"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
)

type entry struct {
	Type, Name string
	Tools      []entry
}

// Names with a dot are in a namespace, in which the rest of the name is theirs.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	c := &ir.Contract{Targets: ir.Targets{Generated: "generated"}}
	for _, name := range []string{"conv.create", "conv.send", "learn", "note.add"} {
		c.Families = append(c.Families, ir.Family{Tools: []ir.Tool{{Name: name, Summary: "Do it"}}})
	}
	files, err := responses.Emit(c, schema.Schemas())
	if err != nil || len(files) != 1 || files[0].Path != "generated/responses/tools.json" {
		t.Fatalf("files %v, %v", files, err)
	}
	var got []entry
	if err := json.Unmarshal(files[0].Data, &got); err != nil {
		t.Fatal(err)
	}
	function := func(name string) entry { return entry{Type: "function", Name: name} }
	want := []entry{
		{Type: "namespace", Name: "conv", Tools: []entry{function("create"), function("send")}},
		function("learn"),
		{Type: "namespace", Name: "note", Tools: []entry{function("add")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
