package jpevents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestLegacyForms tests streams of older versions of JP. Each event is described as "turn kind text".
func TestLegacyForms(t *testing.T) {
	t.Parallel()
	const request = `{"timestamp":"2025-12-04 09:28:23.2","type":"chat_request","content":"hi"}`
	for _, test := range []struct {
		name, stream string
		want         []string
		last         string // of Count
	}{
		{
			"the base config packed as first event", `[{"type":"config_delta","timestamp":"2025-12-04 09:28:23.1","delta":{"a":{"b":[1]}}},` + request + `]`,
			[]string{"0 config_delta", "1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"its keys inlined", `[{"type":"config_delta","timestamp":"2025-12-04 09:28:23.1","inherit":true,"extends":["x"],"assistant":{"name":"n"}},` + request + `]`,
			[]string{"0 config_delta", "1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"its keys named like ours", `[{"type":"config_delta","timestamp":"2025-12-04 09:28:23.1","content":"x","message":"x","id":1},` + request + `]`,
			[]string{"0 config_delta", "1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"a config delta with a wrong timestamp", `[{"type":"config_delta","timestamp":"whenever","delta":{}},` + request + `]`,
			[]string{"0 config_delta", "1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{"nothing", `[]`, nil, ""},
		{"no base config at all", `[` + request + `]`, []string{"1 user hi"}, "2025-12-04T09:28:23.2Z"},
		{
			"no turn markers", `[` + request + `,{"timestamp":"2025-12-04 09:28:24.0","type":"chat_response","message":"a"},` + request + `]`,
			[]string{"1 user hi", "1 assistant a", "1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"no turn markers, continued with one", `[` + request + `,{"timestamp":"2026-04-01 00:00:00.0","type":"turn_start"},` + request + `]`,
			[]string{"1 user hi", "2 turn_start", "2 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"RFC 3339 timestamps", `[{"timestamp":"2025-12-04T10:28:23.2+01:00","type":"chat_request","content":"hi"}]`,
			[]string{"1 user hi"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"unencoded tool strings", `[{"timestamp":"2025-12-04 09:28:23.2","type":"tool_call_request","id":"1","name":"run","arguments":{"cmd":"ls -l","n":1}},
			{"timestamp":"2025-12-04 09:28:23.2","type":"tool_call_response","id":"1","content":"total 0\n","is_error":false}]`,
			[]string{"1 tool_call run\n{\n  \"cmd\": \"ls -l\",\n  \"n\": 1\n}", "1 tool_result total 0\n"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"URL-safe tool results", `[{"timestamp":"2025-12-04 09:28:23.2","type":"tool_call_response","id":"1","content":"c3ViamVjdHM_Pj5-fn7DvOKGkg==","is_error":false}]`,
			[]string{"1 tool_result subjects?>>~~~ü→"},
			"2025-12-04T09:28:23.2Z",
		},
		{
			"reasoning without text", `[{"timestamp":"2025-12-04 09:28:23.2","type":"chat_response","reasoning":"","metadata":{"redacted":"eA=="}}]`,
			[]string{"1 reasoning"},
			"2025-12-04T09:28:23.2Z",
		},
	} {
		events, err := scan(test.stream)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, e := range events {
			d := e.Decode()
			text := eventtext.Searched(&d)
			if d.Encoding != transcript.Plain {
				t.Errorf("%s: %q is not decoded", test.name, text)
			}
			line := fmt.Sprintf("%d %v", e.Turn, e.Kind)
			if len(text) > 0 {
				line += " " + string(text)
			}
			got = append(got, line)
		}
		if strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%s:\n%q\nwant\n%q", test.name, got, test.want)
		}
		totals := count([]byte(test.stream))
		n, last, err := totals.Events, totals.LastAt, totals.Uncounted
		when := ""
		if !last.IsZero() {
			when = last.Format("2006-01-02T15:04:05.999999999Z07:00")
		}
		if n != len(test.want) || when != test.last || err != nil {
			t.Errorf("%s: Count = %d, %s, %v; want %d, %s", test.name, n, when, err, len(test.want), test.last)
		}
	}
}
