package toollist_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/emit/toollist"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
	"github.com/convtools/convtools/gen/lower"
)

// list is one emitter, and the form of entry that its host requires.
type list struct {
	emit  func(*ir.Contract, emit.Schemas) ([]emit.File, error)
	path  string
	entry func(tool *ir.Tool, schema any) map[string]any
}

// lists returns the emitters by name. Each entry function returns the entry that the host requires.
func lists() map[string]list {
	return map[string]list{
		"anthropic": {toollist.Anthropic().Emit, "generated/anthropic/tools.json", func(tool *ir.Tool, schema any) map[string]any {
			return map[string]any{
				"name":         tool.Name,
				"description":  lower.For(*toollist.Anthropic().Lower, tool).Description,
				"input_schema": schema,
			}
		}},
		"mcp": {toollist.MCP().Emit, "generated/mcp/tools.json", func(tool *ir.Tool, schema any) map[string]any {
			entry := map[string]any{
				"title": tool.Title(), "name": tool.Name,
				"description": lower.For(*toollist.MCP().Lower, tool).Description,
				"inputSchema": schema,
			}
			if tool.Effect == ir.Read {
				entry["annotations"] = map[string]any{"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
			}
			return entry
		}},
		"openai": {toollist.OpenAI().Emit, "generated/openai/functions.json", func(tool *ir.Tool, schema any) map[string]any {
			return map[string]any{"type": "function", "function": map[string]any{
				"name":        tool.Name,
				"description": lower.For(*toollist.OpenAI().Lower, tool).Description,
				"parameters":  schema,
			}}
		}},
	}
}

func TestListsMatchContract(t *testing.T) {
	t.Parallel()
	for name, l := range lists() {
		for kind, c := range map[string]*ir.Contract{"plain": irtest.Contract(), "hostile": irtest.Hostile()} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				files, err := l.emit(c, schema.Of)
				if err != nil {
					t.Fatal(err)
				}
				if len(files) != 1 || files[0].Path != l.path {
					t.Fatalf("files %v", files)
				}
				var got []map[string]any
				if err := json.Unmarshal(files[0].Data, &got); err != nil {
					t.Fatal(err)
				}
				var want []map[string]any
				for _, tool := range c.Tools() {
					var parameters any
					if err := json.Unmarshal([]byte(schema.Compact(tool)), &parameters); err != nil {
						t.Fatal(err)
					}
					want = append(want, l.entry(tool, parameters))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Codex decodes a parameter into a type with few fields and passes on only those:
// https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs
func TestLimitsAndDefaultsOutliveTheirKeywords(t *testing.T) {
	t.Parallel()
	files, err := toollist.MCP().Emit(irtest.Contract(), schema.Of)
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name        string
		InputSchema struct {
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(files[0].Data, &tools); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range tools {
		for name, p := range tool.InputSchema.Properties {
			got[tool.Name+"."+name] = p.Description
		}
	}
	for parameter, want := range map[string]string{
		"conversation_grep.limit":          "Most matches to return (1 to 200; default 50)",
		"conversation_grep.scopes":         `Only these kinds of text (default ["chat"])`,
		"conversation_grep.ignore_case":    "Take upper and lower case for the same (default true)",
		"conversation_grep.pattern":        "Text to look for (1 to 500 characters; not blank; on one line)",
		"conversation_list.title_contains": "Only those whose title holds this text (at most 200 characters; on one line)",
	} {
		if got[parameter] != want {
			t.Errorf("%s: got %q, want %q", parameter, got[parameter], want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, l := range lists() {
		c := irtest.Contract()
		c.Tools()[1].Name = strings.Repeat("n", 65)
		if _, err := l.emit(c, schema.Of); err == nil || !strings.Contains(err.Error(), "the name must be") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestNoTools(t *testing.T) {
	t.Parallel()
	for name, l := range lists() {
		files, err := l.emit(&ir.Contract{Targets: ir.Targets{Generated: "generated"}}, schema.Of)
		if err != nil || !slices.EqualFunc(files, []string{"[]\n"}, func(f emit.File, want string) bool { return string(f.Data) == want }) {
			t.Errorf("%s: files %v, error %v", name, files, err)
		}
	}
}

// namespaced is a function, or a namespace with functions.
type namespaced struct {
	Type, Name string
	Tools      []namespaced
}

// A name with a dot becomes a namespace and a name in it.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	c := &ir.Contract{Targets: ir.Targets{Generated: "generated"}}
	for _, name := range []string{"conv.create", "conv.send", "learn", "note.add"} {
		c.Families = append(c.Families, ir.Family{Tools: []ir.Tool{{Name: name, Summary: "Do it"}}})
	}
	files, err := toollist.Responses().Emit(c, schema.Of)
	if err != nil || len(files) != 1 || files[0].Path != "generated/responses/tools.json" {
		t.Fatalf("files %v, %v", files, err)
	}
	var got []namespaced
	if err := json.Unmarshal(files[0].Data, &got); err != nil {
		t.Fatal(err)
	}
	function := func(name string) namespaced { return namespaced{Type: "function", Name: name} }
	want := []namespaced{
		{Type: "namespace", Name: "conv", Tools: []namespaced{function("create"), function("send")}},
		function("learn"),
		{Type: "namespace", Name: "note", Tools: []namespaced{function("add")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	var files []emit.File
	for _, target := range []emit.Target{toollist.MCP(), toollist.OpenAI(), toollist.Anthropic(), toollist.Responses()} {
		list, err := target.Emit(irtest.Contract(), schema.Of)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	irtest.Golden(t, files)
}
