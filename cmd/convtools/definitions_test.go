package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDefinitions: what an assistant is told of the conversation tools costs in every session,
// whether they are called or not, so that it is bounded.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../generated/mcp/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	tools, all := 0, 0
	for _, raw := range list {
		var tool struct{ Name string }
		var compact bytes.Buffer
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&compact, raw); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(tool.Name, "conversation_") {
			continue
		}
		tools++
		all += utf8.RuneCount(compact.Bytes())
	}
	const most = 9000
	if tools != 5 || all > most {
		t.Errorf("%d tools have %d characters, over %d", tools, all, most)
	}
}
