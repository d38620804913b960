package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit/openai"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lower"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := openai.Emit(irtest.Contract())
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
	files, err := openai.Emit(c)
	if err != nil {
		t.Fatal(err)
	}
	// Every entry is {"type": "function", "function": …} and nothing else.
	var functions []map[string]json.RawMessage
	if err := json.Unmarshal(files[0].Data, &functions); err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	for _, f := range functions {
		if len(f) != 2 || string(f["type"]) != `"function"` {
			t.Errorf("entry %s", f)
		}
		var entry map[string]any
		if err := json.Unmarshal(f["function"], &entry); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}

	var wants []map[string]any
	for _, tool := range c.Tools() {
		var parameters any
		if err := json.Unmarshal([]byte(schema.Compact(tool)), &parameters); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"name":        tool.Name,
			"description": lower.For(lower.OpenAI, tool).Description,
			"parameters":  parameters,
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
	if _, err := openai.Emit(c); err == nil || !strings.Contains(err.Error(), "the name must be") {
		t.Errorf("error %v", err)
	}
}
