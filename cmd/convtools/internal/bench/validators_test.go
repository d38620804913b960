package main

import (
	"encoding/json"
	"strings"
	"testing"

	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/coerce"
)

// arguments are a call of conversation_grep as assistants make them.
const arguments = `{"pattern":"retry","limit":10,"scopes":["chat"],"ignore_case":true,"ids":["jp-c17648402467"],"context":2}`

// BenchmarkValidators holds the generated validator against two that interpret the
// schema, on arguments that have been decoded already.
func BenchmarkValidators(b *testing.B) {
	schema := conversation.GrepTool().InputSchema
	var document any
	if err := json.Unmarshal([]byte(arguments), &document); err != nil {
		b.Fatal(err)
	}
	b.Run("generated", func(b *testing.B) {
		object, _, err := coerce.DecodeObject([]byte(arguments))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if problems := conversation.ValidateGrep(object); problems != nil {
				b.Fatal(problems)
			}
		}
	})
	b.Run("v6", func(b *testing.B) {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
		if err != nil {
			b.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("mem:///grep.json", parsed); err != nil {
			b.Fatal(err)
		}
		compiled, err := compiler.Compile("mem:///grep.json")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := compiled.Validate(document); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("google", func(b *testing.B) {
		var parsed google.Schema
		if err := json.Unmarshal([]byte(schema), &parsed); err != nil {
			b.Fatal(err)
		}
		resolved, err := parsed.Resolve(nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := resolved.Validate(document); err != nil {
				b.Fatal(err)
			}
		}
	})
}
