package knowledge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/prove"
	"github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

func TestValidatorAgreesWithSchema(t *testing.T) {
	t.Parallel()
	prove.Agree(t, knowledge.LearnTool().InputSchema, 11, 10_000, func(arguments []byte) bool {
		object, _, err := coerce.DecodeObject(arguments)
		if err != nil {
			t.Fatalf("arguments %s: %v", arguments, err)
		}
		return knowledge.ValidateLearn(object) == nil
	})
}

// FuzzLearn holds the validator against the schema for any JSON object, and
// demands that reading it leniently never refuses what the schema takes.
func FuzzLearn(f *testing.F) {
	schema, err := jsonschema.CompileString("mem:///learn.json", knowledge.LearnTool().InputSchema)
	if err != nil {
		f.Fatal(err)
	}
	source, err := prove.NewSource(knowledge.LearnTool().InputSchema, 5)
	if err != nil {
		f.Fatal(err)
	}
	for range 200 {
		f.Add(source.Arguments())
	}
	for _, s := range []string{
		``, `null`, `[]`, `"{\"topic\":\"x\"}"`, `{"topic":"x","subjects":"[\"a\",\"b\"]"}`, `{"topic":"x","subjects":"[[\"a\"]]"}`,
		`{"topic":"x","subjects":"null"}`, `{"topic":"x","subjects":[null]}`, `{"topic":"x","subjects":" [ ] "}`, "{\"topic\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		object, repairs, err := coerce.DecodeObject(arguments)
		if err != nil {
			return
		}
		valid := knowledge.ValidateLearn(object) == nil
		if raw := bytes.TrimSpace(arguments); len(repairs) == 0 && len(raw) > 0 && raw[0] == '{' {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.UseNumber()
			var value any
			if err := dec.Decode(&value); err != nil {
				t.Fatalf("%q was decoded, and is no JSON: %v", arguments, err)
			}
			if want := schema.Validate(value) == nil; valid != want {
				t.Fatalf("%q: the validator accepts it: %v, the schema: %v", arguments, valid, want)
			}
		}
		var l listener
		_, err = knowledge.Call(context.Background(), &l, contract.Call{Tool: "learn", Arguments: arguments})
		if valid && err != nil {
			t.Fatalf("%q is valid, and refused: %v", arguments, err)
		}
		if err == nil {
			for _, subject := range l.params.Subjects {
				if coerce.Blank(subject) {
					t.Fatalf("%q: a blank subject among %q", arguments, l.params.Subjects)
				}
			}
			if len(l.params.Subjects) > 64 || l.params.Subjects != nil && len(l.params.Subjects) == 0 {
				t.Fatalf("%q: subjects %q", arguments, l.params.Subjects)
			}
			return
		}
		var invalid *contract.InvalidArguments
		if !errors.As(err, &invalid) {
			t.Fatalf("%q: %v is no error about arguments", arguments, err)
		}
		if _, err := knowledge.Call(context.Background(), &l, contract.Call{Tool: "learn", Arguments: []byte(invalid.Corrected)}); err != nil || len(l.notes) > 0 {
			t.Fatalf("%q: the call that works does not: %s: %v, notes %q", arguments, invalid.Corrected, err, l.notes)
		}
	})
}
