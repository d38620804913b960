package conversation_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// typicalGrep is a call as assistants make them.
const typicalGrep = `{"pattern":"retry","limit":10,"scopes":["chat"],"ignore_case":true,"ids":["jp-c17648402467"],"context":2}`

// decodeObject decodes arguments that need no repair.
func decodeObject(tb testing.TB, arguments string) coerce.Object {
	tb.Helper()
	object, repairs, err := coerce.DecodeObject([]byte(arguments))
	if err != nil {
		tb.Fatalf("decoding %s: %v", arguments, err)
	}
	if len(repairs) > 0 {
		tb.Fatalf("decoding %s made repairs: %v", arguments, repairs)
	}
	return object
}

// TestValidateDoesNotAllocate does not run in parallel with other tests, whose
// allocations would count.
func TestValidateDoesNotAllocate(t *testing.T) {
	for _, test := range []struct {
		name      string
		validate  func(coerce.Object) []contract.Problem
		arguments string
	}{
		{"grep", conversation.ValidateGrep, typicalGrep},
		{"grep with every parameter", conversation.ValidateGrep, `{"pattern":"größer als 潮汐","ignore_case":false,"ids":["jp-c17648402467","17648402467"],"scopes":["user","tool-result"],"context":0,"limit":200,"include_current":true,"include_hidden":true}`},
		{"list", conversation.ValidateList, `{}`},
		{"list with every parameter", conversation.ValidateList, `{"limit":5,"offset":10,"sort":"updated","descending":false,"archived":true,"title_contains":"tide","include_hidden":true}`},
		{"read", conversation.ValidateRead, `{"id":"jp-c17648402467","turn":2}`},
		{"read with a list", conversation.ValidateRead, `{"id":"jp-c17648402467","last":3,"include":["chat","tool_calls"],"include_current":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := decodeObject(t, test.arguments)
			if problems := test.validate(object); problems != nil {
				t.Fatalf("problems with %s: %v", test.arguments, problems)
			}
			if allocs := testing.AllocsPerRun(100, func() { test.validate(object) }); allocs != 0 {
				t.Errorf("%g allocations, want none", allocs)
			}
		})
	}
}

// BenchmarkValidateGrep compares the generated validator with one that
// interprets the schema, both on arguments that have been decoded already.
func BenchmarkValidateGrep(b *testing.B) {
	b.Run("generated", func(b *testing.B) {
		object := decodeObject(b, typicalGrep)
		b.ReportAllocs()
		for b.Loop() {
			if problems := conversation.ValidateGrep(object); problems != nil {
				b.Fatal(problems)
			}
		}
	})
	b.Run("jsonschema", func(b *testing.B) {
		file, err := os.ReadFile("../schemas/conversation_grep.json")
		if err != nil {
			b.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("conversation_grep.json", bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
		schema, err := compiler.Compile("conversation_grep.json")
		if err != nil {
			b.Fatal(err)
		}
		var object any
		if err := json.Unmarshal([]byte(typicalGrep), &object); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := schema.Validate(object); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkParseGrep is all that happens to arguments before they are used:
// decoding, repairs and validation.
func BenchmarkParseGrep(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		object, repairs, err := coerce.DecodeObject([]byte(typicalGrep))
		if err != nil {
			b.Fatal(err)
		}
		args := coerce.Args{Object: object, Repairs: repairs}
		conversation.CoerceGrep(&args)
		if problems := conversation.ValidateGrep(args.Object); problems != nil {
			b.Fatal(problems)
		}
	}
}
