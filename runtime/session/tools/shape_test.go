package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shape is what files of JP have: the kinds of the values at each path, and how many objects of a type there are and have
// a key.
type shape struct {
	kinds  map[string]map[string]bool
	counts map[string]int
}

// add notes a value and what is in it. The keys of what people and models name are not told apart.
func (s *shape) add(path string, value any) {
	kind := fmt.Sprintf("%T", value)
	if s.kinds[path] == nil {
		s.kinds[path] = map[string]bool{}
	}
	s.kinds[path][kind] = true
	s.counts[path]++
	object, ok := value.(map[string]any)
	if !ok || strings.HasSuffix(path, ".arguments") || strings.HasSuffix(path, ".metadata") || path == "metadata.labels" {
		return
	}
	for key, v := range object {
		s.add(path+"."+key, v)
	}
}

// shapeOf returns what the conversations have whose files a pattern names.
func shapeOf(t *testing.T, pattern string) *shape {
	t.Helper()
	s := &shape{kinds: map[string]map[string]bool{}, counts: map[string]int{}}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	timestamp := regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,6}$`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		events, ok := value.([]any)
		if !ok {
			if at, ok := value.(map[string]any)["last_activated_at"].(string); ok && !timestamp.MatchString(at) {
				t.Errorf("%s: a time in another form: %s", file, at)
			}
			s.add(name, value)
			continue
		}
		for _, e := range events {
			event := e.(map[string]any)
			kind := event["type"].(string)
			if kind == "chat_response" && event["message"] == nil { // what is thought is not recorded
				continue
			}
			s.add(kind, event)
			if at := event["timestamp"].(string); !timestamp.MatchString(at) {
				t.Errorf("%s: a time in another form: %s", file, at)
			}
			encoded := []any{}
			switch kind {
			case "tool_call_response":
				encoded = append(encoded, event["content"])
			case "tool_call_request":
				for _, v := range event["arguments"].(map[string]any) {
					encoded = append(encoded, v)
				}
			}
			for _, v := range encoded {
				if text, ok := v.(string); ok {
					if _, err := base64.StdEncoding.DecodeString(text); err != nil {
						t.Errorf("%s: %s with %q: %v", file, kind, text, err)
					}
				}
			}
		}
	}
	return s
}

// What is recorded has the files, the keys and the kinds of values that JP writes, and none that JP does not know.
func TestRecordedAsJPWrites(t *testing.T) {
	t.Parallel()
	events := talk(t)
	w := aWorkspace(t)
	r := record(t, w)
	for _, e := range events {
		r.observe(e.Event, e.state)
	}
	ours := shapeOf(t, filepath.Join(w.Root(), ".jp", "conversations", "*", "*.json"))
	for name, pattern := range map[string]string{
		"by the documentation": "testdata/jp/*/*.json",
		"by JP itself":         "../../../../shared/data/jp-workspace/.jp/conversations/*/*.json",
	} {
		t.Run(name, func(t *testing.T) {
			if files, _ := filepath.Glob(pattern); len(files) == 0 {
				t.Skipf("no sample workspace at %s", pattern)
			}
			theirs := shapeOf(t, pattern)
			known := map[string]bool{ // which JP documents, and no conversation of the samples has
				"metadata.hidden bool":                                true, // proposed for JP, which has the label for it
				"metadata.labels map[string]interface {}":             true, // newer than those
				"tool_call_request.metadata map[string]interface {}":  true, // any event may have it
				"tool_call_response.metadata map[string]interface {}": true,
				"chat_request.metadata map[string]interface {}":       true,
				"chat_response.metadata map[string]interface {}":      true,
			}
			for path, kinds := range ours.kinds {
				for kind := range kinds {
					if !theirs.kinds[path][kind] && !known[path+" "+kind] {
						t.Errorf("JP has no %s at %s, but %v", kind, path, theirs.kinds[path])
					}
				}
			}
			for path, n := range theirs.counts {
				kind, key, nested := strings.Cut(path, ".")
				if !nested || strings.Contains(key, ".") || kind == "base_config" || ours.counts[kind] == 0 {
					continue // a configuration has what differs from the default
				}
				if n == theirs.counts[kind] && ours.counts[path] != ours.counts[kind] {
					t.Errorf("JP always writes %s; %d of %d have it here", path, ours.counts[path], ours.counts[kind])
				}
			}
		})
	}
}
