package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLastEvent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, envelope string
		id             string
		number         int
		wantErr        string
	}{
		{
			name: "the last of three",
			envelope: `<conversation_grep matches="3"><conversation id="jp-c1">
				<event event="1"><hit>a</hit></event></conversation><conversation id="jp-c2">
				<event event="3"><hit>b</hit></event><event event="12"><hit>b</hit></event></conversation></conversation_grep>`,
			id: "jp-c2", number: 12,
		},
		{
			name: "a conversation without one",
			envelope: `<conversation_grep><conversation id="jp-c1"><event event="7"/></conversation>
				<conversation id="jp-c2" matches="3"><title>b</title></conversation></conversation_grep>`,
			id: "jp-c1", number: 7,
		},
		{
			name: "recorded text that looks like an event",
			envelope: `<conversation_grep><conversation id="jp-c1"><event event="1"><hit><![CDATA[<event event="9">]]></hit></event>
				</conversation></conversation_grep>`,
			id: "jp-c1", number: 1,
		},
		{name: "none", envelope: `<conversation_grep matches="0"></conversation_grep>`, wantErr: "no event"},
		{name: "no number", envelope: `<conversation_grep><conversation id="jp-c1"><event/></conversation></conversation_grep>`, wantErr: "no event with its number"},
		{name: "cut off", envelope: `<conversation_grep><conversation id="jp-c1"><event event="1">a`, wantErr: "reading the answer"},
		{name: "not an envelope", envelope: `tool failed: <`, wantErr: "reading the answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id, number, err := lastEvent(test.envelope)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error is %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil || id != test.id || number != test.number {
				t.Errorf("got %s, %d, %v; want %s, %d", id, number, err, test.id, test.number)
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
		{"nothing required", strings.Replace(want, `["a"]`, `[]`, 1), nil, "Required"},
		{"a parameter missing", `{"required": ["a"], "properties": {"a": {"type": "string", "description": "A"}}}`, nil, `"b"`},
		{"a description gone", strings.Replace(want, `"B"`, `""`, 1), nil, `"B"`},
		{"allowed values gone", strings.Replace(want, `["x"]`, `["x", "y"]`, 1), nil, `"y"`},
		{"not JSON", `{`, nil, "reading the schemas"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dropped := map[string]bool{}
			err := checkParameters([]byte(want), []byte(test.got), dropped)
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

func TestWithoutCurrent(t *testing.T) {
	t.Parallel()
	const answer = "<conversation_grep>\n" +
		"  <note>Left out: the current conversation, codex-1 (include_current=true searches it too).</note>\n" +
		"  <note>Left out: 1 match in calls and results of these tools.</note>\n" +
		"  <note>Which conversation this is cannot be told, so nothing could be left out as the current conversation.</note>\n" +
		"</conversation_grep>"
	const want = "<conversation_grep>\n  <note>Left out: 1 match in calls and results of these tools.</note>\n</conversation_grep>"
	if got := withoutCurrent(answer); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheckFound(t *testing.T) {
	t.Parallel()
	const (
		first = `<conversation id="claude-1"><title>t</title><event event="2"><hit>` + agreed + `</hit></event></conversation>`
		own   = `<conversation id="claude-2"><title>t</title><event event="1"><hit>` + asked + `</hit></event></conversation>`
		note  = `<note>Left out: the current conversation, claude-2 (include_current=true searches it too).</note>`
	)
	grep := func(body string) string { return "<conversation_grep>" + body + "</conversation_grep>" }
	read := "<conversation_read>" + told + "</conversation_read>"
	for name, test := range map[string]struct {
		shown []string
		want  string // of the error; empty for none
	}{
		"the first session":       {[]string{grep(first + note), read}, ""},
		"its own, too":            {[]string{grep(first + own + note), read}, "alone"},
		"its own alone":           {[]string{grep(own + note), read}, "its own session"},
		"its own not recorded":    {[]string{grep(first), read}, ""},
		"its own not known":       {[]string{grep(first + "<note>Which conversation this is cannot be told.</note>"), read}, "is not known"},
		"another one":             {[]string{grep(first + note), "<conversation_read/>"}, "did not read"},
		"its own in what it read": {[]string{grep(first + note), read + askAgain}, "its own session"},
		"no read":                 {[]string{grep(first + note)}, "1 answers"},
		"no answer":               {[]string{"tool failed", read}, "reading the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkFound(test.shown)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
