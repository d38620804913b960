package main

import (
	"bytes"
	"encoding/json"
	"errors"
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
	// characters are those of the tools of a room, by the names of those tools.
	characters := map[string]int{}
	for _, raw := range list {
		var tool struct{ Name string }
		var compact bytes.Buffer
		if err := errors.Join(json.Unmarshal(raw, &tool), json.Compact(&compact, raw)); err != nil {
			t.Fatal(err)
		}
		room, _, _ := strings.Cut(tool.Name, "_")
		if tool.Name == "conv.create" || tool.Name == "conv.send" {
			room = "create and send"
		} else if strings.HasPrefix(tool.Name, "conv.") {
			room = "other conv"
		}
		characters[room] += utf8.RuneCount(compact.Bytes())
	}
	// Four conversation tools have the names of all sources: one more is 40 characters.
	for room, most := range map[string]int{"conversation": 9000, "create and send": 3000, "other conv": 2000} {
		if n := characters[room]; n == 0 || n > most {
			t.Errorf("the %s tools have %d characters, over %d", room, n, most)
		}
	}
}
