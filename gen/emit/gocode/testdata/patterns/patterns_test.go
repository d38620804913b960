package patterns

import (
	"encoding/json"
	"testing"

	"github.com/convtools/convtools/gen/prove"
	"github.com/convtools/convtools/runtime/coerce"
)

// TestMatchersAgreeWithPatterns compares every way a pattern is matched with
// the schema, which has the pattern itself: one parameter at a time, because few
// draws would be valid for all of them.
func TestMatchersAgreeWithPatterns(t *testing.T) {
	t.Parallel()
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Additional bool                       `json:"additionalProperties"`
	}
	if err := json.Unmarshal([]byte(MatchTool().InputSchema), &schema); err != nil {
		t.Fatal(err)
	}
	all := schema.Properties
	for name, property := range all {
		schema.Properties = map[string]json.RawMessage{name: property}
		one, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prove.Agree(t, string(one), 3, 3000, func(arguments []byte) bool {
				object, _, err := coerce.DecodeObject(arguments)
				return err == nil && ValidateMatch(object) == nil
			})
		})
	}
}
