package eventtext_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// The text, the body and the JSON of an event that is not recorded as an object.
func TestMade(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event            transcript.Event
		text, body, json string
	}{
		"a text": {
			transcript.Event{Kind: transcript.KindUser, Time: time.Date(2026, 5, 1, 8, 0, 0, 5e8, time.UTC), Text: []byte(`say "hi"`), Turn: 2},
			`say "hi"`, `say "hi"`, `{"timestamp":"2026-05-01T08:00:00.5Z","type":"chat_request","content":"say \"hi\"","turn":2}`,
		},
		"pieces": {
			transcript.Event{Kind: transcript.KindToolResult, Text: []byte("ab\nc\n"), CallID: "c1", Failed: true},
			"ab\nc\n", "ab\nc\n", `{"timestamp":null,"type":"tool_call_response","id":"c1","content":"ab\nc\n","is_error":true,"turn":0}`,
		},
		"a call": {
			transcript.Event{Kind: transcript.KindToolCall, Name: "Read", CallID: "c1", Arguments: []byte(`{"a":[1,"b"]}`)},
			"Read\n{\n  \"a\": [\n    1,\n    \"b\"\n  ]\n}", "{\n  \"a\": [\n    1,\n    \"b\"\n  ]\n}",
			`{"timestamp":null,"type":"tool_call_request","id":"c1","name":"Read","arguments":{"a":[1,"b"]},"turn":0}`,
		},
		"a call without arguments": {
			transcript.Event{Kind: transcript.KindToolCall, Name: "Read", Arguments: []byte(`{}`)},
			"Read", "{}", `{"timestamp":null,"type":"tool_call_request","name":"Read","arguments":{},"turn":0}`,
		},
		"a call with a text": {
			transcript.Event{Kind: transcript.KindToolCall, Name: "patch", Text: []byte("*** Begin\n")},
			"patch\n*** Begin\n", "*** Begin\n", `{"timestamp":null,"type":"tool_call_request","name":"patch","arguments":"*** Begin\n","turn":0}`,
		},
		"base64": {
			transcript.Event{Kind: transcript.KindToolResult, Text: []byte("bm90"), Encoding: transcript.Base64},
			"bm90", "bm90", `{"timestamp":null,"type":"tool_call_response","content":"bm90","is_error":false,"encoding":"base64","turn":0}`,
		},
		"nothing": {transcript.Event{Kind: transcript.KindCompaction}, "", "", `{"timestamp":null,"type":"compaction","turn":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := test.event
			if text := eventtext.Searched(&e); string(text) != test.text {
				t.Errorf("text %q, want %q", text, test.text)
			}
			if body := eventtext.Body(&e); string(body) != test.body {
				t.Errorf("body %q, want %q", body, test.body)
			}
			object := eventtext.AppendJSON(nil, &e, true)
			if string(object) != test.json || !json.Valid(object) {
				t.Errorf("JSON %s, want %s", object, test.json)
			}
		})
	}
}
