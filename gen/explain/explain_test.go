package explain_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/explain"
	"github.com/convtools/convtools/gen/lock"
)

// Every rule has an example that breaks it, and its correction.
func TestEveryRuleHasAnExample(t *testing.T) {
	t.Parallel()
	for _, rule := range check.Rules() {
		text, ok, err := explain.Rule(strings.ToLower(rule.ID))
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", rule.ID, ok, err)
		}
		for _, part := range []string{rule.ID + ": " + rule.Doc, "\nFor example: ", "[" + rule.ID + "]", "\nPut right:\n", "\n    "} {
			if !strings.Contains(text, part) {
				t.Errorf("what explains %s has no %q:\n%s", rule.ID, part, text)
			}
		}
	}
	for _, rule := range lock.Rules() {
		text, ok, err := explain.Rule(rule.ID)
		if err != nil || !ok || !strings.HasPrefix(text, rule.ID+": "+rule.Says) || !strings.Contains(text, "["+rule.ID+"]\n") || !strings.Contains(text, "\n    @@") {
			t.Errorf("what explains %s: %v, %v\n%s", rule.ID, ok, err, text)
		}
	}
	if text, ok, err := explain.Rule("CT999"); ok || err != nil || text != "" {
		t.Errorf("a rule that is not there: %q, %v, %v", text, ok, err)
	}
}
