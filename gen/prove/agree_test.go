package prove_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/convtools/convtools/gen/prove"
)

const schema = `{
	"type": "object",
	"properties": {
		"n": {"type": "integer", "minimum": 1, "maximum": 9},
		"s": {"type": "string", "minLength": 2, "maxLength": 4},
		"w": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1},
		"p": {"type": "string", "pattern": "^[a-c]{1,3}$"},
		"o": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2}]}
	},
	"required": ["n"],
	"additionalProperties": false
}`

// record is a test that may fail without failing this one.
type record struct {
	testing.TB
	failure string
}

func (r *record) Helper() {}

func (r *record) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

func (r *record) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func agree(t *testing.T, accepts func([]byte) bool) string {
	r := &record{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		prove.Agree(r, schema, 1, 2000, accepts)
	}()
	<-done
	return r.failure
}

// TestAgreeFindsDisagreement gives validators with one mistake each.
func TestAgreeFindsDisagreement(t *testing.T) {
	t.Parallel()
	for name, accepts := range map[string]func([]byte) bool{
		"everything": func([]byte) bool { return true },
		"nothing":    func([]byte) bool { return false },
		"names":      func(arguments []byte) bool { return bytes.Contains(arguments, []byte(`"n"`)) },
		"arrays":     arraysOnly,
	} {
		if failure := agree(t, accepts); !strings.Contains(failure, "the validator accepts them") {
			t.Errorf("%s: reported %q", name, failure)
		}
	}
}

// arraysOnly judges as the schema does, except that it takes no single string.
func arraysOnly(arguments []byte) bool {
	var value map[string]any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return false
	}
	_, single := value["o"].(string)
	return !single && jsonschema.MustCompileString("mem:///s.json", schema).Validate(value) == nil
}

func TestSourceDrawsJSONAndTheSameAgain(t *testing.T) {
	t.Parallel()
	first, err := prove.NewSource(schema, 5)
	if err != nil {
		t.Fatal(err)
	}
	second, err := prove.NewSource(schema, 5)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		a, b := first.Arguments(), second.Arguments()
		if !json.Valid(a) || !bytes.Equal(a, b) {
			t.Fatalf("drew %s and %s", a, b)
		}
	}
	if _, err := prove.NewSource("{", 1); err == nil {
		t.Error("a schema that is no JSON is taken")
	}
}
