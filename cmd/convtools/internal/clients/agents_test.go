package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLastHit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, envelope string
		id             string
		turn           int
		wantErr        string
	}{
		{
			name: "the last of two",
			envelope: `<conversation_grep matches="2"><conversation id="jp-c1">
				<hit id="jp-c1" turn="1">a</hit></conversation><conversation id="jp-c2">
				<hit id="jp-c2" turn="12">b</hit></conversation></conversation_grep>`,
			id: "jp-c2", turn: 12,
		},
		{
			name:     "recorded text that looks like a hit",
			envelope: `<conversation_grep><hit id="jp-c1" turn="1"><![CDATA[<hit id="jp-c9" turn="9">]]></hit></conversation_grep>`,
			id:       "jp-c1", turn: 1,
		},
		{name: "none", envelope: `<conversation_grep matches="0"></conversation_grep>`, wantErr: "no hit"},
		{name: "no turn", envelope: `<hit id="jp-c1">a</hit>`, wantErr: "no hit with id and turn"},
		{name: "cut off", envelope: `<conversation_grep><hit id="jp-c1" turn="1">a`, wantErr: "reading a hit"},
		{name: "not an envelope", envelope: `tool failed: <`, wantErr: "reading the answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id, turn, err := lastHit(test.envelope)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error is %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil || id != test.id || turn != test.turn {
				t.Errorf("got %s, %d, %v; want %s, %d", id, turn, err, test.id, test.turn)
			}
		})
	}
}

func TestCheckParameters(t *testing.T) {
	t.Parallel()
	const want = `{"type": "object", "required": ["a"], "properties": {
		"a": {"type": "string", "description": "A", "minLength": 1},
		"b": {"type": "array", "description": "B", "items": {"type": "string", "enum": ["x"], "pattern": "x"}, "default": []}}}`
	for _, test := range []struct {
		name    string
		got     string
		dropped []string
		wantErr string
	}{
		{"the same", want, nil, ""},
		{
			"keywords dropped", `{"required": ["a"], "properties": {"a": {"type": "string", "description": "A"},
				"b": {"type": "array", "description": "B", "items": {"type": "string", "enum": ["x"]}}}}`,
			[]string{"default", "minLength"},
			"",
		},
		{"nothing required", strings.Replace(want, `["a"]`, `[]`, 1), nil, "required"},
		{"a parameter missing", `{"required": ["a"], "properties": {"a": {"type": "string", "description": "A"}}}`, nil, "other parameters"},
		{"a description gone", strings.Replace(want, `"B"`, `""`, 1), nil, "the parameter b is shown otherwise"},
		{"allowed values gone", strings.Replace(want, `["x"]`, `["x", "y"]`, 1), nil, "the parameter b is shown otherwise"},
		{"not JSON", `{`, nil, "reading the schema that the model is shown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dropped, err := checkParameters([]byte(want), []byte(test.got))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error is %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.dropped, slices.Sorted(maps.Keys(dropped))); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}
