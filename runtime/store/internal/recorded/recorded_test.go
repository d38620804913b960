package recorded_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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
		"nothing": {recorded.Event{Kind: transcript.KindCompaction}, "", "", `{"timestamp":null,"type":"compaction","turn":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &test.event
			if text, encoding := e.AppendText([]byte(">")); string(text) != ">"+test.text || encoding != transcript.Plain {
				t.Errorf("text %q, want %q", text, test.text)
			}
			body, info := e.AppendBody([]byte(">"), transcript.Limits{})
			if string(body) != ">"+test.body || info.JSON != (len(e.Arguments) > 0) {
				t.Errorf("body %q %+v, want %q", body, info, test.body)
			}
			object := e.AppendJSON(nil, transcript.JSONOptions{Turn: true})
			if string(object) != test.json || !json.Valid(object) {
				t.Errorf("JSON %s, want %s", object, test.json)
			}
			if stored, form := e.Stored(); form == transcript.StoredString && string(transcript.AppendUnescaped(nil, stored)) != test.text {
				t.Errorf("stored %q", stored)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	e := recorded.Event{Kind: transcript.KindUser, Pieces: pieces("0123456789", "abcdefghij")}
	body, info := e.AppendBody(nil, transcript.Limits{Text: 10})
	if string(body) != "012345ghij" || info.Chars != 21 || info.Head != 6 {
		t.Errorf("%q, %+v", body, info)
	}
	if object := string(e.AppendJSON(nil, transcript.JSONOptions{MaxText: 10})); !strings.HasSuffix(object, `"content":"012345ghij","chars":21,"head_chars":6}`) {
		t.Error(object)
	}
	call := recorded.Event{Kind: transcript.KindToolCall, Arguments: []byte(`{"a":"0123456789abcdefghij"}`)}
	body, info = call.AppendBody(nil, transcript.Limits{Text: 10})
	if !strings.Contains(string(body), "012345 … 10 characters omitted … ghij") || !info.Cut || !info.JSON {
		t.Errorf("%q, %+v", body, info)
	}
	if object := string(call.AppendJSON(nil, transcript.JSONOptions{MaxText: 10})); !strings.HasSuffix(object, `,"cut":true}`) {
		t.Error(object)
	}
	whole, _ := call.AppendBody(nil, transcript.Limits{})
	var parts string
	for part := 1; part < 10; part++ {
		body, info := call.AppendBody(nil, transcript.Limits{Text: 7, JSON: 1, Part: part})
		if parts += string(body); info.Chars != len(whole) {
			t.Errorf("part %d: %+v", part, info)
		}
	}
	if parts != string(whole) {
		t.Errorf("%q, want %q", parts, whole)
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
