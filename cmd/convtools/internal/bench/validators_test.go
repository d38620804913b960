package main

import (
	"encoding/json"
	"strings"
	"testing"

	google "github.com/google/jsonschema-go/jsonschema"
	v5 "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// validated is a tool whose generated validator is measured, and arguments of a call as
// assistants make them.
type validated struct {
	name      string
	tool      contract.Tool
	arguments string
}

func validatedTools() []validated {
	return []validated{
		{
			"flat", conversation.GrepTool(),
			`{"pattern":"retry","limit":10,"scopes":["chat"],"ignore_case":true,"ids":["jp-c17648402467"],"context":2}`,
		},
		{
			"nested", conv.CreateTool(),
			`{"user_instruction":"Review the patch","items":[{"type":"text","text":"It is about tides"},` +
				`{"type":"image","image_url":"https://example.com/tides.png"},{"type":"local_image","path":"docs/chart.png"}],` +
				`"mcp_allowlist":["files/read","search"],"internal_tools":{"include_plan_tool":true,"include_apply_patch_tool":false}}`,
		},
	}
}

// BenchmarkValidators holds generated validators against those that interpret the
// schema, on arguments that have been decoded already.
func BenchmarkValidators(b *testing.B) {
	for _, tool := range validatedTools() {
		b.Run(tool.name, func(b *testing.B) {
			object, _, err := coerce.DecodeObject([]byte(tool.arguments))
			if err != nil {
				b.Fatal(err)
			}
			b.Run("generated", func(b *testing.B) {
				for b.Loop() {
					if problems := coerce.Problems(&tool.tool, object); problems != nil {
						b.Fatal(problems)
					}
				}
			})
			var document any
			if err := json.Unmarshal([]byte(tool.arguments), &document); err != nil {
				b.Fatal(err)
			}
			for name, validate := range interpreters(b, tool.tool.InputSchema) {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if err := validate(document); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// interpreters returns what judges documents by a schema.
func interpreters(b *testing.B, schema string) map[string]func(any) error {
	const url = "mem:///tool.json"
	five, err := v5.CompileString(url, schema)
	if err != nil {
		b.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		b.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(url, parsed); err != nil {
		b.Fatal(err)
	}
	six, err := compiler.Compile(url)
	if err != nil {
		b.Fatal(err)
	}
	var document google.Schema
	if err := json.Unmarshal([]byte(schema), &document); err != nil {
		b.Fatal(err)
	}
	resolved, err := document.Resolve(nil)
	if err != nil {
		b.Fatal(err)
	}
	return map[string]func(any) error{"v5": five.Validate, "v6": six.Validate, "google": resolved.Validate}
}
