package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	answers := []string{
		`{"conversation_id":"c-1","status":"completed"}`,
		`<conversation_grep matches="2"><conversation id="jp-c1"><event event="12"/></conversation><conversation id="jp-c2"/></conversation_grep>`,
	}
	for value, want := range map[any]any{
		"plain": "plain", 3: 3, "$id": "jp-c1", "$event": 12, "$conversation_id": "c-1", "$matches": 2,
	} {
		if got, err := resolve(value, answers); err != nil || got != want {
			t.Errorf("resolve(%v) = %v, %v; want %v", value, got, err, want)
		}
	}
	if _, err := resolve("$turn", answers); err == nil || !strings.Contains(err.Error(), "no answer has turn") {
		t.Errorf("a name that no answer has: %v", err)
	}
}

func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	earlier := []string{`{"conversation_id":"c-1"}`}
	c := plannedCall{Shows: []string{"seven", "$conversation_id"}, Lacks: []string{"asked"}}
	for answer, want := range map[string]string{
		"seven minutes in c-1": "", "in c-1": `"seven": false`, "seven": `"c-1": false`, "seven, asked in c-1": `"asked": true`,
	} {
		err := c.check(answer, earlier)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

func TestCheckParameters(t *testing.T) {
	t.Parallel()
	const want = `{"type": "object", "required": ["a"], "properties": {
		"a": {"type": "string", "description": "A", "minLength": 1},
		"b": {"type": "array", "description": "B", "items": {"type": "string", "enum": ["x"], "pattern": "x"}, "default": []}}}`
	for _, test := range []struct{ name, got, wantErr string }{
		{"the same", want, ""},
		{
			"keywords dropped", `{"required": ["a"], "properties": {"a": {"type": "string", "description": "A"},
				"b": {"type": "array", "description": "B", "items": {"type": "string", "enum": ["x"]}}}}`, "",
		},
		{"nothing required", strings.Replace(want, `["a"]`, `[]`, 1), "Required"},
		{"a parameter missing", `{"required": ["a"], "properties": {"a": {"type": "string", "description": "A"}}}`, `"b"`},
		{"a description gone", strings.Replace(want, `"B"`, `""`, 1), `"B"`},
		{"allowed values gone", strings.Replace(want, `["x"]`, `["x", "y"]`, 1), `"y"`},
		{"not JSON", `{`, "reading the schemas"},
	} {
		err := checkParameters([]byte(want), []byte(test.got))
		if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
			t.Errorf("%s: %v, want %q", test.name, err, test.wantErr)
		}
	}
}

func TestCurrentNote(t *testing.T) {
	t.Parallel()
	const answer = "<conversation_grep>\n" +
		"  <note>Left out: the current conversation, codex-1 (include_current=true searches it too).</note>\n" +
		"  <note>Left out: 1 match in calls and results of these tools.</note>\n" +
		"  <note>Which conversation this is cannot be told, so nothing could be left out as the current conversation.</note>\n" +
		"</conversation_grep>"
	const want = "<conversation_grep>\n  <note>Left out: 1 match in calls and results of these tools.</note>\n</conversation_grep>"
	if got := currentNote.ReplaceAllString(answer, ""); got != want {
		t.Errorf("got %s", got)
	}
}

// Without npm nothing is taken for installed.
func TestInstallWithoutNPM(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", "")
	for range 2 {
		if err := install(t.Context(), dir, filepath.Join("testdata", "package.json")); err == nil {
			t.Error("it is installed")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "installed.json")); !os.IsNotExist(err) {
		t.Errorf("it is noted as installed: %v", err)
	}
}
