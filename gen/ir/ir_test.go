package ir_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir"
)

// Families are sorted too, but the name of a tool need not begin with the name of its family.
func TestToolsAreSortedByName(t *testing.T) {
	t.Parallel()
	c := ir.Contract{Families: []ir.Family{
		{Name: "a", Tools: []ir.Tool{{Name: "a_list"}, {Name: "zap"}}},
		{Name: "b", Tools: []ir.Tool{{Name: "aim"}, {Name: "b_list"}}},
	}}
	var names []string
	for _, tool := range c.Tools() {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"a_list", "aim", "b_list", "zap"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestGoName(t *testing.T) {
	t.Parallel()
	for snake, want := range map[string]string{
		"list": "List", "title_contains": "TitleContains", "id": "ID", "ids": "IDs", "conversation_id": "ConversationID",
		"json_url": "JSONURL", "a_1b": "A1b", "": "", "next_offset": "NextOffset",
	} {
		if got := ir.GoName(snake); got != want {
			t.Errorf("%s: %s, not %s", snake, got, want)
		}
	}
}
