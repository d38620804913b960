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

// TestDefinitions bounds the definitions of the conversation tools, because an assistant pays
// for them in every session, whether it calls the tools or not.
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
	characters := map[string]int{} // of the definitions of each group of tools
	for _, raw := range list {
		var tool struct{ Name string }
		var compact bytes.Buffer
		if err := errors.Join(json.Unmarshal(raw, &tool), json.Compact(&compact, raw)); err != nil {
			t.Fatal(err)
		}
		group, _, _ := strings.Cut(tool.Name, "_")
		if tool.Name == "conv.create" || tool.Name == "conv.send" {
			group = "create and send"
		} else if strings.HasPrefix(tool.Name, "conv.") {
			group = "other conv"
		}
		characters[group] += utf8.RuneCount(compact.Bytes())
	}
	// Four conversation tools have the names of all sources: one more is 40 characters.
	for group, limit := range map[string]int{"conversation": 9000, "create and send": 3000, "other conv": 2000} {
		if n := characters[group]; n == 0 || n > limit {
			t.Errorf("the %s tools have %d characters, over %d", group, n, limit)
		}
	}
}
