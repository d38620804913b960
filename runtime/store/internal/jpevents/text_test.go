package jpevents_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestAppendDecoded(t *testing.T) {
	t.Parallel()
	std, url := base64.StdEncoding.EncodeToString, base64.URLEncoding.EncodeToString
	const urlText = "subjects?>>~~~ü→" // needs '-' and '_'
	if s := url([]byte(urlText)); !strings.ContainsAny(s, "-") || !strings.ContainsAny(s, "_") {
		t.Fatalf("%q does not test the URL-safe alphabet", s)
	}
	binary := std([]byte("\xff\xfe\xfd\xfc binary data"))
	for _, test := range []struct {
		name, stored, want string
		enc                transcript.Encoding
	}{
		{"empty", "", "", transcript.Plain},
		{"standard", std([]byte("hello, 東京\n")), "hello, 東京\n", transcript.Plain},
		{"one padding", std([]byte("hello")), "hello", transcript.Plain},
		{"two paddings", std([]byte("hell")), "hell", transcript.Plain},
		{"URL-safe, of old tool results", url([]byte(urlText)), urlText, transcript.Plain},
		{"plain text with a space", "error: no such file", "error: no such file", transcript.Plain},
		{"plain text, one line break", "SGVsbG8=\n", "SGVsbG8=\n", transcript.Plain},
		{"line break inside", "aGVs\nbG8h", "aGVs\nbG8h", transcript.Plain},
		{"carriage return inside", "aGVs\rbG8h", "aGVs\rbG8h", transcript.Plain},
		{"short word", "config", "config", transcript.Plain},
		{"short path", "src/lib_x-y", "src/lib_x-y", transcript.Plain},
		{"a word of 15", "abcdefghijklmno", "abcdefghijklmno", transcript.Plain},
		{"binary", binary, binary, transcript.Base64},
		{"short binary", "//79", "//79", transcript.Base64},
		{"short binary, padded", "/w==", "/w==", transcript.Base64},
		{"short binary, URL-safe", "__79", "__79", transcript.Base64},
		{"short, stray bits", "/x==", "/x==", transcript.Plain},
		{"no padding", "aGVsbG8gd29ybGQhIQ", "aGVsbG8gd29ybGQhIQ", transcript.Plain},
		{"too much padding", "aGVsbG8gd29ybGQh====", "aGVsbG8gd29ybGQh====", transcript.Plain},
		{"stray bits", "aGVsbG8gd29ybGQhIR==", "aGVsbG8gd29ybGQhIR==", transcript.Plain},
		{"stray bits, one padding", "aGVsbG8gd29ybGQhISF=", "aGVsbG8gd29ybGQhISF=", transcript.Plain},
		{"both alphabets", "aGVsbG8g-29ybGQh/w==", "aGVsbG8g-29ybGQh/w==", transcript.Plain},
		{"padding in the middle", "key_of_some_thing=value", "key_of_some_thing=value", transcript.Plain},
		{"not UTF-8", "caf\xe9 with more text", "caf\ufffd with more text", transcript.Plain},
	} {
		got, enc := jpevents.AppendDecoded([]byte(">"), []byte(test.stored))
		if string(got) != ">"+test.want || enc != test.enc {
			t.Errorf("%s: %q, %q; want %q, %q", test.name, got, enc, test.want, test.enc)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, test := range []struct {
		object, want string
		enc          transcript.Encoding
	}{
		{`{"type":"chat_request","content":"a\nb"}`, "a\nb", transcript.Plain},
		{`{"type":"chat_request","content":"aGVsbG8="}`, "aGVsbG8=", transcript.Plain},
		{`{"type":"chat_response","message":"m"}`, "m", transcript.Plain},
		{`{"type":"chat_response","reasoning":""}`, "", transcript.Plain},
		{`{"type":"chat_response","data":"text"}`, "text", transcript.Plain},
		{`{"type":"chat_response","data":{"a":"text"}}`, "", transcript.Plain},
		{`{"type":"tool_call_response","content":"` + b64("out\n") + `"}`, "out\n", transcript.Plain},
		{`{"type":"tool_call_response","content":"` + strings.ReplaceAll(b64("??>"), "/", `\/`) + `"}`, "??>", transcript.Plain},
		{`{"type":"tool_call_response","content":"plain\ttext"}`, "plain\ttext", transcript.Plain},
		{`{"type":"tool_call_response","content":"//79/CBiaW5hcnkh"}`, "//79/CBiaW5hcnkh", transcript.Base64},
		{`{"type":"tool_call_response","content":7}`, "", transcript.Plain},
		{`{"type":"tool_call_request","name":"run","arguments":{}}`, "run", transcript.Plain},
		{`{"type":"tool_call_request","name":"run","arguments":{ }}`, "run", transcript.Plain},
		{`{"type":"tool_call_request","name":"run"}`, "run", transcript.Plain},
		{`{"type":"tool_call_request","arguments":{"n":1}}`, "\n{\n  \"n\": 1\n}", transcript.Plain},
		{
			`{"type":"tool_call_request","name":"run","arguments":{"z":"` + b64("<a&b>\n") + `","a":[],"n":1.50,"l":["` + b64("x y") + `",{"k":null}]}}`,
			"run\n{\n  \"z\": \"<a&b>\n\",\n  \"a\": [],\n  \"n\": 1.50,\n  \"l\": [\n    \"x y\",\n    {\n      \"k\": null\n    }\n  ]\n}", transcript.Plain,
		},
		{`{"type":"tool_call_request","name":"run","arguments":{"a":"//79/CBiaW5hcnkh"}}`, "run\n{\n  \"a\": \"//79/CBiaW5hcnkh\"\n}", transcript.Base64},
		{`{"type":"inquiry_request","question":{"text":"Sure?","answer_type":{"type":"text","text":"no"}}}`, "Sure?", transcript.Plain},
		{`{"type":"inquiry_request","question":{"text":"old","t\u0065xt":"new"}}`, "new", transcript.Plain},
		{`{"type":"inquiry_request","question":"Sure?"}`, "Sure?", transcript.Plain},
		{`{"type":"inquiry_request","question":[{"text":"no"}]}`, "", transcript.Plain},
		{`{"type":"inquiry_request"}`, "", transcript.Plain},
		{`{"type":"inquiry_response","answer":"yes"}`, "", transcript.Plain},
		{`{"type":"turn_start"}`, "", transcript.Plain},
		{`{"type":"config_delta","content":"x"}`, "", transcript.Plain},
		{`{"content":"x"}`, "", transcript.Plain},
	} {
		e := decoded(t, test.object)
		if got := string(eventtext.Searched(e)); got != test.want || e.Encoding != test.enc {
			t.Errorf("%s: text %q, %q; want %q, %q", test.object, got, e.Encoding, test.want, test.enc)
		}
	}
}

func TestStructuredData(t *testing.T) {
	t.Parallel()
	e := decoded(t, `{"type":"chat_response","data":{"b":[1,2,{}],"a":"aGVsbG8="}}`)
	want := "{\n  \"b\": [\n    1,\n    2,\n    {}\n  ],\n  \"a\": \"aGVsbG8=\"\n}"
	if got := eventtext.Body(e); string(got) != want || len(e.Arguments) == 0 {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if missing := decoded(t, `{"type":"chat_response"}`); len(eventtext.Body(missing)) > 0 || len(missing.Arguments) > 0 {
		t.Errorf("missing data: %s, %s", eventtext.Body(missing), missing.Arguments)
	}
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, test := range []struct {
		name, object string
		withMetadata bool
		want         string
	}{
		{
			"order, white space, escapes", `{ "type" : "chat_request", "content":"a\u0041\/<&>", "x" : [ 1.0 , {"k":true} ], "timestamp":"t" }`,
			true,
			`{"type":"chat_request","content":"aA/<&>","x":[1.0,{"k":true}],"timestamp":"t","turn":1}`,
		},
		{
			"turn", `{"timestamp":"t","type":"turn_start"}`,
			true,
			`{"timestamp":"t","type":"turn_start","turn":1}`,
		},
		{
			"a recorded turn loses", `{"timestamp":"t","type":"turn_start","turn":9,"chars":1,"encoding":"x"}`,
			true,
			`{"timestamp":"t","type":"turn_start","turn":1}`,
		},
		{
			"no timestamp", `{"type":"turn_start"}`,
			true,
			`{"timestamp":null,"type":"turn_start","turn":1}`,
		},
		{
			"no timestamp and nothing else", `{}`,
			true,
			`{"timestamp":null,"turn":0}`,
		},
		{
			"a timestamp that is none", `{"timestamp":5,"type":"turn_start"}`,
			true,
			`{"timestamp":null,"type":"turn_start","turn":1}`,
		},
		{
			"duplicate keys", `{"timestamp":"t","type":"turn_start","x":1,"type":"chat_request","x":2,"content":"c"}`,
			true,
			`{"timestamp":"t","type":"chat_request","x":2,"content":"c","turn":1}`,
		},
		{
			"tool call", `{"timestamp":"t","type":"tool_call_request","id":"1","name":"n","arguments":{"` + b64("k") + `":"` + b64("v") + `","l":["` + b64("w") + `",1]}}`,
			true,
			`{"timestamp":"t","type":"tool_call_request","id":"1","name":"n","arguments":{"aw==":"v","l":["w",1]},"turn":1}`,
		},
		{
			"tool result", `{"timestamp":"t","type":"tool_call_response","id":"1","content":"` + b64("a\nb") + `","is_error":false}`,
			true,
			`{"timestamp":"t","type":"tool_call_response","id":"1","content":"a\nb","is_error":false,"turn":1}`,
		},
		{
			"not decodable", `{"timestamp":"t","type":"tool_call_response","content":"//79/CBiaW5hcnkh"}`,
			true,
			`{"timestamp":"t","type":"tool_call_response","content":"//79/CBiaW5hcnkh","encoding":"base64","turn":1}`,
		},
		{
			"not decodable argument", `{"timestamp":"t","type":"tool_call_request","arguments":{"a":"//79/CBiaW5hcnkh"}}`,
			true,
			`{"timestamp":"t","type":"tool_call_request","arguments":{"a":"//79/CBiaW5hcnkh"},"encoding":"base64","turn":1}`,
		},
		{
			"metadata", `{"timestamp":"t","type":"chat_response","message":"m","metadata":{"k":"` + b64("v") + `","s":"//79/CBiaW5hcnkh"}}`,
			true,
			`{"timestamp":"t","type":"chat_response","message":"m","metadata":{"k":"v","s":"//79/CBiaW5hcnkh"},"turn":1}`,
		},
		{
			"no metadata", `{"timestamp":"t","type":"chat_response","metadata":{},"message":"m"}`,
			false,
			`{"timestamp":"t","type":"chat_response","message":"m","turn":1}`,
		},
		{
			"nothing of a global event is decoded", `{"timestamp":"t","type":"x","content":"aGVsbG8=","metadata":{"a":"aGVsbG8="},"arguments":{"a":"aGVsbG8="},"turn":0}`,
			true,
			`{"timestamp":"t","type":"x","content":"aGVsbG8=","metadata":{"a":"aGVsbG8="},"arguments":{"a":"aGVsbG8="},"turn":0}`,
		},
		{
			"chat text is not base64", `{"timestamp":"t","type":"chat_request","content":"aGVsbG8=","turn":1}`,
			true,
			`{"timestamp":"t","type":"chat_request","content":"aGVsbG8=","turn":1}`,
		},
	} {
		if got := string(eventtext.AppendJSON([]byte(">"), decoded(t, test.object), test.withMetadata)); got != ">"+test.want {
			t.Errorf("%s:\n got %s\nwant >%s", test.name, got, test.want)
		}
	}
}

func ExampleScan() {
	_, err := jpevents.Scan([]byte(`[
		{"timestamp": "2026-05-29 19:42:36.46732", "type": "turn_start"},
		{"timestamp": "2026-05-29 19:42:36.467321", "type": "chat_request", "content": "Hello"},
		{"timestamp": "2026-05-29 19:42:40.0", "type": "tool_call_response", "id": "1", "content": "aGk=", "is_error": false}
	]`), func(e *jpevents.Event) bool {
		fmt.Printf("%d %v %q\n", e.Turn, e.Kind, e.Decode().Text)
		return true
	})
	fmt.Println(err)
	// Output:
	// 1 turn_start ""
	// 1 user "Hello"
	// 1 tool_result "hi"
	// <nil>
}
