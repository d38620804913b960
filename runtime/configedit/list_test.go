package configedit_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/configedit"
)

// TestAppend appends an object to a list, and removes it again.
func TestAppend(t *testing.T) {
	t.Parallel()
	object := []configedit.Member{{Key: "run", Value: [][]configedit.Member{{{Key: "command", Value: "greet"}}}}}
	const added = "{\n      \"run\": [{\n        \"command\": \"greet\"\n      }]\n    }"
	for name, test := range map[string]struct{ before, after, removed string }{
		"no file":        {"", "{\n  \"on\": {\n    \"start\": [{\n      \"run\": [{\n        \"command\": \"greet\"\n      }]\n    }]\n  }\n}\n", "{\n  \"on\": {\n    \"start\": []\n  }\n}\n"},
		"no list":        {`{"on":{"end":[1]}}`, `{"on":{"end":[1],"start":[{"run":[{"command":"greet"}]}]}}`, `{"on":{"end":[1],"start":[]}}`},
		"empty list":     {`{"on": {"start": []}}`, `{"on": {"start": [{"run": [{"command": "greet"}]}]}}`, `{"on": {"start": []}}`},
		"on one line":    {`{"on": {"start": [{"a": 1.50}]}}`, `{"on": {"start": [{"a": 1.50},{"run": [{"command": "greet"}]}]}}`, `{"on": {"start": [{"a": 1.50}]}}`},
		"on lines":       {"{\n  \"on\": {\"start\": [\n    {\"a\" : 1}\n  ]}\n}\n", "{\n  \"on\": {\"start\": [\n    {\"a\" : 1},\n    " + added + "\n  ]}\n}\n", "{\n  \"on\": {\"start\": [\n    {\"a\" : 1}\n  ]}\n}\n"},
		"with byte mark": {"\xef\xbb\xbf" + `{"on": {"start": [0]}}`, "\xef\xbb\xbf" + `{"on": {"start": [0,{"run": [{"command": "greet"}]}]}}`, "\xef\xbb\xbf" + `{"on": {"start": [0]}}`},
	} {
		path := []string{"on", "start"}
		after, err := configedit.Append([]byte(test.before), path, object)
		if err != nil || string(after) != test.after {
			t.Errorf("%s: appended %q, %v; want %q", name, after, err, test.after)
			continue
		}
		list, err := configedit.List(after, path)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: list %v, %v", name, list, err)
			continue
		}
		removed, err := configedit.RemoveItem(after, path, len(list)-1)
		if err != nil || string(removed) != test.removed {
			t.Errorf("%s: removed %q, %v; want %q", name, removed, err, test.removed)
		}
	}
}

// TestListConflicts edits a list in documents that cannot be edited.
func TestListConflicts(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`{"on": {"start": {}}}`, `{"on": []}`, `{"on": {"start": [1], "start": [2]}}`, `{"on": {"start": [1]} // why`, `[1]`, "\xff"} {
		after, err := configedit.Append([]byte(document), []string{"on", "start"}, []configedit.Member{{Key: "a", Value: "b"}})
		if err == nil {
			t.Errorf("%s became %s", document, after)
		}
	}
}
