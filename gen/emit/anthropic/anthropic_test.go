package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit/anthropic"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lower"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := anthropic.Emit(irtest.Contract())
	if err != nil {
		t.Fatal(err)
	}
	irtest.Golden(t, files)
}

func TestListSaysWhatTheContractSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*ir.Contract{"plain": irtest.Contract(), "hostile": irtest.Hostile()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list(t, c)
		})
	}
}

func list(t *testing.T, c *ir.Contract) {
	files, err := anthropic.Emit(c)
	if err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	if err := json.Unmarshal(files[0].Data, &entries); err != nil {
		t.Fatal(err)
	}

	var wants []map[string]any
	for _, tool := range c.Tools() {
		var parameters any
		if err := json.Unmarshal([]byte(schema.Compact(tool)), &parameters); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"name":         tool.Name,
			"description":  lower.For(lower.Anthropic, tool).Description,
			"input_schema": parameters,
		}
		wants = append(wants, want)
	}
	if diff := cmp.Diff(wants, entries); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestRefusesWhatTheTargetRefuses(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	c.Tools()[1].Name = strings.Repeat("n", 65)
	if _, err := anthropic.Emit(c); err == nil || !strings.Contains(err.Error(), "the name must be") {
		t.Errorf("error %v", err)
	}
}
