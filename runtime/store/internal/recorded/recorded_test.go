package recorded_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

func pieces(texts ...string) []recorded.Piece {
	var all []recorded.Piece
	for _, text := range texts {
		all = append(all, recorded.Piece{Raw: []byte(text)})
	}
	return all
}

func TestText(t *testing.T) {
	t.Parallel()
	joined := pieces("a", "b", `c\n`)
	joined[1].Joined = true
	for name, test := range map[string]struct {
		event            recorded.Event
		text, body, json string
	}{
		"a text": {
			recorded.Event{Kind: transcript.KindUser, Stamp: []byte("2026-05-01T10:00:00.5+02:00"), Pieces: pieces(`say \"hi\"`), Turn: 2},
			`say "hi"`, `say "hi"`, `{"timestamp":"2026-05-01T08:00:00.5Z","type":"chat_request","content":"say \"hi\"","turn":2}`,
		},
		"pieces": {
			recorded.Event{Kind: transcript.KindToolResult, Pieces: joined, CallID: []byte("c1"), Failed: true},
			"ab\nc\n", "ab\nc\n", `{"timestamp":null,"type":"tool_call_response","id":"c1","content":"ab\nc\n","is_error":true,"turn":0}`,
		},
		"a call": {
			recorded.Event{Kind: transcript.KindToolCall, Name: []byte("Read"), CallID: []byte("c1"), Arguments: []byte(`{"a":[1,"b"]}`)},
			"Read\n{\n  \"a\": [\n    1,\n    \"b\"\n  ]\n}", "{\n  \"a\": [\n    1,\n    \"b\"\n  ]\n}",
			`{"timestamp":null,"type":"tool_call_request","id":"c1","name":"Read","arguments":{"a":[1,"b"]},"turn":0}`,
		},
		"a call without arguments": {
			recorded.Event{Kind: transcript.KindToolCall, Name: []byte("Read"), Arguments: []byte(`{}`)},
			"Read", "{}", `{"timestamp":null,"type":"tool_call_request","name":"Read","arguments":{},"turn":0}`,
		},
		"a call with a text": {
			recorded.Event{Kind: transcript.KindToolCall, Name: []byte("patch"), Pieces: pieces(`*** Begin\n`)},
			"patch\n*** Begin\n", "*** Begin\n", `{"timestamp":null,"type":"tool_call_request","name":"patch","arguments":"*** Begin\n","turn":0}`,
		},
		"base64": {
			recorded.Event{Kind: transcript.KindToolResult, Pieces: pieces("bm90"), Encoding: transcript.Base64},
			"bm90", "bm90", `{"timestamp":null,"type":"tool_call_response","content":"bm90","is_error":false,"encoding":"base64","turn":0}`,
		},
		"nothing": {recorded.Event{Kind: transcript.KindCompaction}, "", "", `{"timestamp":null,"type":"compaction","turn":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := test.event.Decode()
			if text := eventtext.Searched(&e); string(text) != test.text || e.Encoding != test.event.Encoding {
				t.Errorf("text %q, want %q", text, test.text)
			}
			body, info := eventtext.Body(&e)
			if string(body) != test.body || info.JSON != (len(e.Arguments) > 0) {
				t.Errorf("body %q %+v, want %q", body, info, test.body)
			}
			object := eventtext.AppendJSON(nil, &e, transcript.JSONOptions{Turn: true})
			if string(object) != test.json || !json.Valid(object) {
				t.Errorf("JSON %s, want %s", object, test.json)
			}
		})
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]time.Time{"": {}, "noon": {}, "2026-05-01T10:00:00Z": time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)} {
		if got := (&recorded.Event{Stamp: []byte(stamp)}).Time(); !got.Equal(want) {
			t.Errorf("%q: %v", stamp, got)
		}
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "", `\n \n first\nsecond`: "first", strings.Repeat("x", 99): strings.Repeat("x", 99), `a\u0000b`: "a\x00b",
	} {
		if got := recorded.Title([]byte(raw)); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	if got := recorded.Title([]byte(strings.Repeat("東", 1000))); len([]rune(got)) > 101 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
