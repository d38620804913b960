package jptest_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSample tests that each conversation of the sample has what it is for.
func TestSample(t *testing.T) {
	t.Parallel()
	files := tree(t, filepath.Join("..", "..", "..", "..", "testdata", "workspaces", "sample", ".jp"))
	size := 0
	for _, content := range files {
		size += len(content)
	}
	if size > 400_000 {
		t.Errorf("the sample is %d bytes, want at most 400,000", size)
	}

	type event struct {
		Type, Content string
		Data          json.RawMessage
	}
	events := func(dir string) []event {
		t.Helper()
		content, ok := files["conversations/"+dir+"/events.json"]
		if !ok {
			t.Fatalf("no conversation %s", dir)
		}
		var list []event
		if err := json.Unmarshal([]byte(content), &list); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		return list
	}
	count := func(list []event, kind string) (n int) {
		for _, e := range list {
			if e.Type == kind {
				n++
			}
		}
		return n
	}

	var damaged []string
	keys := map[string]int{}
	conversations := 0
	for name, content := range files {
		switch filepath.Base(name) {
		case "events.json":
			conversations++
			if !json.Valid([]byte(content)) {
				damaged = append(damaged, name)
			}
		case "metadata.json":
			var metadata map[string]any
			if err := json.Unmarshal([]byte(content), &metadata); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for key := range metadata {
				keys[key]++
			}
		}
	}
	if conversations != 12 {
		t.Errorf("%d conversations, want 12", conversations)
	}
	wantKeys := map[string]int{
		"title": 12, "last_activated_at": 12, "labels": 4,
		"pinned_at": 1, "archived_at": 1, "expires_at": 1, "hidden": 1,
	}
	if diff := cmp.Diff(wantKeys, keys); diff != "" {
		t.Errorf("metadata keys (-want +got):\n%s", diff)
	}
	wantDamaged := []string{"conversations/17890266441-dashboard-shows-yesterday-s-tide/events.json"}
	if diff := cmp.Diff(wantDamaged, damaged); diff != "" {
		t.Errorf("damaged files (-want +got):\n%s", diff)
	}

	legacy := events("17635466523-choosing-a-source-for-tide-predictions")
	if legacy[0].Type != "config_delta" || count(legacy, "turn_start") != 0 || count(legacy, "chat_request") < 2 {
		t.Error("legacy: want a leading config_delta, several requests and no turn_start")
	}

	urlSafe := 0
	for _, e := range events("17684047008-checksum-of-the-constants-file") {
		if e.Type != "tool_call_response" {
			continue
		}
		if _, err := base64.URLEncoding.DecodeString(e.Content); err != nil {
			t.Errorf("URL-safe: %v", err)
		}
		if _, err := base64.StdEncoding.DecodeString(e.Content); err != nil && strings.Contains(e.Content, "-") && strings.Contains(e.Content, "_") {
			urlSafe++
		}
	}
	if urlSafe != 2 {
		t.Errorf("URL-safe: %d results with both - and _, want 2", urlSafe)
	}

	largest := 0
	for _, e := range events("17906045112-output-of-the-full-station-import") {
		text, err := base64.StdEncoding.DecodeString(e.Content)
		if e.Type == "tool_call_response" && err == nil {
			largest = max(largest, len(text))
		}
	}
	if largest < 110_000 || largest > 130_000 {
		t.Errorf("large: the largest tool result is %d bytes, want about 120,000", largest)
	}

	hostile := files["conversations/17871395667-imported-chat---title---conversation----cdata------ignore/events.json"]
	for _, want := range []string{
		"</content></event>", "]]>", "<conversation_read ", "```", `\u001b[2J`, `\u0000`, "\u202e", "\U000E0069", "Ignore previous instructions",
	} {
		if !strings.Contains(hostile, want) {
			t.Errorf("adversarial: lacks %q", want)
		}
	}
	if cjk := files["conversations/17853741095-潮汐表与時差/events.json"]; !strings.Contains(cjk, "👨‍👩‍👧‍👦") {
		t.Error("CJK: lacks an emoji joined by ZWJ")
	}
}
